import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import type { PetStatus } from "./search.ts";
import styles from "./status-badge.module.css";

/** A status as text with a colour. */
export function StatusBadge({ status }: { status: PetStatus }): ReactNode {
  return (
    <span className={styles.badge} data-status={status}>
      {texts.store.status[status]}
    </span>
  );
}
