import { choiceIn, idIn, present } from "../parts/search-values.ts";

const orderSorts = ["id", "-id"] as const;
export type OrderFilters = { petId?: number; complete?: boolean; sort?: (typeof orderSorts)[number] };
/** The search parameters of the orders page: the filters, and whether the order form is open, perhaps for a pet (`order`). */
export type OrderSearch = OrderFilters & { new?: true; order?: number };

export function orderSearch(search: Record<string, unknown>): OrderSearch {
  const complete = search["complete"];
  return {
    petId: idIn(search["petId"]),
    complete: typeof complete === "boolean" ? complete : undefined,
    sort: choiceIn(orderSorts, search["sort"]),
    new: search["new"] === true ? (true as const) : undefined,
    order: idIn(search["order"]),
  };
}

export function filtersOf({ petId, complete, sort }: OrderSearch): OrderFilters {
  return present({ petId, complete, sort });
}
