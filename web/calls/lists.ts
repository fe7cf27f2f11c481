import { queryOptions, skipToken, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type { ListPath, Query, Row } from "../../client/pages.ts";
import { pageOf, startsOf, unread, withPage, type KnownPage } from "./known-pages.ts";
import { readPage } from "./store.ts";

/** The most that the service answers at once. */
const pageSize = 100;
/** Pages on either side of those that are looked at, which are not forgotten. */
const pagesKept = 4;

/** Everything that is known by being signed in: forgotten when the session ends. */
export const dashboardKey = "dashboard";

/** Rows of which only those near the window are held. */
export type PagedRows<Item> = {
  /** Of those that are known of; there are more where the list is not whole. */
  count: number;
  isWhole: boolean;
  /** Undefined while the row is on its way. */
  at: (index: number) => Item | undefined;
  /** The page that a row is of. */
  pageOf: (index: number) => number;
  /** Asks for these rows, the last of which nobody may know of yet. */
  show: (first: number, last: number) => void;
  isReading: boolean;
  failure: { error: Error; retry: () => void } | undefined;
};

export type List<Item> = {
  rows: PagedRows<Item> | undefined;
  isPending: boolean;
  isFetching: boolean;
  error: Error | null;
  refetch: () => void;
};

/**
 * A list, of which the pages that are looked at are read, and read again where they were forgotten. After a write that may have put a
 * row anywhere use `rereadList`.
 */
export function useList<Path extends ListPath>(path: Path, query: Query<Path>): List<Row<Path>> {
  const client = useQueryClient();
  const [openedAt] = useState(() => Date.now());
  const [wanted, setWanted] = useState({ from: 0, to: 0 });
  const knownQuery = knownPages(path, query);
  const { data: stored } = useQuery(knownQuery);
  const from = Math.min(wanted.from, stored.length - 1);
  const shown = stored.slice(from, wanted.to + 1);
  const reads = useQueries({ queries: shown.map(({ cursor }) => pageQuery(path, query, cursor, openedAt)) });

  const pages = new Map(reads.flatMap(({ data }, index) => (data ? [[shown[index]?.cursor, data]] : [])));
  let known = stored;
  for (const [cursor, { rows, next }] of pages) known = withPage(known, { cursor, count: rows.length, next });
  const starts = useMemo(() => startsOf(known), [known]);

  useEffect(() => {
    if (known !== stored) client.setQueryData(knownQuery.queryKey, known);
  });
  useEffect(() => {
    const near = new Set(stored.slice(Math.max(0, from - pagesKept), wanted.to + 1 + pagesKept).map(({ cursor }) => cursor ?? null));
    const isFar = ({ queryKey }: { queryKey: readonly unknown[] }) => !near.has(queryKey[4] as string | null);
    client.removeQueries({ queryKey: [dashboardKey, path, query, "page"], type: "inactive", predicate: isFar });
  });

  const failed = reads.find(({ isError, data }) => isError && !data);
  const isRead = known[0]?.count !== undefined;
  return {
    isPending: !isRead && !failed,
    isFetching: reads.some(({ isFetching }) => isFetching),
    error: failed?.error ?? null,
    refetch: () => void failed?.refetch(),
    rows: isRead ? rowsOf() : undefined,
  };

  function rowsOf(): PagedRows<Row<Path>> {
    return {
      count: starts.at(-1) ?? 0,
      isWhole: known.every(({ count }) => count !== undefined),
      pageOf: (index) => pageOf(starts, index),
      at: (index) => {
        const page = pageOf(starts, index);
        return pages.get(known[page]?.cursor)?.rows[index - (starts[page] ?? 0)];
      },
      show: (first, last) => {
        const next = { from: pageOf(starts, first), to: pageOf(starts, last) };
        if (next.from !== wanted.from || next.to !== wanted.to) setWanted(next);
      },
      isReading: reads.some(({ isFetching, data }) => isFetching && !data),
      failure: failed && { error: failed.error ?? new Error(), retry: () => void failed.refetch() },
    };
  }
}

/** Where the pages of a list begin, so that any that was read once can be read again. Nobody is asked: `useList` writes what the pages say. */
function knownPages<Path extends ListPath>(path: Path, query: Query<Path>) {
  return queryOptions({
    queryKey: [dashboardKey, path, query, "known"] as const,
    queryFn: skipToken as unknown as () => Promise<readonly KnownPage[]>,
    initialData: unread,
    staleTime: Infinity,
  });
}

/** A page of a list, as it was read since the list was opened; `["dashboard", path, query, "page", cursor]`. */
function pageQuery<Path extends ListPath>(path: Path, query: Query<Path>, cursor: string | undefined, openedAt: number) {
  return queryOptions({
    queryKey: [dashboardKey, path, query, "page", cursor ?? null] as const,
    queryFn: ({ signal }) => readPage(path, { limit: pageSize, ...query }, { cursor, signal }),
    staleTime: ({ state }) => (state.dataUpdatedAt < openedAt ? 0 : Infinity),
  });
}
