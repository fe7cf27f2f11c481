import { idIn } from "../parts/search-values.ts";

/** The search parameters of the categories page: the category being edited, or a new one. */
export type CategorySearch = { category?: number; new?: true };

export function categorySearch(search: Record<string, unknown>): CategorySearch {
  return { category: idIn(search["category"]), new: search["new"] === true ? (true as const) : undefined };
}
