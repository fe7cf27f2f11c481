import sql, { join } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database } from "../../platform/db/database.ts";
import { auditTypes } from "./audit.ts";
import { newestEvent } from "./events.store.ts";

const dayMs = 86_400_000;
/** The most accounts of one read, and the most events deleted in one transaction. */
const batchMax = 1_000;

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
      LEFT JOIN event_starts ON event_starts.account_id = accounts.id WHERE accounts.id > ${after} ORDER BY accounts.id ${limitTo(batchMax)}`;
    const accounts = await db.scan(() => db.query<{ id: number; start: number }>(some));
    for (const { id, start } of accounts) {
      await expireLog(db, id, start, before);
      await expireAudit(db, id, auditBefore);
    }
    if (accounts.length < batchMax) return;
    after = accounts.at(-1)!.id;
  }
}

async function expireLog(db: Database, accountId: number, from: number, before: number): Promise<void> {
  const newest = await newestEvent(db, accountId);
  for (let start = from; ;) {
    const next = sql`
      SELECT position, at, hash FROM events WHERE account_id = ${accountId} AND position >= ${start} AND position < ${newest.position}
      ORDER BY position ${limitTo(batchMax)}`;
    const page = await db.scan(() => db.query<{ position: number; at: number; hash: string }>(next));
    const kept = page.findIndex(({ at }) => at >= before);
    const last = kept === -1 ? page.at(-1) : page[kept - 1];
    if (!last) return;
    await db.write(async (tx) => {
      await tx.query(sql`
        INSERT INTO event_starts (account_id, position, previous_hash) VALUES (${accountId}, ${last.position + 1}, ${last.hash})
        ON CONFLICT (account_id) DO UPDATE SET position = excluded.position, previous_hash = excluded.previous_hash
        WHERE event_starts.position < excluded.position`);
      await tx.query(sql`
        DELETE FROM events WHERE account_id = ${accountId} AND position >= ${start} AND position <= ${last.position}
          AND type NOT IN (${join(auditTypes)})`);
    });
    if (kept !== -1 || page.length < batchMax) return;
    start = last.position + 1;
  }
}

async function expireAudit(db: Database, accountId: number, before: number): Promise<void> {
  const old = sql`account_id = ${accountId} AND at < ${before} AND position < (SELECT position FROM event_starts WHERE account_id = ${accountId})`;
  const [found] = await db.scan(() => db.query(sql`SELECT 1 FROM events WHERE ${old} LIMIT 1`));
  if (found) await db.write((tx) => tx.query(sql`DELETE FROM events WHERE ${old}`));
}
