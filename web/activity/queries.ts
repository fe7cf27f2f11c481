import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { memberHeaders } from "../calls/page-member.ts";
import { callsBelow, readCall, successOf } from "../calls/send.ts";
import type { Schemas } from "../calls/store.ts";
import { download } from "../importing/download.ts";
import { kinds, queryOf, type ActivityFilters } from "./search.ts";

/** An event with the name of its actor, as only owners may read it (docs/dashboard-api.md). */
export type Entry = {
  position: number;
  type: Schemas["EventType"];
  at: string;
  actor: { type: "key" | "member" | "operator" | "system"; id: number | null; name: string | null };
  requestId: string | null;
  resource: { type: string; id: number | string };
  data: Record<string, unknown>;
  previous: Record<string, unknown>;
};
type AuditPage = { events: Entry[]; next: number | null };

const pageSize = 50;
const freshMs = 5_000;
const path = `${callsBelow}/audit`;
const key = [dashboardKey, "audit"] as const;

/** The events that pass the filters, newest first. */
export function activityQuery(filters: ActivityFilters) {
  return infiniteQueryOptions({
    queryKey: [...key, "list", filters],
    initialPageParam: null as number | null,
    staleTime: freshMs,
    queryFn: ({ pageParam, signal }) => readAudit(queryOf(filters), pageParam, pageSize, signal),
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ events }) => events),
  });
}

/** One event; null if it is no longer kept. */
export function entryQuery(position: number) {
  return queryOptions({
    queryKey: [...key, "one", position],
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<Entry | null> => {
      const { events } = await readAudit(new URLSearchParams({ types: kinds.everything }), position + 1, 1, signal);
      return events.find((event) => event.position === position) ?? null;
    },
  });
}

async function readAudit(query: URLSearchParams, before: number | null, limit: number, signal: AbortSignal): Promise<AuditPage> {
  query.set("limit", String(limit));
  if (before !== null) query.set("before", String(before));
  return readCall<AuditPage>(`/audit?${query}`, signal);
}

/** Downloads the events that pass the filters as CSV. @throws Refusal; @throws Error if the download breaks off */
export async function downloadActivity(filters: ActivityFilters): Promise<void> {
  const exportPath = `${path}/export`;
  const response = await successOf(await fetch(`${exportPath}?${queryOf(filters)}`, { headers: memberHeaders() }), exportPath);
  download(await response.blob(), "activity.csv");
}
