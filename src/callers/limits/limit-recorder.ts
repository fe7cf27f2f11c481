import sql from "sql-template-tag";
import { type Cache, createCache } from "../../platform/cache.ts";
import { hourMs } from "../../platform/clock.ts";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import type { EventType } from "../../platform/event-types.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { coalesced } from "../../platform/jobs/runs.ts";
import type { Decision } from "./windows.ts";

/** How many limits of each window, and how many bans, this process remembers, so that it records each once. */
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
  // By account, the hour in which it last reached its limit of the window; by key, when its last ban ends.
  const minutes = createCache<number, number>(seenMax);
  const days = createCache<number, number>(seenMax);
  const bans = createCache<number, number>(seenMax);
  let queue: QueuedEvent[] = [];
  const recording = coalesced(recordAll);

  function add(seen: Cache<number, number>, id: number, time: number, event: LimitEvent): void {
    if (queue.length >= queueMax) return;
    seen.set(id, time);
    queue.push({ event, forget: () => seen.delete(id) });
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
        for (const { forget } of batch) forget();
        onError(error);
      }
    }
  }

  return {
    record(accountId, keyId, { verdict, at, retryAfterSeconds, minuteRemaining, dayRemaining, perMinute, perDay }) {
      if (verdict === "key_banned") {
        const bannedUntil = at + retryAfterSeconds * 1_000;
        if (isSameBan(bans.peek(keyId) ?? 0, bannedUntil)) return;
        add(bans, keyId, bannedUntil, { kind: "ban", accountId, keyId, bannedUntil, at });
      } else if (verdict === "rate_limit_exceeded") {
        const hour = hourOf(at);
        if (minuteRemaining === 0 && minutes.peek(accountId) !== hour)
          add(minutes, accountId, hour, { kind: "limit", accountId, window: "minute", limit: perMinute, at });
        if (dayRemaining === 0 && days.peek(accountId) !== hour)
          add(days, accountId, hour, { kind: "limit", accountId, window: "day", limit: perDay, at });
      }
    },
    close: async () => recording.running(),
  };
}

/** How many of the newest events a new one is compared with. An hour has at most two `limit.reached`, and each ban one `key.banned`. */
const newestMax = 100;
/** Bans of a key that end within this time (ms) of each other are the same ban: each node computes the end from a different answer. */
const sameBanMs = 10_000;
const isSameBan = (oneUntil: number, otherUntil: number): boolean => Math.abs(oneUntil - otherUntil) < sameBanMs;

/** A limit that an account reached, or a ban of one of its keys. Times in ms since the Unix epoch. */
type LimitEvent = { accountId: number; at: number } & (
  | { kind: "limit"; window: "minute" | "day"; limit: number }
  | { kind: "ban"; keyId: number; bannedUntil: number }
);
/** `forget`: makes the next such refusal queue the event again. */
type QueuedEvent = { event: LimitEvent; forget: () => void };

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
  const isSame = ({ data }: LimitRecord) => data.id === keyId && isSameBan(Date.parse(data.bannedUntil ?? ""), bannedUntil);
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
