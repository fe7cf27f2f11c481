import type { ReactNode } from "react";
import styles from "./state-badge.module.css";

export type Tone = "good" | "busy" | "bad" | "quiet" | "plain";

/** A state as text with a colour for its tone. */
export function StateBadge({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  return (
    <span className={styles.badge} data-tone={tone}>
      {children}
    </span>
  );
}
