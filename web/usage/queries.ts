import { queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { ask } from "../calls/people.ts";
import { answerOf, store } from "../calls/store.ts";
import type { Interval } from "./series.ts";

/** How often what changes with every request is read anew while somebody looks, in ms: together well within a person's 300 calls a minute. */
const standingEveryMs = 4_000;
const usageEveryMs = 8_000;

export const standingQuery = queryOptions({
  queryKey: [dashboardKey, "/account"],
  queryFn: ({ signal }) => answerOf(store.GET("/account", { signal })),
  refetchInterval: standingEveryMs,
});

export const keyStandingsQuery = queryOptions({
  queryKey: [dashboardKey, "keys"],
  queryFn: ({ signal }) => ask("GET /keys", { signal }),
  refetchInterval: standingEveryMs,
});

export function usageQuery(interval: Interval, groupBy: "key" | "operation") {
  return queryOptions({
    queryKey: [dashboardKey, "/usage", interval, groupBy],
    queryFn: ({ signal }) => answerOf(store.GET("/usage", { params: { query: { interval, groupBy } }, signal })),
    refetchInterval: usageEveryMs,
    placeholderData: (before) => before,
  });
}
