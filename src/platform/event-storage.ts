import sql, { join, raw } from "sql-template-tag";
import type { Queryable, Transaction } from "./db/database.ts";

/**
 * How many bytes the events of each account take, and may take (specification 8.8, decision 0100). An event is counted in the transaction that
 * appends it to the log, and taken off in the one that deletes it.
 */
export type EventBytes = {
  /** The log that readers get: from its start, every event. */
  log: number;
  /** The events of the audit that are older than the log. */
  audit: number;
  limit: number;
};

/** What an event takes beside its text: its other columns, and its entries in two indexes. Measured: 200 bytes. */
export const eventOverheadBytes = 256;
/** The bytes of an event in a SELECT from `events`. */
export const eventBytes = raw(`octet_length(text) + ${eventOverheadBytes}`);
const limit = "CASE WHEN kept_bytes > bytes_max THEN kept_bytes ELSE bytes_max END";
/** Whether a row of `event_storage` is over its limit. */
export const isOverLimit = raw(`log_bytes + audit_bytes > ${limit}`);
/** The limit of an account without a row: that of the free plan. Until 1.3.0: nodes of 1.1.0 make accounts without one. */
const limitDefault = 268_435_456;

/** The bytes of an event with this text. */
export function bytesOfEvent(text: string): number {
  return Buffer.byteLength(text) + eventOverheadBytes;
}

/** Sets an account's limit. With `keeps`, an account that holds more has that size as its limit, which falls as its events grow too old. */
export async function setEventBytesMax(tx: Transaction, accountId: number, bytesMax: number, { keeps = false } = {}): Promise<void> {
  const kept = raw(keeps ? "event_storage.log_bytes + event_storage.audit_bytes" : "0");
  await tx.query(sql`
    INSERT INTO event_storage (account_id, bytes_max) VALUES (${accountId}, ${bytesMax})
    ON CONFLICT (account_id) DO UPDATE SET bytes_max = excluded.bytes_max, kept_bytes = ${kept}`);
}

/** Returns the bytes of these accounts' events, by account. */
export async function readEventBytes(db: Queryable, accountIds: readonly number[]): Promise<(accountId: number) => EventBytes> {
  const rows = await db.query<EventBytes & { id: number }>(sql`
    SELECT account_id AS id, log_bytes AS log, audit_bytes AS audit, ${raw(limit)} AS "limit"
    FROM event_storage WHERE account_id IN (${join(accountIds)})`);
  const byAccount = new Map(rows.map(({ id, ...bytes }) => [id, bytes]));
  return (accountId) => byAccount.get(accountId) ?? { log: 0, audit: 0, limit: limitDefault };
}
