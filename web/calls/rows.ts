import type { InferDataFromTag, InvalidateQueryFilters, Query, QueryClient, QueryKey } from "@tanstack/react-query";
import type { ListPath, Row } from "../../client/pages.ts";
import { dashboardKey } from "./lists.ts";
import type { Page } from "./store.ts";

/**
 * Changes the rows of a list in memory, whatever its filters; `undefined` removes a row. Reading the list again would lose the reader's
 * place in it. Pages that are being read may lack the change, so they are read again.
 */
export function changeRows<Path extends ListPath>(
  client: QueryClient,
  path: Path,
  change: (row: Row<Path>) => Row<Path> | undefined,
): void {
  const pages = { queryKey: [dashboardKey, path], predicate: ({ queryKey }: Query) => queryKey[3] === "page" };
  client.setQueriesData<Page<Row<Path>>>(pages, (page) => {
    return page && { ...page, rows: page.rows.map(change).filter((row) => row !== undefined) };
  });
  for (const { queryKey } of client.getQueryCache().findAll({ ...pages, fetchStatus: "fetching" })) {
    const page = { queryKey, exact: true };
    void client.cancelQueries(page).then(() => client.refetchQueries({ ...page, type: "active" }));
  }
}

/** Shows the result of a write. */
export function showAnswer<Key extends QueryKey>(client: QueryClient, queryKey: Key, answer: InferDataFromTag<unknown, Key>): void {
  client.setQueryData(queryKey, answer);
  supersede(client, queryKey);
}

/** Cancels reads of this query that began before its data was replaced, so that they do not overwrite it. */
export function supersede(client: QueryClient, queryKey: QueryKey): void {
  void client.cancelQueries({ queryKey, exact: true });
}

/** Rereads data after a change. A first read that has begun is not cancelled and may lack the change, so another read follows it. */
export async function reread(client: QueryClient, filters: InvalidateQueryFilters): Promise<void> {
  const isFirst = client
    .getQueryCache()
    .findAll({ ...filters, fetchStatus: "fetching" })
    .some(({ state }) => state.data === undefined);
  await client.invalidateQueries(filters);
  if (isFirst) await client.invalidateQueries(filters);
}

/** Pages of a list have its filters in their key, where what else is below its path has a word. */
const isOfList = ({ queryKey }: Pick<Query, "queryKey">): boolean => typeof queryKey[2] !== "string";

/** Rereads a list from its top, after adding a row whose position is unknown, and what else is shown of its rows, which stays until then. */
export async function rereadList(client: QueryClient, path: ListPath): Promise<void> {
  await Promise.all([client.resetQueries({ queryKey: [dashboardKey, path], predicate: isOfList }), rereadBeside(client, path)]);
}

/** Rereads single rows, counts and rows found by id or name, but not the lists, which keep their position. */
export function rereadBeside(client: QueryClient, path: ListPath): Promise<void> {
  return reread(client, { queryKey: [dashboardKey, path], predicate: (query) => !isOfList(query) });
}
