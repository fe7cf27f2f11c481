import { createCache } from "../../platform/cache.ts";
import type { Database } from "../../platform/db/database.ts";
import { coalesced } from "../../platform/jobs/runs.ts";
import { recordOnce, type LimitEvent } from "./limit-events.store.ts";
import type { Decision } from "./windows.ts";

/** How many limits and bans this process remembers, so that it records each once. */
const seenMax = 10_000;
/** The most events in the queue. A refusal that finds it full is not recorded. */
const queueMax = 1_000;
/** Events recorded in one transaction. */
const batchMax = 50;
const minuteMs = 60_000;

/** Records bans and reached limits as events. It queues them and writes in the background, so no refusal waits for the database. */
export type LimitRecorder = {
  /** Queues the events of a refused request with a secret key. */
  record: (accountId: number, keyId: number, decision: Decision) => void;
  close: () => Promise<void>;
};

/** @param onError called with each database error; the next such refusal queues the event again */
export function openLimitRecorder(db: Pick<Database, "write">, onError: (error: unknown) => void): LimitRecorder {
  const seen = createCache<string, LimitEvent>(seenMax);
  let queue: { name: string; event: LimitEvent }[] = [];
  const recording = coalesced(recordAll);

  function add(name: string, event: LimitEvent): void {
    if (seen.peek(name) || queue.length >= queueMax) return;
    seen.set(name, event);
    queue.push({ name, event });
    void recording.run();
  }

  async function recordAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchMax);
      queue = queue.slice(batchMax);
      try {
        await db.write(async (tx) => {
          for (const { event } of batch) await recordOnce(tx, event);
        });
      } catch (error) {
        for (const { name } of batch) seen.delete(name);
        onError(error);
      }
    }
  }

  return {
    record(accountId, keyId, { verdict, at, retryAfterSeconds, minuteRemaining, dayRemaining, perMinute, perDay }) {
      if (verdict === "key_banned") {
        const bannedUntil = at + retryAfterSeconds * 1_000;
        add(`ban ${keyId} ${Math.round(bannedUntil / minuteMs)}`, { kind: "ban", accountId, keyId, bannedUntil, at });
      } else if (verdict === "rate_limit_exceeded") {
        const hour = Math.floor(at / (60 * minuteMs));
        const limits = [
          ["minute", minuteRemaining, perMinute],
          ["day", dayRemaining, perDay],
        ] as const;
        for (const [window, remaining, limit] of limits)
          if (remaining === 0) add(`${window} ${accountId} ${hour}`, { kind: "limit", accountId, window, limit, at });
      }
    },
    close: async () => recording.running(),
  };
}
