import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./order-state.module.css";

const words = texts.store.orders.states;
export type OrderState = "open" | "complete" | "cancelled";

/** An order's state as a coloured badge. */
export function StateBadge({ state }: { state: OrderState }): ReactNode {
  return (
    <span className={styles.state} data-state={state}>
      {words[state]}
    </span>
  );
}
