import { queryOptions } from "@tanstack/react-query";
import { dashboardKey, freshMs } from "../calls/lists.ts";
import { ask } from "../calls/members.ts";
import { answerOf, store } from "../calls/store.ts";

export const accountQuery = queryOptions({
  queryKey: [dashboardKey, "/account"],
  staleTime: freshMs,
  queryFn: ({ signal }) => answerOf(store.GET("/account", { signal })),
});

export const membersQuery = queryOptions({
  queryKey: [dashboardKey, "members"],
  staleTime: freshMs,
  queryFn: ({ signal }) => ask("GET /members", { signal }),
});

export const factorsQuery = queryOptions({
  queryKey: [dashboardKey, "factors"],
  staleTime: freshMs,
  queryFn: ({ signal }) => ask("GET /factors", { signal }),
});

export const sessionsQuery = queryOptions({
  queryKey: [dashboardKey, "sessions"],
  staleTime: freshMs,
  queryFn: ({ signal }) => ask("GET /sessions", { signal }),
});
