import { choiceIn } from "../parts/search-values.ts";
import { petStatuses, type PetStatus } from "../pets/search.ts";

/** The search parameters of the inventory page: one filter, and whether the form to track a pet is open. */
export type InventorySearch = { status?: PetStatus; stock?: "low"; new?: true };

export function inventorySearch(search: Record<string, unknown>): InventorySearch {
  const stock = choiceIn(["low"] as const, search["stock"]);
  return {
    status: stock ? undefined : choiceIn(petStatuses, search["status"]),
    stock,
    new: search["new"] === true ? (true as const) : undefined,
  };
}
