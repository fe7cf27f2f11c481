import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { invalidatePet } from "../pets/notes.ts";
import { batched } from "../calls/batched.ts";
import { dashboardKey } from "../calls/lists.ts";
import { changeRows, rereadList, showAnswer } from "../calls/rows.ts";
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
  invalidatePet(client, petId);
}

/** Reads again the stock that an order may have changed. */
export function forgetStock(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey, "/store/inventory"], type: "inactive" });
  void client.invalidateQueries({ queryKey: [dashboardKey, "/store/inventory"] });
}
