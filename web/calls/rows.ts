import type { InferDataFromTag, Query, QueryClient, QueryKey } from "@tanstack/react-query";
import type { ListPath, Row } from "../../client/pages.ts";
import { dashboardKey } from "./lists.ts";
import type { Page } from "./store.ts";

/**
 * Changes the rows of a list that have been read, whatever its filters; `undefined` takes a row away. So the place in a long list
 * stays, where reading it anew would begin at its top. Pages that are on their way were read before the change: they are read again.
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

/** Shows what a write has answered. */
export function showAnswer<Key extends QueryKey>(client: QueryClient, queryKey: Key, answer: InferDataFromTag<unknown, Key>): void {
  client.setQueryData(queryKey, answer);
  supersede(client, queryKey);
}

/** What is on its way to this query was read before what it holds now, and does not take its place. */
export function supersede(client: QueryClient, queryKey: QueryKey): void {
  void client.cancelQueries({ queryKey, exact: true });
}

/** Reads a list anew from its top: after something was made, whose place in it nobody knows. */
export function rereadList(client: QueryClient, path: ListPath): Promise<void> {
  return client.resetQueries({ queryKey: [dashboardKey, path] });
}
