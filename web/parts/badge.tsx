import type { ReactNode } from "react";
import styles from "./badge.module.css";

/** `good`: all is well. `busy`: in progress, or somebody must act. `bad`: something is wrong. `plain`: no judgement. `quiet`: as `plain`, and less prominent. */
export type Tone = "good" | "busy" | "bad" | "plain" | "quiet";

/** A state in a word or two, with the colour of its meaning. */
export function Badge({ tone, title, children }: { tone: Tone; title?: string; children: ReactNode }): ReactNode {
  return (
    <span className={styles.badge} data-tone={tone} title={title}>
      {children}
    </span>
  );
}
