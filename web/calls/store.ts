import createClient from "openapi-fetch";
import type { paths } from "../../client/api.gen.ts";
import { nextCursor, type ListPath, type Query, type Row } from "../../client/pages.ts";
import { callsBelow, jsonOf, send } from "./send.ts";

export type { Schemas } from "../../client/api.gen.ts";

/** The operations of the API for who is signed in, by path and method. Read their answers with `answerOf` or `taggedAnswerOf`. */
export const store = createClient<paths>({
  baseUrl: callsBelow,
  headers: { accept: "application/json" },
  bodySerializer: jsonOf,
  fetch: (request) => send(request),
});

type Answer<T> = Promise<{ data?: T; response: Response }>;

/** The body of an answer. @throws Refusal */
export async function answerOf<T>(call: Answer<T>): Promise<T> {
  return (await call).data as T;
}

/** What an answer holds, and the version of it that an edit names in `If-Match`. */
export type Tagged<T> = { value: T; etag: string };

/** The body of an answer with its ETag. @throws Refusal */
export async function taggedAnswerOf<T>(call: Answer<T>): Promise<Tagged<T>> {
  const { data, response } = await call;
  return { value: data as T, etag: response.headers.get("etag") ?? "" };
}

/** Headers of an edit that is refused with 412 `precondition_failed` where somebody else was quicker. */
export function ifUnchanged({ etag }: Tagged<unknown>): { "If-Match": string } {
  return { "If-Match": etag };
}

/** A page of a list, and the cursor of the next one. */
export type Page<T> = { rows: T[]; next: string | undefined };

/** Reads a page of a list: the first one without a cursor. @throws Refusal */
export async function readPage<Path extends ListPath>(
  path: Path,
  query: Query<Path> & { limit?: number },
  { cursor, signal }: { cursor?: string | undefined; signal?: AbortSignal } = {},
): Promise<Page<Row<Path>>> {
  // That every list takes these parameters is known of each path, but not of `Path`.
  const get = store.GET as (path: ListPath, init: object) => Answer<Row<Path>[]>;
  const { data, response } = await get(path, { params: { query: { ...query, cursor } }, signal });
  return { rows: data ?? [], next: nextCursor(response.headers, location.origin) };
}
