import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import type { ListPath, Row } from "../../client/pages.ts";
import { dashboardKey } from "./lists.ts";
import type { Page } from "./store.ts";

/**
 * Changes the rows of a list that have been read, whatever its filters; `undefined` takes a row away. So the place in a long list
 * stays, where reading it anew would begin at its top.
 */
export function changeRows<Path extends ListPath>(
  client: QueryClient,
  path: Path,
  change: (row: Row<Path>) => Row<Path> | undefined,
): void {
  const isList = ({ queryKey }: { queryKey: readonly unknown[] }) => typeof queryKey[2] === "object";
  client.setQueriesData<InfiniteData<Page<Row<Path>>>>({ queryKey: [dashboardKey, path], predicate: isList }, (read) => {
    if (read === undefined) return undefined;
    const pages = read.pages.map((page) => ({ ...page, rows: page.rows.map(change).filter((row) => row !== undefined) }));
    return { ...read, pages };
  });
}

/** Reads a list anew from its top: after something was made, whose place in it nobody knows. */
export function rereadList(client: QueryClient, path: ListPath): Promise<void> {
  return client.resetQueries({ queryKey: [dashboardKey, path] });
}
