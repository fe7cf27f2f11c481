import sql, { type Sql } from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { deleteAudit, lockLog, oldestEvents, oldestOfAudit, passEvents, type SizedEvent } from "./oldest-events.store.ts";

/** The most accounts of one read. */
const accountsMax = 1_000;

/** For how many days all events are kept, and for how many those of the audit. */
export type Retention = { eventDaysKept: number; auditDaysKept: number };

/**
 * Deletes old events. `event_starts` then has the position from which every event is kept, and the hash of the event before it.
 * Older events of the audit stay in the table, but only the audit shows them. The newest event always stays, because the next event
 * needs its position and hash.
 */
export async function expireEvents(db: Database, now: number, { eventDaysKept, auditDaysKept }: Retention): Promise<void> {
  const [before, auditBefore] = [now - eventDaysKept * dayMs, now - Math.max(eventDaysKept, auditDaysKept) * dayMs];
  for (let after = 0; ;) {
    const some = sql`
      SELECT accounts.id, COALESCE(event_starts.position, 1) AS start FROM accounts
      LEFT JOIN event_starts ON event_starts.account_id = accounts.id WHERE accounts.id > ${after} ORDER BY accounts.id ${limitTo(accountsMax)}`;
    const accounts = await db.scan(() => db.query<{ id: number; start: number }>(some));
    for (const { id, start } of accounts) {
      const [oldest, next] = await firstTimes(db, id, sql`position >= ${start}`);
      if (next !== undefined && oldest! < before) await inSteps(db, (tx) => expireLog(tx, id, before));
      const [oldestOfAll] = await firstTimes(db, id, sql`position < (SELECT position FROM event_starts WHERE account_id = ${id})`);
      if (oldestOfAll !== undefined && oldestOfAll < auditBefore) await inSteps(db, (tx) => expireAudit(tx, id, auditBefore));
    }
    if (accounts.length < accountsMax) return;
    after = accounts.at(-1)!.id;
  }
}

/** The times of the first two events that fulfil a condition. */
async function firstTimes(db: Database, accountId: number, where: Sql): Promise<number[]> {
  const two = sql`SELECT at FROM events WHERE account_id = ${accountId} AND ${where} ORDER BY position LIMIT 2`;
  const rows = await db.scan(() => db.query<{ at: number }>(two));
  return rows.map(({ at }) => at);
}

async function inSteps(db: Database, step: (tx: Transaction) => Promise<boolean>): Promise<void> {
  while (await db.write(step));
}

/** Returns whether more events may be too old. */
async function expireLog(tx: Transaction, accountId: number, before: number): Promise<boolean> {
  const log = await lockLog(tx, accountId);
  const events = log ? await oldestEvents(tx, log) : [];
  const old = olderThan(events, before);
  if (old.length > 0) await passEvents(tx, log!, old, "age");
  return old.length > 0 && old.length === events.length;
}

/** Returns whether more events may be too old. */
async function expireAudit(tx: Transaction, accountId: number, before: number): Promise<boolean> {
  const log = await lockLog(tx, accountId);
  const events = log ? await oldestOfAudit(tx, log) : [];
  const old = olderThan(events, before);
  if (old.length > 0) await deleteAudit(tx, log!, old, "age");
  return old.length > 0 && old.length === events.length;
}

/** The events before the first that is not too old. */
function olderThan(events: readonly SizedEvent[], before: number): readonly SizedEvent[] {
  const kept = events.findIndex(({ at }) => at >= before);
  return kept === -1 ? events : events.slice(0, kept);
}
