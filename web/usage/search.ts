import type { Interval } from "./series.ts";

/** What of the usage is shown; without a key and an operation all of it. */
export type UsageSearch = { interval?: Interval | undefined; key?: number | undefined; operation?: string | undefined };
