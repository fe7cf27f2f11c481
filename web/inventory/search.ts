import { petStatuses, type PetStatus } from "../pets/status.ts";
import { choiceIn } from "../parts/search-values.ts";

/** The search parameters of the inventory page: the filter, and whether the form to track an animal is open. */
export type InventorySearch = { status?: PetStatus; new?: true };

export function inventorySearch(search: Record<string, unknown>): InventorySearch {
  return { status: choiceIn(petStatuses, search["status"]), new: search["new"] === true ? (true as const) : undefined };
}
