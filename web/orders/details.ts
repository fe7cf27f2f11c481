import { queryOptions, useQuery, type QueryClient } from "@tanstack/react-query";
import type { Price } from "../../src/platform/currencies.ts";
import { batchedCall } from "../calls/batched.ts";
import { dashboardKey } from "../calls/lists.ts";
import { Refusal } from "../calls/refusal.ts";
import { reread } from "../calls/rows.ts";
import { readCall } from "../calls/send.ts";
import { answerOf, ifUnchanged, store, taggedAnswerOf, type Schemas, type Tagged } from "../calls/store.ts";
import type { Order } from "./queries.ts";

/** The details of an order (docs/dashboard-api.md). */
export type OrderDetails = {
  id: number;
  placedAt: string | null;
  price: Price | null;
  total: number | null;
  customer: { name: string | null } | null;
  /** The visitor's reservation that placed the order. */
  reservation: { id: number; state: string; lapsesAt: string | null } | null;
};
export type Contact = Schemas["Contact"];
export const contactFields = ["name", "email", "phone", "address", "note"] as const satisfies (keyof Contact)[];

const readDetails = batchedCall<OrderDetails>("/orders/details", "orders");

/** The details of a row's order; undefined while they are being read, or if the order is gone. */
export function useDetails(orderId: number): OrderDetails | undefined {
  const { data } = useQuery({
    queryKey: [dashboardKey, "/store/orders", "details", orderId],
    staleTime: 15_000,
    queryFn: ({ signal }) => readDetails(orderId, signal),
  });
  return data ?? undefined;
}

/** The contact of an order with its version; null if there is none. */
export function contactQuery(orderId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/store/orders", "contact", orderId],
    staleTime: 0,
    queryFn: async ({ signal }): Promise<Tagged<Contact> | null> => {
      try {
        const params = { path: { orderId } };
        return await taggedAnswerOf<Contact>(store.GET("/store/orders/{orderId}/contact", { params, signal }));
      } catch (error) {
        if (error instanceof Refusal && error.status === 404) return null;
        throw error;
      }
    },
  });
}

/** The newest other orders whose contact has the email or the telephone number of this order's. */
export function othersQuery(orderId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/store/orders", "others", orderId],
    staleTime: 0,
    queryFn: ({ signal }) => readCall<{ orders: Order[]; isMore: boolean }>(`/orders/${orderId}/others`, signal),
  });
}

/** Saves a contact, unless somebody else has changed it since it was read. */
export function saveContact(orderId: number, contact: Contact, before: Tagged<Contact> | null): Promise<Contact> {
  const params = { path: { orderId }, ...(before && { header: ifUnchanged(before) }) };
  return answerOf<Contact>(store.PUT("/store/orders/{orderId}/contact", { params, body: contact }));
}

export function deleteContact(orderId: number): Promise<unknown> {
  return answerOf(store.DELETE("/store/orders/{orderId}/contact", { params: { path: { orderId } } }));
}

/** Rereads all that shows an order's contact. */
export function rereadContact(client: QueryClient, orderId: number): void {
  for (const what of ["contact", "details", "others"]) void reread(client, { queryKey: [dashboardKey, "/store/orders", what, orderId] });
}
