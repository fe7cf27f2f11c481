import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { batched } from "../calls/batched.ts";
import { dashboardKey, freshMs } from "../calls/lists.ts";
import { changeRows, reread, rereadList, showAnswer } from "../calls/rows.ts";
import { readCall } from "../calls/send.ts";
import { answerOf, readPage, store, type Schemas } from "../calls/store.ts";
import { invalidatePet } from "../pets/cache.ts";

export type InventoryItem = Schemas["InventoryItem"];

const readStock = batched(
  async (petId) => (await readPage("/store/inventory", { limit: petId.length, petId })).rows,
  ({ petId }) => petId,
);

/** A pet's inventory entry; null if the pet is not tracked. */
export function stockQuery(petId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/store/inventory", "one", petId],
    staleTime: 10_000,
    queryFn: ({ signal }): Promise<InventoryItem | null> => readStock(petId, signal),
  });
}

export type LowStock = { count: number; entries: (InventoryItem & { name: string })[] };
const lowStockKey = [dashboardKey, "/store/inventory", "low"] as const;

/** How many entries have low stock, and the lowest of them. */
export function lowStockQuery(limit: number) {
  return queryOptions({
    queryKey: [...lowStockKey, limit],
    staleTime: freshMs,
    queryFn: ({ signal }) => readCall<LowStock>(`/store/inventory/low?limit=${limit}`, signal),
  });
}

/** Updates an entry in the lists of low stock; null removes it. An entry that is no longer low stays until the lists are reread. */
function changeLowStock(client: QueryClient, petId: number, item: InventoryItem | null): void {
  client.setQueriesData<LowStock>({ queryKey: lowStockKey }, (low) => {
    if (!low?.entries.some((entry) => entry.petId === petId)) return low;
    if (!item) return { count: low.count - 1, entries: low.entries.filter((entry) => entry.petId !== petId) };
    return { ...low, entries: low.entries.map((entry) => (entry.petId === petId ? { ...entry, ...item } : entry)) };
  });
}

/** Adds or removes units; safe if two people do so at the same time. */
export function adjustStock(petId: number, delta: number): Promise<InventoryItem> {
  return answerOf<InventoryItem>(
    store.POST("/store/inventory/{petId}/adjustments", {
      params: { path: { petId }, header: { "Idempotency-Key": crypto.randomUUID() } },
      body: { delta },
    }),
  );
}

/** Replaces the count. Begins tracking if the pet was not tracked. */
export function setStock(petId: number, quantity: number): Promise<InventoryItem> {
  return answerOf<InventoryItem>(store.PUT("/store/inventory/{petId}", { params: { path: { petId } }, body: { quantity } }));
}

export function stopTracking(petId: number): Promise<unknown> {
  return answerOf(store.DELETE("/store/inventory/{petId}", { params: { path: { petId } } }));
}

/** Updates an inventory entry wherever it is shown, and the pet's status, which follows its stock. */
export function cacheStock(client: QueryClient, item: InventoryItem): void {
  const { petId, status } = item;
  showAnswer(client, stockQuery(petId).queryKey, item);
  changeRows(client, "/store/inventory", (row) => (row.petId === petId ? item : row));
  changeLowStock(client, petId, item);
  changeRows(client, "/pets", (row) => (row.id === petId && row.status !== status ? { ...row, status } : row));
  invalidatePet(client, petId);
}

/** Like `cacheStock`, for a new entry. */
export function cacheNewStock(client: QueryClient, item: InventoryItem): void {
  cacheStock(client, item);
  void rereadList(client, "/store/inventory");
}

/** Shows everywhere that a pet is no longer tracked. */
export function cacheUntracked(client: QueryClient, petId: number): void {
  showAnswer(client, stockQuery(petId).queryKey, null);
  changeRows(client, "/store/inventory", (row) => (row.petId === petId ? undefined : row));
  changeLowStock(client, petId, null);
  invalidatePet(client, petId);
}

/** Rereads the stock that is shown, and drops the rest from the cache. */
export function invalidateStock(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey, "/store/inventory"], type: "inactive" });
  void reread(client, { queryKey: [dashboardKey, "/store/inventory"] });
}
