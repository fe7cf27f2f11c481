import { queryOptions, useQuery } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { readCall } from "../calls/send.ts";
import type { PetStatus } from "./search.ts";

/** How many pets there are, in all and in each category. `isMore`: there are more than `count`. */
export type PetCounts = { count: number; isMore: boolean; categories: { categoryId: number; count: number }[] };
export type CountFilters = { q?: string; status?: PetStatus[]; categoryId?: number };

/** Counts the pets that match the filters. */
export function petCountsQuery({ q, status = [], categoryId }: CountFilters) {
  const search = new URLSearchParams(status.map((one) => ["status", one]));
  if (q !== undefined) search.set("q", q);
  if (categoryId !== undefined) search.set("categoryId", String(categoryId));
  return queryOptions({
    queryKey: [dashboardKey, "/pets", "counts", search.toString()],
    staleTime: 10_000,
    queryFn: ({ signal }) => readCall<PetCounts>(`/pets/counts?${search}`, signal),
  });
}

/** The number of pets in each category; undefined until it is known, or if there are too many to count. */
export function useCategoryCounts(): ReadonlyMap<number, number> | undefined {
  const { data } = useQuery(petCountsQuery({}));
  return data && !data.isMore ? new Map(data.categories.map(({ categoryId, count }) => [categoryId, count])) : undefined;
}
