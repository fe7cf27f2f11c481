import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { reread } from "../calls/rows.ts";
import { callsBelow, readCall } from "../calls/send.ts";
import type { Actor } from "../parts/history-list.tsx";
import { historyTexts } from "../texts/en-history.ts";
import { formatMoment, formatNumber, texts } from "../texts/texts.ts";
import type { Order } from "./queries.ts";

const words = texts.store.orders;

/** One event of an order: what happened, when, by whom, and the order after it. */
export type OrderEvent = {
  position: number;
  type: "order.created" | "order.updated" | "order.completed" | "order.cancelled";
  at: string;
  actor: Actor;
  data: Order;
  previous: Partial<Record<keyof Order, unknown>>;
};
type OrderHistory = { events: OrderEvent[]; isWhole: boolean };

export function orderHistoryQuery(orderId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/store/orders", "history", orderId],
    staleTime: 0,
    queryFn: ({ signal }) => readCall<OrderHistory>(`/orders/${orderId}/history`, signal),
  });
}

/** The fields that an event changed, each in a few words. */
export function changesOf({ data, previous }: OrderEvent): string[] {
  const changed = (field: "petId" | "quantity" | "shipDate") => field in previous;
  return [
    ...(changed("petId") ? [historyTexts.changed(words.animal, shownPet(previous.petId), shownPet(data.petId))] : []),
    ...(changed("quantity") ? [historyTexts.changed(words.quantity, shownNumber(previous.quantity), shownNumber(data.quantity))] : []),
    ...(changed("shipDate") ? [historyTexts.changed(words.shipDate, shownDate(previous.shipDate), shownDate(data.shipDate))] : []),
  ];
}

function shownPet(petId: unknown): string {
  return typeof petId === "number" ? texts.store.animals.animal(petId) : historyTexts.none;
}

function shownNumber(value: unknown): string {
  return typeof value === "number" ? formatNumber(value) : historyTexts.none;
}

function shownDate(value: unknown): string {
  return typeof value === "string" ? formatMoment(new Date(value)) : historyTexts.none;
}

/** How often (ms) the order pages poll. They poll even with the event stream, because an account can open only a few streams. */
export const refreshMs = 15_000;

/** Rereads the orders on a page whenever the event stream reports a change of any order. */
export function useOrderEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    const source = new EventSource(`${callsBelow}/events/stream?types=order.*`);
    source.addEventListener("message", () => void reread(client, { queryKey: [dashboardKey, "/store/orders"] }));
    return () => source.close();
  }, [client]);
}
