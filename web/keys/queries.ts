import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { ask, type Key } from "../calls/members.ts";
import { serverNow } from "../calls/server-clock.ts";

export const keysQuery = queryOptions({
  queryKey: [dashboardKey, "keys"],
  queryFn: ({ signal }) => ask("GET /keys", { signal }),
});

/** Reads the keys again after one was created or revoked. */
export function useKeysChanged(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries(keysQuery);
}

export function hasExpired({ expiresAt }: Pick<Key, "expiresAt">): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= serverNow();
}
