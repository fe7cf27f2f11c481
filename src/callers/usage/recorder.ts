import { type Clock, minuteMs } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { coalesced } from "../../platform/jobs/runs.ts";
import { addUsage, type UsageCounts } from "./usage.store.ts";
import { startOf, type CountedVerdict, type Counts, type UsageRecorder } from "./usage.ts";

/** The most keys counted in one minute, and the most rows that wait for the database. Requests beyond them are not recorded. */
const keysMax = 50_000;
const waitingMax = 200_000;
/** The most rows of one transaction. */
const rowsPerWrite = 2_000;

type KeyCounts = { accountId: number; keyId: number; byOperation: Map<string, Counts> };

export type Recorder = UsageRecorder & {
  /** Saves the recorded counts. If that fails it rejects, and the next call saves what is left. */
  flush(): Promise<void>;
};

/** Counts requests in memory. Its owner flushes it every few seconds and at stop. */
export function openUsageRecorder({ db, clock }: { db: Database; clock: Clock }): Recorder {
  let minute = 0;
  let current = new Map<number, KeyCounts>();
  let waiting: UsageCounts[] = [];

  function seal(now: number): void {
    for (const counts of current.values()) if (waiting.length < waitingMax) waiting.push(...rowsOf(counts, minute));
    if (current.size > 0) current = new Map();
    minute = startOf(now, minuteMs);
  }

  async function writeAll(): Promise<void> {
    seal(clock());
    while (waiting.length > 0) {
      const some = waiting.slice(0, rowsPerWrite);
      await db.write((tx) => addUsage(tx, some));
      waiting = waiting.slice(some.length);
    }
  }

  return {
    record(accountId, keyId, operation, verdict) {
      const now = clock();
      if (now < minute || now - minute >= minuteMs) seal(now);
      let counts = current.get(keyId);
      if (counts === undefined) {
        if (current.size >= keysMax) return;
        counts = { accountId, keyId, byOperation: new Map() };
        current.set(keyId, counts);
      }
      let one = counts.byOperation.get(operation);
      if (one === undefined) {
        one = { requests: 0, refused: 0, banned: 0 };
        counts.byOperation.set(operation, one);
      }
      one[fieldOf[verdict]] += 1;
    },
    takeBack(keyId, operation) {
      const noted = current.get(keyId)?.byOperation.get(operation);
      if (noted !== undefined && noted.requests > 0) noted.requests -= 1;
    },
    flush: coalesced(writeAll).run,
  };
}

const fieldOf = { pass: "requests", rate_limit_exceeded: "refused", key_banned: "banned" } as const satisfies Record<
  CountedVerdict,
  keyof Counts
>;

/** Turns a key's minute into rows: one for the key, one for each operation. */
function rowsOf({ accountId, keyId, byOperation }: KeyCounts, minute: number): UsageCounts[] {
  const all: UsageCounts = { accountId, minute, kind: "key", name: String(keyId), requests: 0, refused: 0, banned: 0 };
  const rows: UsageCounts[] = [all];
  for (const [name, counts] of byOperation) {
    rows.push({ accountId, minute, kind: "operation", name, ...counts });
    for (const field of ["requests", "refused", "banned"] as const) all[field] += counts[field];
  }
  return rows;
}
