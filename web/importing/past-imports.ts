import { infiniteQueryOptions, type InfiniteData, type QueryClient } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { supersede } from "../calls/rows.ts";
import { serverNow } from "../calls/server-clock.ts";
import { answerOf, readPage, store, type Page, type Schemas } from "../calls/store.ts";

export type PastImport = Schemas["Import"];

const pageSize = 10;
/** How often (ms) the list is read again while an undo runs. */
const undoingMs = 1_000;
/** How long (ms) an import can be undone after its end (specification 2.8). */
const undoMs = 90 * 24 * 3_600_000;
const queryKey = [dashboardKey, "imports"] as const;

/** The imports, the newest first. */
export const importsQuery = infiniteQueryOptions({
  queryKey,
  initialPageParam: undefined as string | undefined,
  staleTime: 0,
  queryFn: ({ pageParam: cursor, signal }) => readPage("/imports", { sort: "-id", limit: pageSize }, { cursor, signal }),
  refetchInterval: ({ state: { data } }) => (data?.pages.some(({ rows }) => rows.some(isUndoing)) ? undoingMs : false),
  getNextPageParam: ({ next }) => next,
  select: ({ pages }) => pages.flatMap(({ rows }) => rows),
});

export function isUndoing({ status }: PastImport): boolean {
  return status === "undoing";
}

export function isUndoable({ status, finishedAt }: PastImport): boolean {
  return status === "open" || (status === "finished" && finishedAt !== undefined && Date.parse(finishedAt) + undoMs > serverNow());
}

/** Begins to undo an import, and shows its new state. @throws Refusal */
export async function undoImport(client: QueryClient, importId: number): Promise<void> {
  const begun = await answerOf<PastImport>(store.POST("/imports/{importId}/undo", { params: { path: { importId } } }));
  client.setQueryData<InfiniteData<Page<PastImport>, string | undefined>>(queryKey, (read) => {
    const pages = read?.pages.map((page) => ({ ...page, rows: page.rows.map((row) => (row.id === begun.id ? begun : row)) }));
    return read && pages && { ...read, pages };
  });
  supersede(client, queryKey);
}
