import { queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { answerOf, store } from "../calls/store.ts";
import { keysQuery } from "../keys/queries.ts";
import { accountQuery } from "../members/queries.ts";
import type { Interval } from "./series.ts";

/** Polling intervals while the page is visible. All queries together stay well within a member's 300 calls a minute. */
const limitsEveryMs = 4_000;
const usageEveryMs = 8_000;

export const polledAccountQuery = { ...accountQuery, refetchInterval: limitsEveryMs };
export const polledKeysQuery = { ...keysQuery, refetchInterval: limitsEveryMs };

export function usageQuery(interval: Interval, groupBy: "key" | "operation") {
  return queryOptions({
    queryKey: [dashboardKey, "/usage", interval, groupBy],
    queryFn: ({ signal }) => answerOf(store.GET("/usage", { params: { query: { interval, groupBy } }, signal })),
    refetchInterval: usageEveryMs,
    placeholderData: (before) => before,
  });
}
