import type { paths } from "./api.gen.ts";
import type { PetStore } from "./client.ts";
import { PetStoreError } from "./errors.ts";
import { refusal, type Refused } from "./refusals.ts";

type RowsAt<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { readonly "application/json": (infer Element)[] } } } };
}
  ? Element
  : never;
/** The paths whose GET returns a list. */
export type ListPath = { [Path in keyof paths]: [RowsAt<Path>] extends [never] ? never : Path }[keyof paths];
/** An element of a list. */
export type Row<Path extends ListPath> = RowsAt<Path>;
/** The filters, sort and page size of a list. */
export type Query<Path extends ListPath> = Omit<NonNullable<paths[Path]["get"]["parameters"]["query"]>, "cursor">;
/** The path parameters of a list; undefined if it has none. */
export type Place<Path extends ListPath> = paths[Path]["get"]["parameters"] extends { path: infer Parameters } ? Parameters : undefined;

const pageSizeMax = 100;

/** Yields the pages of a list, each as it arrives; follows `Link: <…>; rel="next"` (RFC 8288). @throws PetStoreError if a page is refused */
export async function* pages<Path extends ListPath>(
  client: PetStore,
  path: Path,
  query?: Query<Path>,
  place?: Place<Path>,
): AsyncGenerator<Row<Path>[]> {
  // Each path's type has these parameters, but TypeScript cannot conclude that for `Path`.
  const get = client.GET as (path: ListPath, init: object) => Promise<Refused & { data?: Row<Path>[] }>;
  let begin: Begin = {};
  for (;;) {
    const answer = await get(path, { params: { path: place, query: { limit: pageSizeMax, ...query, ...begin } } });
    if (!Array.isArray(answer.data)) throw refusal(answer);
    yield answer.data;
    const next = nextBegin(answer.response.headers, client.url);
    if (next === undefined) return;
    if (next.cursor === begin.cursor && next.after === begin.after)
      throw new PetStoreError("internal", `The list ${path} does not end: its next page is the current one.`);
    begin = next;
  }
}

/** Yields the elements of a list one by one, and fetches each page when it is needed. @throws PetStoreError if a page is refused */
export async function* rows<Path extends ListPath>(
  client: PetStore,
  path: Path,
  query?: Query<Path>,
  place?: Place<Path>,
): AsyncGenerator<Row<Path>> {
  for await (const page of pages(client, path, query, place)) yield* page;
}

/** Where a page begins: in the log of events after a position, in every other list at a cursor. */
type Begin = { cursor?: string; after?: string };

/** Returns the `cursor` of the next page. */
export function nextCursor(headers: Headers, base: string): string | undefined {
  return nextBegin(headers, base)?.cursor;
}

/** Returns where the next page begins. Takes only one parameter from the link to it, so that the key never goes to another host. */
export function nextBegin(headers: Headers, base: string): Begin | undefined {
  for (const [, target = "", notes = ""] of (headers.get("link") ?? "").matchAll(/<([^<>]*)>([^<]*)/g)) {
    if (!relationsOf(notes).includes("next")) continue;
    const parameters = URL.canParse(target, base) ? new URL(target, base).searchParams : new URLSearchParams();
    for (const name of ["cursor", "after"] as const) {
      const value = parameters.get(name);
      if (value !== null) return { [name]: value };
    }
    return undefined;
  }
  return undefined;
}

/** The relation types in a link's parameters. They may be in quotes, and the comma before the next link may follow them. */
function relationsOf(parameters: string): string[] {
  const [, text = ""] =
    parameters
      .split(";")
      .map((parameter) => parameter.trim().split("="))
      .find(([name]) => name?.toLowerCase() === "rel") ?? [];
  return text.replaceAll(/[",]/g, " ").trim().toLowerCase().split(/\s+/);
}
