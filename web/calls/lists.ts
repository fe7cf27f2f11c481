import { queryOptions, skipToken, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type { ListPath, Query, Row } from "../../client/pages.ts";
import { pageOf, startsOf, unread, withPage, type KnownPage } from "./known-pages.ts";
import { readPage } from "./store.ts";

/** The service's largest page. */
const pageSize = 100;
/** Pages kept on either side of the visible ones. */
const pagesKept = 4;

/** The first part of the key of every query that needs a session; they are removed when the session ends. */
export const dashboardKey = "dashboard";

/** How long (ms) the parts of a page reuse data that the page has just read. */
export const freshMs = 5_000;

/** Rows of a long list; only those near the window are in memory. */
export type PagedRows<Item> = {
  /** Number of known rows; there are more if `isWhole` is false. */
  count: number;
  isWhole: boolean;
  /** Undefined while the row is being read. */
  at: (index: number) => Item | undefined;
  /** The index of the page that holds a row. */
  pageOf: (index: number) => number;
  /** Requests these rows; the last ones may be beyond the known rows. */
  show: (first: number, last: number) => void;
  isReading: boolean;
  failure: { error: Error; retry: () => void } | undefined;
};

/** Added to the page indexes of the second list, which must differ from those of the first. */
const secondPages = 1_000_000;

/** Joins two lists: the rows of the second follow once all of the first are known. */
export function concatenated<Item>(first: List<Item>, second: List<Item>): List<Item> {
  const [head, tail] = [first.rows, second.rows];
  if (!head?.isWhole) return first;
  if (!tail) return { ...second, rows: undefined, refetch: () => (first.error ? first.refetch() : second.refetch()) };
  const { count } = head;
  const rows: PagedRows<Item> = {
    count: count + tail.count,
    isWhole: tail.isWhole,
    at: (index) => (index < count ? head.at(index) : tail.at(index - count)),
    pageOf: (index) => (index < count ? head.pageOf(index) : secondPages + tail.pageOf(index - count)),
    show: (from, to) => {
      if (from < count) head.show(from, Math.min(to, count - 1));
      if (to >= count) tail.show(Math.max(0, from - count), to - count);
    },
    isReading: head.isReading || tail.isReading,
    failure: head.failure ?? tail.failure,
  };
  return { rows, isPending: false, isFetching: first.isFetching || second.isFetching, error: null, refetch: second.refetch };
}

export type List<Item> = {
  rows: PagedRows<Item> | undefined;
  isPending: boolean;
  isFetching: boolean;
  error: Error | null;
  refetch: () => void;
};

/** How often (ms) the visible pages are read again while the window is visible, by default never, and whether they are read at all. */
type Reading = { everyMs?: number; isNeeded?: boolean };

/**
 * Reads the pages of a list that are visible, and reads them again after they were dropped from memory. After a write that may have
 * added a row anywhere, call `rereadList`.
 */
export function useList<Path extends ListPath>(path: Path, query: Query<Path>, reading: Reading = {}): List<Row<Path>> {
  const { everyMs, isNeeded = true } = reading;
  const client = useQueryClient();
  const [openedAt] = useState(() => Date.now());
  const [wanted, setWanted] = useState({ from: 0, to: 0 });
  const knownQuery = knownPages(path, query);
  const { data: stored } = useQuery(knownQuery);
  const from = Math.min(wanted.from, stored.length - 1);
  const shown = isNeeded ? stored.slice(from, wanted.to + 1) : [];
  const reads = useQueries({
    queries: shown.map(({ cursor }) => ({
      ...pageQuery(path, query, cursor, openedAt),
      ...(everyMs !== undefined && { refetchInterval: everyMs }),
    })),
  });

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

/** The cursors of a list's pages, so that each page can be read again. This query sends no request: `useList` writes its data. */
function knownPages<Path extends ListPath>(path: Path, query: Query<Path>) {
  return queryOptions({
    queryKey: [dashboardKey, path, query, "known"] as const,
    queryFn: skipToken as unknown as () => Promise<readonly KnownPage[]>,
    initialData: unread,
    staleTime: Infinity,
  });
}

/** A page of a list as last read; `["dashboard", path, query, "page", cursor]`. */
function pageQuery<Path extends ListPath>(path: Path, query: Query<Path>, cursor: string | undefined, openedAt: number) {
  return queryOptions({
    queryKey: [dashboardKey, path, query, "page", cursor ?? null] as const,
    queryFn: ({ signal }) => readPage(path, { limit: pageSize, ...query }, { cursor, signal }),
    staleTime: ({ state }) => (state.dataUpdatedAt < openedAt ? 0 : Infinity),
  });
}
