import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { readCall } from "../calls/send.ts";
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

export const statusClasses = ["2xx", "3xx", "4xx", "5xx"] as const;
export type LogFilters = { keyId?: number; status?: (typeof statusClasses)[number] };
/** A request of the log (docs/dashboard-api.md). */
export type LoggedRequest = { position: number; at: string; keyId: number; method: string; route: string | null; status: number };
type LogPage = { requests: LoggedRequest[]; next: number | null };

const pageSize = 20;

/** The last requests that pass the filters, newest first. */
export function requestLogQuery(filters: LogFilters) {
  return infiniteQueryOptions({
    queryKey: [dashboardKey, "/requests", filters],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) => readRequests(filters, pageParam, signal),
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ requests }) => requests),
    refetchInterval: ({ state }) => (state.data && state.data.pages.length > 1 ? false : usageEveryMs),
  });
}

async function readRequests({ keyId, status }: LogFilters, before: number | null, signal: AbortSignal): Promise<LogPage> {
  const query = new URLSearchParams({ limit: String(pageSize) });
  if (keyId !== undefined) query.set("keyId", String(keyId));
  if (status !== undefined) query.set("status", status);
  if (before !== null) query.set("before", String(before));
  return readCall<LogPage>(`/requests?${query}`, signal);
}
