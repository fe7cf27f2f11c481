import { idIn, present } from "../parts/search-values.ts";

export type OrderFilters = { petId?: number; complete?: boolean };
/** The search parameters of the orders page: the filters, and whether the order form is open, perhaps for a pet (`order`). */
export type OrderSearch = OrderFilters & { new?: true; order?: number };

export function orderSearch(search: Record<string, unknown>): OrderSearch {
  const complete = search["complete"];
  return {
    petId: idIn(search["petId"]),
    complete: typeof complete === "boolean" ? complete : undefined,
    new: search["new"] === true ? (true as const) : undefined,
    order: idIn(search["order"]),
  };
}

export function filtersOf({ petId, complete }: OrderSearch): OrderFilters {
  return present({ petId, complete });
}
