import { queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { ask } from "../calls/members.ts";
import { answerOf, store } from "../calls/store.ts";

/** So that the parts of a page do not read again what the page has just read (ms). */
const staleTime = 5_000;

export const accountQuery = queryOptions({
  queryKey: [dashboardKey, "/account"],
  staleTime,
  queryFn: ({ signal }) => answerOf(store.GET("/account", { signal })),
});

export const membersQuery = queryOptions({
  queryKey: [dashboardKey, "members"],
  staleTime,
  queryFn: ({ signal }) => ask("GET /members", { signal }),
});

export const factorsQuery = queryOptions({
  queryKey: [dashboardKey, "factors"],
  staleTime,
  queryFn: ({ signal }) => ask("GET /factors", { signal }),
});

export const sessionsQuery = queryOptions({
  queryKey: [dashboardKey, "sessions"],
  staleTime,
  queryFn: ({ signal }) => ask("GET /sessions", { signal }),
});
