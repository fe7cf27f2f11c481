import type { Interval } from "./series.ts";

/** The search parameters of the usage page. Without `key` and `operation`, the chart shows all requests. */
export type UsageSearch = { interval?: Interval | undefined; key?: number | undefined; operation?: string | undefined };
