import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./projects.module.css";

const words = texts.projects.upload;

/** How a folder is deployed from a terminal. */
export function DeployCommand({ slug }: { slug: string }): ReactNode {
  const command = `npm run petstore -- deploy ./site --project ${slug} --url ${location.origin}`;
  return (
    <details className={styles.more}>
      <summary>{words.fromTerminal}</summary>
      <CodeBlock code={command} language="bash" label={words.fromTerminal} />
      <p className={styles.hint}>{words.terminalHint}</p>
    </details>
  );
}
