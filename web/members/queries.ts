import { queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { ask } from "../calls/members.ts";
import { answerOf, store } from "../calls/store.ts";

export const accountQuery = queryOptions({
  queryKey: [dashboardKey, "/account"],
  queryFn: ({ signal }) => answerOf(store.GET("/account", { signal })),
});

export const membersQuery = queryOptions({
  queryKey: [dashboardKey, "members"],
  queryFn: ({ signal }) => ask("GET /members", { signal }),
});

export const factorsQuery = queryOptions({
  queryKey: [dashboardKey, "factors"],
  queryFn: ({ signal }) => ask("GET /factors", { signal }),
});

export const sessionsQuery = queryOptions({
  queryKey: [dashboardKey, "sessions"],
  queryFn: ({ signal }) => ask("GET /sessions", { signal }),
});
