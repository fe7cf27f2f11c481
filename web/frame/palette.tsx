import { useMantineColorScheme } from "@mantine/core";
import { Spotlight, spotlight } from "@mantine/spotlight";
import "@mantine/spotlight/styles.css";
import { useEffect, useLayoutEffect, useMemo, useRef, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { SearchIcon } from "./icons.tsx";
import type { PaletteProps } from "./late-palette.tsx";
import { search } from "./search.ts";

/** An entry of the palette; `texts` are its search terms, the best first. */
export type Command = { id: string; group: string; label: string; hint: ReactNode; picture?: ReactNode; texts: string[]; run: () => void };

const shownMax = 12;

/** The palette searches `commands`, and shows `found` above them unfiltered. */
type Searched = {
  commands: Command[];
  found: Command[];
  /** The last entry: a further search, which is never selected before it is chosen. */
  further: Command | undefined;
  /** Whether more entries may follow. */
  isSearching: boolean;
};

/** The command palette. */
export function Palette({
  isOpen,
  query,
  onQuery,
  onClose,
  commands,
  found: above,
  further,
  isSearching,
}: PaletteProps & Searched): ReactNode {
  const colours = useColourCommands();
  const most = query.trim() === "" ? undefined : shownMax;
  const below = useMemo(() => search(query, [...commands, ...colours]), [query, commands, colours]).slice(0, most);
  const found = [...above, ...below];
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (isOpen) spotlight.open();
  }, [isOpen]);
  useEffect(() => {
    if (query !== "" && found.length > 0) selectFirst(field.current);
  }, [query, found.length]);
  const shown = further ? [...found, further] : found;
  const groups = [...new Set(shown.map(({ group }) => group))];
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={onQuery}
      shortcut={null}
      onSpotlightClose={onClose}
      returnFocus={false}
      scrollable
      maxHeight={460}
      size={620}
      attributes={{ content: { "aria-label": texts.palette.title } }}
    >
      <Spotlight.Search
        ref={field}
        placeholder={texts.palette.placeholder}
        aria-label={texts.palette.title}
        leftSection={<SearchIcon />}
        onFocus={({ currentTarget: { value }, currentTarget }) => {
          currentTarget.setSelectionRange(value.length, value.length);
          if (value !== "") selectFirst(currentTarget);
        }}
      />
      <Spotlight.ActionsList>
        {found.length === 0 && <Spotlight.Empty>{isSearching ? texts.palette.searching : texts.palette.nothing}</Spotlight.Empty>}
        {groups.map((group) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {shown
              .filter((command) => command.group === group)
              .map(({ id, label, hint, picture, run }) => (
                <Spotlight.Action key={id} dimmedSections={false} label={label} leftSection={picture} rightSection={hint} onClick={run} />
              ))}
          </Spotlight.ActionsGroup>
        ))}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

/** Selects the first entry if none is selected. Spotlight does so only after typing, and only for entries found by then. */
function selectFirst(field: HTMLInputElement | null): void {
  const box = field?.closest("[role=dialog]");
  if (!box?.querySelector("[data-action]") || box.querySelector("[data-selected]")) return;
  field?.dispatchEvent(new KeyboardEvent("keydown", { code: "ArrowDown", bubbles: true }));
}

/** Dark, light, and the colours of the device, for the command palette. */
function useColourCommands(): Command[] {
  const { setColorScheme } = useMantineColorScheme();
  return useMemo(() => {
    const { colours: group, words } = texts.palette;
    const labels = { dark: texts.toDark, light: texts.toLight, auto: texts.toSystem } as const;
    return (["dark", "light", "auto"] as const).map((scheme) => {
      const label = labels[scheme];
      return { id: `colours ${scheme}`, group, label, hint: null, texts: [label, ...words], run: () => setColorScheme(scheme) };
    });
  }, [setColorScheme]);
}
