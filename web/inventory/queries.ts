import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { invalidatePet } from "../pets/notes.ts";
import { batched } from "../calls/batched.ts";
import { dashboardKey, freshMs } from "../calls/lists.ts";
import { changeRows, reread, rereadList, showAnswer } from "../calls/rows.ts";
import { callsBelow, send } from "../calls/send.ts";
import { answerOf, readPage, store, type Schemas } from "../calls/store.ts";

export type InventoryItem = Schemas["InventoryItem"];

const readStock = batched(
  async (petId) => (await readPage("/store/inventory", { limit: petId.length, petId })).rows,
  ({ petId }) => petId,
);

/** An animal's inventory entry; null if it is not tracked. */
export function stockQuery(petId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/store/inventory", "one", petId],
    staleTime: 10_000,
    queryFn: ({ signal }): Promise<InventoryItem | null> => readStock(petId, signal),
  });
}

type LowStock = { count: number; entries: (InventoryItem & { name: string })[] };
const lowStockKey = [dashboardKey, "/store/inventory", "low"] as const;

/** How many entries have low stock, and the lowest of them. */
export function lowStockQuery(limit: number) {
  return queryOptions({
    queryKey: [...lowStockKey, limit],
    staleTime: freshMs,
    queryFn: async ({ signal }): Promise<LowStock> => {
      const response = await send(new Request(`${callsBelow}/store/inventory/low?limit=${limit}`, { signal }));
      return (await response.json()) as LowStock;
    },
  });
}

/** Changes an entry in the lists of low stock, or removes it from them. One that is low no more stays until they are read again. */
function changeLowStock(client: QueryClient, petId: number, item: InventoryItem | null): void {
  client.setQueriesData<LowStock>({ queryKey: lowStockKey }, (low) => {
    if (!low?.entries.some((entry) => entry.petId === petId)) return low;
    if (!item) return { count: low.count - 1, entries: low.entries.filter((entry) => entry.petId !== petId) };
    return { ...low, entries: low.entries.map((entry) => (entry.petId === petId ? { ...entry, ...item } : entry)) };
  });
}

/** Adds or removes units; safe when two people do so at once. */
export function adjustStock(petId: number, delta: number): Promise<InventoryItem> {
  return answerOf<InventoryItem>(
    store.POST("/store/inventory/{petId}/adjustments", {
      params: { path: { petId }, header: { "Idempotency-Key": crypto.randomUUID() } },
      body: { delta },
    }),
  );
}

/** Replaces the count, and begins tracking if the animal was not tracked. */
export function setStock(petId: number, quantity: number): Promise<InventoryItem> {
  return answerOf<InventoryItem>(store.PUT("/store/inventory/{petId}", { params: { path: { petId } }, body: { quantity } }));
}

export function stopTracking(petId: number): Promise<unknown> {
  return answerOf(store.DELETE("/store/inventory/{petId}", { params: { path: { petId } } }));
}

/** Updates an inventory entry wherever it is shown, with the animal's status, which follows it. */
export function noteStock(client: QueryClient, item: InventoryItem): void {
  const { petId, status } = item;
  showAnswer(client, stockQuery(petId).queryKey, item);
  changeRows(client, "/store/inventory", (row) => (row.petId === petId ? item : row));
  changeLowStock(client, petId, item);
  changeRows(client, "/pets", (row) => (row.id === petId && row.status !== status ? { ...row, status } : row));
  invalidatePet(client, petId);
}

/** As `noteStock`, for a new entry. */
export function noteNewStock(client: QueryClient, item: InventoryItem): void {
  noteStock(client, item);
  void rereadList(client, "/store/inventory");
}

/** Shows everywhere that an animal is no longer tracked. */
export function noteStopped(client: QueryClient, petId: number): void {
  showAnswer(client, stockQuery(petId).queryKey, null);
  changeRows(client, "/store/inventory", (row) => (row.petId === petId ? undefined : row));
  changeLowStock(client, petId, null);
  invalidatePet(client, petId);
}

/** Reads again the stock that an order may have changed. */
export function forgetStock(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey, "/store/inventory"], type: "inactive" });
  void reread(client, { queryKey: [dashboardKey, "/store/inventory"] });
}
