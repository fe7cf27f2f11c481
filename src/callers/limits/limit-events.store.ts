import sql from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Transaction } from "../../platform/db/database.ts";
import type { EventType } from "../../platform/event-types.ts";
import { formatDateTime } from "../../platform/http/dates.ts";

const hourMs = 3_600_000;
/** How many of the newest events a new one is compared with. An hour has at most two `limit.reached`, and each ban one `key.banned`. */
const newestMax = 100;
/** Bans of a key that end within this time (ms) of each other are the same ban: each node computes the end from a different answer. */
const sameBanMs = 10_000;

/** A limit that an account reached, or a ban of one of its keys. Times in ms since the Unix epoch. */
export type LimitEvent = { accountId: number; at: number } & (
  | { kind: "limit"; window: "minute" | "day"; limit: number }
  | { kind: "ban"; keyId: number; bannedUntil: number }
);

/** Records an event unless a node has already recorded it: a limit once for each window and UTC hour, a ban once. */
export async function recordOnce(tx: Transaction, event: LimitEvent): Promise<void> {
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
