import type { ReactNode } from "react";
import { ordersTexts } from "../texts/en-orders.ts";
import { texts } from "../texts/texts.ts";
import styles from "./order-state.module.css";

const words = texts.store.orders.states;
const { explained } = ordersTexts;
export type OrderState = "open" | "complete" | "cancelled";

/** An order's state as a coloured badge. */
export function StateBadge({ state }: { state: OrderState }): ReactNode {
  return (
    <span className={styles.state} data-state={state} title={explained[state]}>
      {words[state]}
    </span>
  );
}
