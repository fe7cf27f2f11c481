import type { ReactNode } from "react";
import styles from "./state-badge.module.css";

export type Tone = "good" | "busy" | "bad" | "quiet" | "plain";

/** A state in words, with a colour that says how it stands. */
export function StateBadge({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  return (
    <span className={styles.badge} data-tone={tone}>
      {children}
    </span>
  );
}
