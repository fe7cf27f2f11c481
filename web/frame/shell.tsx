import { Kbd, UnstyledButton } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { ColorSchemeButton } from "./color-scheme-button.tsx";
import { PawIcon, SearchIcon } from "./icons.tsx";
import { openPalette, Palette, type Searched } from "./palette.tsx";
import styles from "./shell.module.css";

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

type Props = { links: { to: NonNullable<LinkProps["to"]>; label: string }[]; searched: Searched; children: ReactNode };

/** The frame of every page: the header with links, search and colour scheme. */
export function Shell({ links, searched, children }: Props): ReactNode {
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
        <UnstyledButton className={styles.search} onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
          <SearchIcon />
          <span className={styles.searchText}>{texts.search}</span>
          <Kbd className={styles.searchKey} aria-hidden>
            {isApple ? "⌘ K" : "Ctrl K"}
          </Kbd>
        </UnstyledButton>
        <ColorSchemeButton />
      </header>
      <Palette {...searched} />
      {children}
    </>
  );
}
