import createClient from "openapi-fetch";
import type { paths } from "../../client/api.gen.ts";
import { nextCursor, type ListPath, type Query, type Row } from "../../client/pages.ts";
import { callsBelow, jsonOf, send } from "./send.ts";

export type { Schemas } from "../../client/api.gen.ts";

/** The API's operations by path and method, called with the session. Read the responses with `answerOf` or `taggedAnswerOf`. */
export const store = createClient<paths>({
  baseUrl: callsBelow,
  headers: { accept: "application/json" },
  bodySerializer: jsonOf,
  fetch: (request) => send(request),
});

type Answer<T> = Promise<{ data?: T; response: Response }>;

/** Returns the body of a response. @throws Refusal */
export async function answerOf<T>(call: Answer<T>): Promise<T> {
  return (await call).data as T;
}

/** The body of a response, and its ETag, which an edit sends as `If-Match`. */
export type Tagged<T> = { value: T; etag: string };

/** Returns the body of a response with its ETag. @throws Refusal */
export async function taggedAnswerOf<T>(call: Answer<T>): Promise<Tagged<T>> {
  const { data, response } = await call;
  return { value: data as T, etag: response.headers.get("etag") ?? "" };
}

/** The header of an edit that fails with 412 `precondition_failed` if somebody else has changed the resource since it was read. */
export function ifUnchanged({ etag }: Tagged<unknown>): { "If-Match": string } {
  return { "If-Match": etag };
}

/** A page of a list, and the cursor of the next one. */
export type Page<T> = { rows: T[]; next: string | undefined };

/** Reads a page of a list. Default cursor: the first page. @throws Refusal */
export async function readPage<Path extends ListPath>(
  path: Path,
  query: Query<Path> & { limit?: number },
  { cursor, signal }: { cursor?: string | undefined; signal?: AbortSignal } = {},
): Promise<Page<Row<Path>>> {
  // Each path's type has these parameters, but TypeScript cannot conclude that for `Path`.
  const get = store.GET as (path: ListPath, init: object) => Answer<Row<Path>[]>;
  const { data, response } = await get(path, { params: { query: { ...query, cursor } }, signal });
  return { rows: data ?? [], next: nextCursor(response.headers, location.origin) };
}
