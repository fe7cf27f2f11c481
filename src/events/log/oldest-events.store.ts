import sql, { bulk, join } from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import { limitTo } from "../../platform/db/batches.ts";
import type { Transaction } from "../../platform/db/database.ts";
import { eventBytes, readEventBytes, type EventBytes } from "../../platform/event-storage.ts";
import type { EventType } from "../../platform/event-types.ts";
import { emptyHead } from "../../platform/events.ts";
import { auditTypes } from "./audit.ts";

/** The most events that one transaction deletes, and about the most bytes: so few that it takes some milliseconds. */
const stepMax = 500;
const stepBytesMax = 4_194_304;
const isAuditType: ReadonlySet<string> = new Set(auditTypes);

/**
 * The events of an account in two parts: the log, of which every event from `start` on is kept, and before it the events of the audit alone.
 * Deletions move the start of the log. The events of the audit that it passes are then in the other part.
 */
export type Log = EventBytes & { accountId: number; start: number };

export type SizedEvent = { position: number; type: EventType; at: number; hash: string; bytes: number; isAudit: boolean };

/** Why events are deleted. An account that keeps more than its limit keeps less once some are deleted for their age. */
type Reason = "age" | "limit";

/** Locks a log against other deletions, and returns it; undefined if its account was deleted. Events may still be appended. */
export async function lockLog(tx: Transaction, accountId: number): Promise<Log | undefined> {
  await tx.query(sql`
    INSERT INTO event_starts (account_id, position, previous_hash) SELECT id, 1, ${emptyHead.hash} FROM accounts WHERE id = ${accountId}
    ON CONFLICT (account_id) DO NOTHING`);
  const [row] = await tx.query<{ position: number }>(sql`
    SELECT position FROM event_starts WHERE account_id = ${accountId}${tx.forUpdate}`);
  if (!row) return undefined;
  const bytesOf = await readEventBytes(tx, [accountId]);
  return { accountId, start: row.position, ...bytesOf(accountId) };
}

/** The oldest events of a log, without the newest of all: the next event needs its position and hash. */
export async function oldestEvents(tx: Transaction, { accountId, start }: Log): Promise<SizedEvent[]> {
  return sized(
    await tx.query<SizedEvent>(sql`
      SELECT position, type, at, hash, ${eventBytes} AS bytes FROM events WHERE account_id = ${accountId} AND position >= ${start}
        AND position < (SELECT MAX(position) FROM events WHERE account_id = ${accountId}) ORDER BY position ${limitTo(stepMax)}`),
  );
}

/** Moves the start of a log beyond these events, its oldest. */
export async function passEvents(tx: Transaction, { accountId, start }: Log, events: readonly SizedEvent[], why: Reason): Promise<void> {
  const last = events.at(-1)!;
  const audit = events.filter(({ isAudit }) => isAudit);
  const [bytes, auditBytes] = [sumOf(events), sumOf(audit)];
  await tx.query(sql`
    UPDATE event_starts SET position = ${last.position + 1}, previous_hash = ${last.hash} WHERE account_id = ${accountId}`);
  await tx.query(sql`
    DELETE FROM events WHERE account_id = ${accountId} AND position >= ${start} AND position <= ${last.position}
      AND type NOT IN (${join(auditTypes)})`);
  await countAudit(tx, accountId, audit, 1);
  await count(tx, accountId, { log: -bytes, audit: auditBytes }, why === "age" ? bytes - auditBytes : 0);
}

/** The oldest events of the audit before the log. */
export async function oldestOfAudit(tx: Transaction, { accountId, start }: Log): Promise<SizedEvent[]> {
  return sized(
    await tx.query<SizedEvent>(sql`
      SELECT position, type, at, hash, ${eventBytes} AS bytes FROM events WHERE account_id = ${accountId} AND position < ${start}
      ORDER BY position ${limitTo(stepMax)}`),
  );
}

/** The newest events of the day and type that take most of the audit before the log, as far as they take more than any other. */
export async function newestOfLargestGroup(tx: Transaction, { accountId, start }: Log): Promise<SizedEvent[]> {
  const [largest, second] = await tx.query<{ day: number; type: EventType; bytes: number; last: number }>(sql`
    SELECT day, type, bytes, last_position AS last FROM audit_storage WHERE account_id = ${accountId}
    ORDER BY bytes DESC, day DESC, type ${limitTo(2)}`);
  if (!largest) return [];
  const { day, type, last } = largest;
  const events = sized(
    await tx.query<SizedEvent>(sql`
      SELECT position, type, at, hash, ${eventBytes} AS bytes FROM events
      WHERE account_id = ${accountId} AND type = ${type} AND position <= ${last} AND position < ${start}
        AND at >= ${day * dayMs} AND at < ${(day + 1) * dayMs} ORDER BY position DESC ${limitTo(stepMax)}`),
  );
  return firstOf(events, Math.max(1, largest.bytes - (second?.bytes ?? 0)));
}

/** Deletes events of the audit that are before the log. */
export async function deleteAudit(tx: Transaction, { accountId }: Log, events: readonly SizedEvent[], why: Reason): Promise<void> {
  const bytes = sumOf(events);
  await tx.query(sql`DELETE FROM events WHERE account_id = ${accountId} AND position IN (${join(events.map(({ position }) => position))})`);
  await countAudit(tx, accountId, events, -1);
  await tx.query(sql`DELETE FROM audit_storage WHERE account_id = ${accountId} AND bytes <= 0`);
  await count(tx, accountId, { log: 0, audit: -bytes }, why === "age" ? bytes : 0);
}

/** The first of these events that take at least so many bytes together, or all of them. */
export function firstOf(events: readonly SizedEvent[], bytes: number): SizedEvent[] {
  let taken = 0;
  const end = events.findIndex((event) => (taken += event.bytes) >= bytes);
  return end === -1 ? [...events] : events.slice(0, end + 1);
}

function sized(rows: SizedEvent[]): SizedEvent[] {
  return firstOf(
    rows.map((row) => ({ ...row, isAudit: isAuditType.has(row.type) })),
    stepBytesMax,
  );
}

function sumOf(events: readonly SizedEvent[]): number {
  return events.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Adds events to the counts of their days and types, or takes them off. */
async function countAudit(tx: Transaction, accountId: number, events: readonly SizedEvent[], sign: 1 | -1): Promise<void> {
  const groups = Map.groupBy(events, ({ at, type }) => `${Math.floor(at / dayMs)} ${type}`);
  if (groups.size === 0) return;
  const rows = [...groups.values()].map((own) => {
    const { at, type } = own[0]!;
    return [accountId, Math.floor(at / dayMs), type, sign * sumOf(own), Math.max(...own.map(({ position }) => position))];
  });
  await tx.query(sql`
    INSERT INTO audit_storage (account_id, day, type, bytes, last_position) VALUES ${bulk(rows)}
    ON CONFLICT (account_id, day, type) DO UPDATE SET bytes = audit_storage.bytes + excluded.bytes, last_position =
      CASE WHEN excluded.last_position > audit_storage.last_position THEN excluded.last_position ELSE audit_storage.last_position END`);
}

/** Comes last in a transaction: on PostgreSQL the numbering of new events waits for this row. */
async function count(tx: Transaction, accountId: number, { log, audit }: { log: number; audit: number }, aged: number): Promise<void> {
  await tx.query(sql`
    UPDATE event_storage SET log_bytes = log_bytes + ${log}, audit_bytes = audit_bytes + ${audit},
      kept_bytes = CASE WHEN kept_bytes > ${aged} THEN kept_bytes - ${aged} ELSE 0 END WHERE account_id = ${accountId}`);
}
