import sql from "sql-template-tag";
import { createCache } from "../../platform/cache.ts";
import { minuteMs, hourMs } from "../../platform/clock.ts";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import type { EventType } from "../../platform/event-types.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { coalesced } from "../../platform/jobs/runs.ts";
import type { Decision } from "./windows.ts";

/** How many limits and bans this process remembers, so that it records each once. */
const seenMax = 10_000;
/** The most events in the queue. A refusal that finds it full is not recorded. */
const queueMax = 1_000;
/** Events recorded in one transaction. */
const batchMax = 50;

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

/** How many of the newest events a new one is compared with. An hour has at most two `limit.reached`, and each ban one `key.banned`. */
const newestMax = 100;
/** Bans of a key that end within this time (ms) of each other are the same ban: each node computes the end from a different answer. */
const sameBanMs = 10_000;

/** A limit that an account reached, or a ban of one of its keys. Times in ms since the Unix epoch. */
type LimitEvent = { accountId: number; at: number } & (
  | { kind: "limit"; window: "minute" | "day"; limit: number }
  | { kind: "ban"; keyId: number; bannedUntil: number }
);

/** Records an event unless a node has already recorded it: a limit once for each window and UTC hour, a ban once. */
async function recordOnce(tx: Transaction, event: LimitEvent): Promise<void> {
  const { accountId, at } = event;
  await tx.lock(`limit events of ${accountId}`);
  if (event.kind === "limit") {
    const { window, limit } = event;
    const isSame = (one: LimitRecord) => one.data.window === window && hourOf(one.at) === hourOf(at);
    if ((await newestEvents(tx, accountId, "limit.reached")).some(isSame)) return;
    const data = { id: accountId, window, limit };
    tx.record({ accountId, type: "limit.reached", resource: { type: "account", id: accountId }, data }, { at });
    return;
  }
  const { keyId, bannedUntil } = event;
  const isSame = ({ data }: LimitRecord) => data.id === keyId && Math.abs(Date.parse(data.bannedUntil ?? "") - bannedUntil) < sameBanMs;
  if ((await newestEvents(tx, accountId, "key.banned")).some(isSame)) return;
  const data = { id: keyId, bannedUntil: formatDateTime(bannedUntil) };
  tx.record({ accountId, type: "key.banned", resource: { type: "key", id: keyId }, data }, { at });
}

const hourOf = (time: number): number => Math.floor(time / hourMs);

type LimitRecord = { at: number; data: { id: number; window?: string; bannedUntil?: string } };

/**
 * Returns the newest events of a type, including those without a position. One statement reads both tables, because an event
 * moves from `event_outbox` to `events` when it gets its position.
 */
async function newestEvents(tx: Transaction, accountId: number, type: EventType): Promise<LimitRecord[]> {
  const rows = await tx.query<{ at: number; text: string }>(sql`
    SELECT at, text FROM (
      SELECT at, text FROM events WHERE account_id = ${accountId} AND type = ${type}
      ORDER BY account_id DESC, type DESC, position DESC ${limitTo(newestMax)}
    ) AS newest
    UNION ALL SELECT at, head || '0' || tail AS text FROM event_outbox WHERE account_id = ${accountId} AND type = ${type}`);
  return rows.map(({ at, text }) => ({ at, data: (JSON.parse(text) as LimitRecord).data }));
}
