import type { ReactNode } from "react";
import { Badge, type Tone } from "../parts/badge.tsx";
import { ordersTexts } from "../texts/en-orders.ts";
import { texts } from "../texts/texts.ts";

const words = texts.store.orders.states;
const { explained } = ordersTexts;
export type OrderState = "open" | "complete" | "cancelled";
const tones: Record<OrderState, Tone> = { open: "busy", complete: "good", cancelled: "quiet" };

/** An order's state as a coloured badge. */
export function StateBadge({ state }: { state: OrderState }): ReactNode {
  return (
    <Badge tone={tones[state]} title={explained[state]}>
      {words[state]}
    </Badge>
  );
}
