import { petStatuses, type PetStatus } from "../pets/status.ts";
import { choiceIn } from "../parts/search-values.ts";

/** What the address of the inventory holds: its filter, or that tracking is to begin. */
export type InventorySearch = { status?: PetStatus; new?: true };

export function inventorySearch(search: Record<string, unknown>): InventorySearch {
  return { status: choiceIn(petStatuses, search["status"]), new: search["new"] === true ? (true as const) : undefined };
}
