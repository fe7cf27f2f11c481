import { idIn, present } from "../parts/search-values.ts";

export type OrderFilters = { petId?: number; complete?: boolean };
/** What the address of the orders holds: the filters, and that one is to be placed, perhaps of an animal (`order`). */
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
