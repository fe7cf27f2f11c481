import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { changeRows, reread, rereadList } from "../calls/rows.ts";
import { answerOf, ifUnchanged, store, taggedAnswerOf, type Schemas, type Tagged } from "../calls/store.ts";
import { invalidateStock } from "../inventory/queries.ts";
import { invalidatePets } from "../pets/cache.ts";

/** An order in a response, which always has these three fields. */
export type Order = Schemas["Order"] & { id: number; quantity: number; complete: boolean };
export type OrderChange = { quantity?: number; shipDate?: string | null; complete?: boolean };

/** An order with its version, for editing. */
export function orderQuery(orderId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/store/orders", "one", orderId],
    staleTime: 0,
    queryFn: ({ signal }) =>
      taggedAnswerOf<Order>(store.GET("/store/orders/{orderId}", { params: { path: { orderId } }, signal }) as never),
  });
}

export function placeOrder(body: { petId: number; quantity: number; shipDate?: string }, idempotencyKey: string): Promise<Order> {
  return answerOf<Order>(store.POST("/store/orders", { params: { header: { "Idempotency-Key": idempotencyKey } }, body }) as never);
}

/** Changes the given fields of an order. A tagged order is changed only if nobody else has changed it since it was read. */
export function changeOrder(order: Order | Tagged<Order>, change: OrderChange): Promise<Order> {
  const tagged = "etag" in order ? order : undefined;
  const orderId = (tagged?.value ?? (order as Order)).id;
  const params = { path: { orderId }, ...(tagged && { header: ifUnchanged(tagged) }) };
  return answerOf<Order>(store.PATCH("/store/orders/{orderId}", { params, body: change }) as never);
}

export function deleteOrder(orderId: number): Promise<unknown> {
  return answerOf(store.DELETE("/store/orders/{orderId}", { params: { path: { orderId } } }));
}

/** Updates an order wherever it is shown, and rereads stock and pets. */
export function cacheOrder(client: QueryClient, order: Order): void {
  changeRows(client, "/store/orders", (row) => (row.id === order.id ? order : row));
  rereadOrder(client, order.id);
  invalidateStockAndPets(client);
}

export function cacheNewOrder(client: QueryClient): void {
  void rereadList(client, "/store/orders");
  invalidateStockAndPets(client);
}

export function cacheDeletedOrder(client: QueryClient, orderId: number): void {
  changeRows(client, "/store/orders", (row) => (row.id === orderId ? undefined : row));
  rereadOrder(client, orderId);
  invalidateStockAndPets(client);
}

/** Rereads an order and its history if its page is open. */
function rereadOrder(client: QueryClient, orderId: number): void {
  for (const what of ["one", "history", "details"]) void reread(client, { queryKey: [dashboardKey, "/store/orders", what, orderId] });
}

function invalidateStockAndPets(client: QueryClient): void {
  invalidateStock(client);
  invalidatePets(client);
}
