import { Kbd, UnstyledButton } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { ColorSchemeButton } from "./color-scheme-button.tsx";
import { commandKey } from "./command-key.ts";
import { useFocusKept } from "./focus.ts";
import { PawIcon, SearchIcon } from "./icons.tsx";
import { LatePalette, useLatePalette, type LoadPalette } from "./late-palette.tsx";
import styles from "./shell.module.css";
import { useLater } from "./use-later.ts";

const loadShortcuts = async () => (await import("./shortcuts.tsx")).Shortcuts;

type Props = { links: { to: NonNullable<LinkProps["to"]>; label: string }[]; palette: LoadPalette; children: ReactNode };

/** The frame of every page: the header with links, search and colour scheme. Ctrl or ⌘ with K, or `/`, outside a field opens the search, `?` the list of shortcuts. */
export function Shell({ links, palette, children }: Props): ReactNode {
  useFocusKept();
  const search = useLatePalette(palette);
  const [hasShortcuts, setShortcuts] = useState(false);
  const { code: Shortcuts, loadNow } = useLater("shortcuts", loadShortcuts);
  function openShortcuts(): void {
    if (document.querySelector("[role=dialog]") !== null) return;
    loadNow();
    setShortcuts(true);
  }
  useHotkeys([
    ["mod + K", search.open],
    ["/", search.open],
    // on most keyboards `?` needs Shift
    ["shift + ?", openShortcuts],
    ["?", openShortcuts],
  ]);
  return (
    <>
      <a className="skip screen-only" href="#content">
        {texts.skipToContent}
      </a>
      <header className={`${styles.header} screen-only`}>
        <Link to="/" className={styles.brand}>
          <PawIcon />
          <span className={styles.brandName}>{texts.productName}</span>
        </Link>
        <nav className={styles.links} aria-label={texts.mainNavigation}>
          {links.map(({ to, label }) => (
            <Link key={to} to={to} className={styles.link}>
              {label}
            </Link>
          ))}
        </nav>
        <UnstyledButton className={styles.search} onClick={search.open} aria-keyshortcuts="Control+K Meta+K">
          <SearchIcon />
          <span className={styles.searchText}>{texts.search}</span>
          <Kbd className={styles.searchKey} aria-hidden>
            {commandKey} K
          </Kbd>
        </UnstyledButton>
        <ColorSchemeButton />
      </header>
      <LatePalette {...search} />
      {hasShortcuts && Shortcuts && <Shortcuts onClose={() => setShortcuts(false)} />}
      {children}
    </>
  );
}
