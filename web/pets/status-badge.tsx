import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./status-badge.module.css";
import type { PetStatus } from "./search.ts";

/** A status as text with a colour. */
export function StatusBadge({ status }: { status: PetStatus }): ReactNode {
  return (
    <span className={styles.badge} data-status={status}>
      {texts.store.status[status]}
    </span>
  );
}
