export const intervals = ["minute", "hour", "day"] as const;
export type Interval = (typeof intervals)[number];
/** The search parameters of the usage page. Without `key` and `operation`, the chart shows all requests. */
export type UsageSearch = { interval?: Interval | undefined; key?: number | undefined; operation?: string | undefined };

const stepMs: Record<Interval, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Requests in one interval; `start` is RFC 3339. */
export type Point = { start: string; requests: number; refused: number; banned: number };
/** The same with `start` in ms since the Unix epoch. */
export type Bar = { start: number; requests: number; refused: number; banned: number };

/** Returns a bar for every interval from `from` to `to` (RFC 3339), oldest first, with zeros if it had no requests. */
export function barsOf(points: readonly Point[], { interval, from, to }: { interval: Interval; from: string; to: string }): Bar[] {
  const step = stepMs[interval];
  const byStart = new Map(points.map((point) => [Date.parse(point.start), point]));
  const first = Date.parse(from);
  const count = Math.max(0, Math.ceil((Date.parse(to) - first) / step));
  return Array.from({ length: count }, (_, place) => {
    const start = first + place * step;
    const { requests = 0, refused = 0, banned = 0 } = byStart.get(start) ?? {};
    return { start, requests, refused, banned };
  });
}

export function totalOf({ requests, refused, banned }: Omit<Bar, "start">): number {
  return requests + refused + banned;
}

/** Below this part of the limit, the limit line is left out, because it would make the bars too small to read. */
const limitShownFrom = 0.2;

/** Returns the chart's upper bound: a little above the highest bar, or above the limit if the bars come near it. */
export function heightOf(bars: readonly Bar[], limit: number | undefined): { top: number; hasLimit: boolean } {
  const most = Math.max(1, ...bars.map(totalOf));
  const hasLimit = limit !== undefined && most >= limit * limitShownFrom;
  return { top: Math.max(most, hasLimit ? limit : 0) * 1.1, hasLimit };
}
