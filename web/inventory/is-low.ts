import { queryOptions } from "@tanstack/react-query";
import { batched } from "../calls/batched.ts";
import { dashboardKey } from "../calls/lists.ts";
import { readCall } from "../calls/send.ts";
import type { InventoryItem, LowStock } from "./queries.ts";

const readLow = batched(
  async (ids) => {
    const query = new URLSearchParams([["limit", String(ids.length)], ...ids.map((id) => ["petId", String(id)])]);
    return (await readCall<LowStock>(`/store/inventory/low?${query}`)).entries;
  },
  ({ petId }) => petId,
);

/** Whether the stock of an entry is low. Asks only about entries at or below `lowStock`: the service knows which of them once had more. */
export function isLowQuery({ petId, quantity }: InventoryItem, lowStock: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/store/inventory", "isLow", petId, quantity, lowStock],
    queryFn: async ({ signal }) => (await readLow(petId, signal)) !== null,
    enabled: quantity > 0 && quantity <= lowStock,
  });
}
