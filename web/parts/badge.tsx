import type { ReactNode } from "react";
import styles from "./badge.module.css";

/** What the colour of a badge says: all is well, something is under way or asked for, something is wrong, only what it is, or nothing. */
export type Tone = "good" | "busy" | "bad" | "plain" | "quiet";

/** A state in a word or two, with the colour of its meaning. */
export function Badge({ tone, title, children }: { tone: Tone; title?: string; children: ReactNode }): ReactNode {
  return (
    <span className={styles.badge} data-tone={tone} title={title}>
      {children}
    </span>
  );
}
