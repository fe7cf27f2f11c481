import type { QueryClient } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";

/** Drops what is in memory of the lists, so that they are read again after an import. */
export function forgetLists(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey], predicate: ({ queryKey }) => String(queryKey[1]).startsWith("/") });
}
