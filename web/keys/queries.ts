import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { useEffect, useReducer } from "react";
import { dashboardKey } from "../calls/lists.ts";
import type { Key } from "../calls/members.ts";
import { reread } from "../calls/rows.ts";
import { serverNow } from "../calls/server-clock.ts";
import { readPage } from "../calls/store.ts";

export const keysQuery = queryOptions({
  queryKey: [dashboardKey, "keys"],
  queryFn: ({ signal }) => readKeys(signal),
});

/** Reads all keys, page by page: an account has few. */
export async function readKeys(signal?: AbortSignal): Promise<Key[]> {
  const keys: Key[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage("/keys", { limit: 100 }, { cursor, ...(signal && { signal }) });
    keys.push(...page.rows);
    cursor = page.next;
  } while (cursor !== undefined);
  return keys;
}

/** Returns a function that rereads the keys after one was created or revoked. */
export function useKeysChanged(): () => void {
  const client = useQueryClient();
  return () => void reread(client, keysQuery);
}

export function hasExpired({ expiresAt }: Pick<Key, "expiresAt">): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= serverNow();
}

/** The longest delay of a browser's timer, and how early a timer may fire. */
const [timerMsMax, timerMsEarly] = [2 ** 31 - 1, 20];

/** Renders the component again when the next of these keys expires, by the service's clock. */
export function useNextExpiry(keys: Key[]): void {
  const [, renderAgain] = useReducer((times: number) => times + 1, 0);
  const ends = keys.flatMap((key) => (key.expiresAt === null || hasExpired(key) ? [] : [Date.parse(key.expiresAt)]));
  const next = Math.min(...ends);
  useEffect(() => {
    if (next === Infinity) return;
    const timer = setTimeout(renderAgain, Math.min(next - serverNow() + timerMsEarly, timerMsMax));
    return () => clearTimeout(timer);
  }, [next]);
}
