import Markdown from "markdown-to-jsx/react";
import { createContext, use, useId, type ReactNode } from "react";
import styles from "./markdown.module.css";

const overrides = { table: ScrolledTable, thead: TableHead };
const options = { disableParsingRawHTML: true, forceBlock: true, forceWrapper: true, wrapper: "div" as const, overrides };

/** Renders Markdown. HTML inside it stays text. */
export function Prose({ text }: { text: string }): ReactNode {
  return (
    <Markdown className="prose" options={options}>
      {text}
    </Markdown>
  );
}

const HeadId = createContext("");

/** A table in a box that scrolls if the table is wider than the page. The table's header names the box. */
function ScrolledTable({ children }: { children: ReactNode }): ReactNode {
  const id = useId();
  return (
    <HeadId value={id}>
      {/* A box that scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1). */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <section className={styles.scrolled} tabIndex={0} aria-labelledby={id}>
        <table>{children}</table>
      </section>
    </HeadId>
  );
}

function TableHead({ children }: { children: ReactNode }): ReactNode {
  return <thead id={use(HeadId)}>{children}</thead>;
}
