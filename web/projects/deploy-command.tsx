import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./projects.module.css";

const words = texts.projects.upload;

/** How to deploy a folder from a terminal. `isOpen` if nothing was deployed yet. */
export function DeployCommand({ slug, isOpen }: { slug?: string; isOpen: boolean }): ReactNode {
  const target = slug ?? "my-shop";
  const lines = [
    ...(slug === undefined ? [`npm run petstore -- projects create ${target} --url ${location.origin}`] : []),
    `npm run petstore -- deploy ./site --project ${target} --url ${location.origin}`,
  ];
  return (
    <details className={styles.more} open={isOpen}>
      <summary>{words.fromTerminal}</summary>
      <CodeBlock code={lines.join("\n")} language="bash" label={words.fromTerminal} />
      <p className={styles.hint}>
        {words.terminalHint} <Link to="/dashboard/keys">{words.toKeys}</Link>
      </p>
    </details>
  );
}
