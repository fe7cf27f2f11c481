import { dayMs, hourMs } from "../../platform/clock.ts";
import { DateTime, enumeration, Id, named, variant } from "../../platform/http/schemas.ts";
/**
 * Usage (`GET /usage`): the requests of an account, counted in memory, saved every few seconds, and kept by minute for an hour,
 * by hour for seven days and by day for ninety. Only requests with a valid key count. A kill loses the few seconds that were not
 * saved yet.
 */
import { Type } from "../../platform/json-schema.ts";
import { storageSchemas } from "../accounts/accounts.ts";
import type { Verdict } from "../limits/windows.ts";

export const intervals = ["minute", "hour", "day"] as const;
export type Interval = (typeof intervals)[number];

/** The length of an interval, and how many intervals are kept, including the current one. */
export const retention: Record<Interval, { stepMs: number; count: number }> = {
  minute: { stepMs: 60_000, count: 60 },
  hour: { stepMs: hourMs, count: 7 * 24 },
  day: { stepMs: dayMs, count: 90 },
};

/** The time for which usage is kept, in ms since the Unix epoch: from the start of the oldest interval to the end of the current one. */
export function spanOf(interval: Interval, now: number): { from: number; to: number } {
  const { stepMs, count } = retention[interval];
  const to = startOf(now, stepMs) + stepMs;
  return { from: to - count * stepMs, to };
}

/** Returns the start of the interval of `stepMs` that contains a time, both in ms since the Unix epoch. */
export function startOf(time: number, stepMs: number): number {
  return time - (time % stepMs);
}

/** Requests are counted by key and by operation. */
const kinds = ["key", "operation"] as const;
export type Kind = (typeof kinds)[number];

/** Requests that passed the limits, that were over a limit, and that came during a ban. */
export type Counts = { requests: number; refused: number; banned: number };

/** The name under which requests count whose path or method does not exist. */
export const noOperation = "other";

/** The verdict on a request that is recorded. */
export type CountedVerdict = Exclude<Verdict, "unavailable">;

/** Counts requests with a valid key. */
export type UsageRecorder = {
  /** Records a request. Takes well below a microsecond, never waits and never throws. */
  record(accountId: number, keyId: number, operation: string, verdict: CountedVerdict): void;
  /** Takes a request that passed off the counts, unless it is already in the database. */
  takeBack(keyId: number, operation: string): void;
};

const counts = {
  requests: Type.Integer({ description: "Requests that passed the limits." }),
  refused: Type.Integer({ description: "Requests refused because a limit was reached." }),
  banned: Type.Integer({ description: "Requests refused because the key was banned." }),
};

const UsagePoint = named("UsagePoint", Type.Object({ start: DateTime("When the interval began."), ...counts }));

const points = Type.Array(UsagePoint, {
  description: "The intervals that had requests, oldest first; those without any are left out.",
});

const UsageInterval = enumeration("UsageInterval", intervals);

const UsageGroup = named(
  "UsageGroup",
  Type.Object({
    keyId: Type.Optional(Id("The key, if `groupBy` is `key`.")),
    operation: Type.Optional(
      Type.String({
        description: `The operation, if \`groupBy\` is \`operation\`; \`${noOperation}\` for paths and methods that do not exist.`,
      }),
    ),
    ...counts,
    points,
  }),
);

export const Usage = named(
  "Usage",
  Type.Object({
    interval: variant(UsageInterval, { description: "The length of one interval." }),
    from: DateTime("When the oldest interval began."),
    to: DateTime("When the running interval ends."),
    points,
    ...storageSchemas,
    groups: Type.Optional(
      Type.Array(UsageGroup, {
        description: "The keys or operations with the most requests, at most 50, those with the most first. Only with `groupBy`.",
      }),
    ),
  }),
);

const UsageGrouping = enumeration("UsageGrouping", ["none", ...kinds]);

export const UsageQuery = Type.Object({
  interval: Type.Optional(
    variant(UsageInterval, {
      default: "hour",
      description: "`minute`: the last hour; `hour`: the last 7 days; `day`: the last 90 days.",
    }),
  ),
  groupBy: Type.Optional(
    variant(UsageGrouping, {
      default: "none",
      description: "Also counts the requests of each key or of each operation.",
    }),
  ),
});
