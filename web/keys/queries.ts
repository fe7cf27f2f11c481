import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { ask } from "../calls/members.ts";

export const keysQuery = queryOptions({
  queryKey: [dashboardKey, "keys"],
  queryFn: ({ signal }) => ask("GET /keys", { signal }),
});

/** Reads the keys again after one was created or revoked. */
export function useKeysChanged(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries(keysQuery);
}
