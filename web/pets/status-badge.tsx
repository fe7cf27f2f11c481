import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./status-badge.module.css";
import type { PetStatus } from "./status.ts";

/** A status in its word, with a colour beside it. */
export function StatusBadge({ status }: { status: PetStatus }): ReactNode {
  return (
    <span className={styles.badge} data-status={status}>
      {texts.store.status[status]}
    </span>
  );
}
