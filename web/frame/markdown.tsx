import Markdown from "markdown-to-jsx/react";
import type { ReactNode } from "react";
import styles from "./markdown.module.css";

const options = { disableParsingRawHTML: true, forceBlock: true, forceWrapper: true, wrapper: "div" as const };

/** Renders Markdown. HTML inside it stays text. */
export function Prose({ text }: { text: string }): ReactNode {
  return (
    <Markdown className={styles.prose} options={options}>
      {text}
    </Markdown>
  );
}
