import { idIn } from "../parts/search-values.ts";

/** What the address of the categories holds: which one is open to be edited, or that a new one is. */
export type CategorySearch = { category?: number; new?: true };

export function categorySearch(search: Record<string, unknown>): CategorySearch {
  return { category: idIn(search["category"]), new: search["new"] === true ? (true as const) : undefined };
}
