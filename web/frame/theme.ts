import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

const pine: MantineColorsTuple = [
  "#ecf8f3",
  "#d8eee5",
  "#b0dccb",
  "#84caae",
  "#5fba96",
  "#47b086",
  "#38a97d",
  "#1d8868",
  "#0f765a",
  "#0b6149",
];

/** From text to background: Mantine uses 0 for text, 4 for borders, 6 for fields, 7 for the page. */
const night: MantineColorsTuple = [
  "#dde2e6",
  "#b8c1c9",
  "#98a3ad",
  "#6b7782",
  "#343d45",
  "#2a3138",
  "#1d2328",
  "#14181c",
  "#0f1215",
  "#0a0c0e",
];

/** For dialogs and drawers, whose headers must not be banner landmarks. */
const overlay = {
  defaultProps: { attributes: { header: { role: "presentation" } } },
  styles: { title: { fontSize: "var(--type-6)", fontWeight: 640 } },
};

/** A list that opens when Tab only passes its field covers the controls below. */
const closedOnFocus = { defaultProps: { openOnFocus: false } };

export const theme = createTheme({
  primaryColor: "pine",
  primaryShade: { light: 9, dark: 8 },
  colors: { pine, dark: night },
  fontFamily: "var(--typeface), sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, 'DejaVu Sans Mono', monospace",
  fontSizes: { xs: "var(--type-1)", sm: "var(--type-3)", md: "var(--type-5)", lg: "var(--type-6)", xl: "var(--type-7)" },
  spacing: { xs: "var(--space-2)", sm: "var(--space-3)", md: "var(--space-4)", lg: "var(--space-5)", xl: "var(--space-7)" },
  headings: { fontWeight: "650" },
  defaultRadius: "md",
  focusRing: "auto",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // both leave the header's strip free for notices
    Modal: { ...overlay, defaultProps: { ...overlay.defaultProps, yOffset: 72 } },
    Drawer: {
      ...overlay,
      styles: { ...overlay.styles, inner: { top: "var(--header-height)" }, content: { height: "calc(100dvh - var(--header-height))" } },
    },
    // a menu may contain only menu items, and must be inside a landmark of the page
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, portalProps: { target: "#content" } } },
    Select: closedOnFocus,
    Autocomplete: closedOnFocus,
    Alert: { styles: { title: { color: "var(--mantine-color-text)" } } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300, events: { hover: true, focus: true, touch: true } } },
  },
});

/** Mantine's default grey for secondary text fails the contrast of WCAG 2.2, 1.4.3. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-text": "#1f262b",
    "--mantine-color-dimmed": "#59636c",
    "--mantine-color-placeholder": "#68727b",
    "--mantine-color-error": "#b3261e",
    "--mantine-color-body": "#ffffff",
  },
  dark: { "--mantine-color-dimmed": "#a3aeb8", "--mantine-color-placeholder": "#8c97a1", "--mantine-color-error": "#ff9b94" },
});
