import { infiniteQueryOptions } from "@tanstack/react-query";
import type { ListPath, Query } from "../../client/pages.ts";
import { readPage } from "./store.ts";

/** The most that the service answers at once. */
const pageSize = 100;

/** Everything that is known by being signed in: forgotten when the session ends. */
export const dashboardKey = "dashboard";

/**
 * A list that grows by pages, for `useInfiniteQuery`; `data` are its rows. Its key is `["dashboard", path, query]`. After a write use
 * `queryClient.resetQueries({ queryKey: ["dashboard", path] })`: to invalidate would read every page anew that was ever scrolled to.
 */
export function listQuery<Path extends ListPath>(path: Path, query: Query<Path>) {
  return infiniteQueryOptions({
    queryKey: [dashboardKey, path, query] as const,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => readPage(path, { limit: pageSize, ...query }, { cursor: pageParam, signal }),
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ rows }) => rows),
    staleTime: Infinity,
    refetchOnMount: (held) => (held.state.data?.pages.length ?? 0) <= 1 && "always",
  });
}
