import sql, { type Sql } from "sql-template-tag";
import type { Database, Queryable, Transaction } from "../db/database.ts";

/** Something that nodes may have kept, as `{kind: "key", subject: "7"}` or `{kind: "domain", subject: "www.example.com"}`. */
export type Change = { kind: string; subject: string };
export type NumberedChange = Change & { number: number };

/** Changes, and rows of nodes that are gone, stay for a minute: any node that still has its lease has seen them long before. */
const keptMs = 60_000;

/** The database's clock, in ms: leases are measured by it alone, so the nodes' clocks need not agree. */
export function databaseTime(engine: Database["engine"]): Sql {
  return engine === "sqlite"
    ? sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`
    : sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`;
}

/** Numbers a change. One writer at a time holds the lock until its commit, so numbers become visible in their order. */
export async function insertChange(tx: Transaction, { kind, subject }: Change, now: Sql): Promise<number> {
  await tx.lock("changes");
  const rows = await tx.query(sql`
    INSERT INTO changes (number, kind, subject, made_at)
    SELECT COALESCE(MAX(number), 0) + 1, CAST(${kind} AS TEXT), CAST(${subject} AS TEXT), ${now} FROM changes RETURNING number`);
  return Number(rows[0]?.["number"]);
}

/** The number of the change that was made last, 0 before the first. */
export async function lastChange(db: Queryable): Promise<number> {
  const rows = await db.query(sql`SELECT COALESCE(MAX(number), 0) AS number FROM changes`);
  return Number(rows[0]?.["number"]);
}

/** The changes with a higher number, in their order. */
export async function changesAfter(db: Queryable, number: number): Promise<NumberedChange[]> {
  const rows = await db.query(sql`SELECT number, kind, subject FROM changes WHERE number > ${number} ORDER BY number`);
  return rows.map((row) => ({ number: Number(row["number"]), kind: String(row["kind"]), subject: String(row["subject"]) }));
}

/** Takes a lease of `leaseMs` from now. */
export async function takeLease(tx: Transaction, id: string, seen: number, leaseMs: number, now: Sql): Promise<void> {
  await tx.query(sql`INSERT INTO nodes (id, lease_until, seen) VALUES (${id}, ${now} + ${leaseMs}, ${seen})`);
}

/** Prolongs a lease to `leaseMs` from now. Returns the number of nodes with a lease, this one included, or 0 if its own has ended. */
export async function renewLease(tx: Transaction, id: string, seen: number, leaseMs: number, now: Sql): Promise<number> {
  const rows = await tx.query(sql`
    UPDATE nodes SET lease_until = ${now} + ${leaseMs}, seen = ${seen} WHERE id = ${id} AND lease_until > ${now}
    RETURNING (SELECT COUNT(*) FROM nodes AS live WHERE live.lease_until > ${now}) AS live`);
  return Number(rows[0]?.["live"] ?? 0);
}

/** Nodes with a lease. */
export async function countLive(db: Queryable, now: Sql): Promise<number> {
  const rows = await db.query(sql`SELECT COUNT(*) AS live FROM nodes WHERE lease_until > ${now}`);
  return Number(rows[0]?.["live"]);
}

/** SQL: whether the lease has ended that a column names; unknown where it names none. */
export function leaseHasEnded(column: Sql, now: Sql): Sql {
  return sql`(${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM nodes node WHERE node.id = ${column} AND node.lease_until > ${now}))`;
}

/** Nodes that may still act on what was true before the change. */
export async function countUnconfirmed(db: Queryable, number: number, now: Sql): Promise<number> {
  const rows = await db.query(sql`SELECT COUNT(*) AS n FROM nodes WHERE seen < ${number} AND lease_until > ${now}`);
  return Number(rows[0]?.["n"]);
}

/** Gives up a node's lease. */
export async function deleteNode(tx: Transaction, id: string): Promise<void> {
  await tx.query(sql`DELETE FROM nodes WHERE id = ${id}`);
}

/** Deletes what no node needs. The last change stays, since the next one is numbered after it. */
export async function expireChanges(tx: Transaction, now: Sql): Promise<void> {
  await tx.query(sql`DELETE FROM changes WHERE made_at < ${now} - ${keptMs} AND number < (SELECT MAX(number) FROM changes)`);
  await tx.query(sql`DELETE FROM nodes WHERE lease_until < ${now} - ${keptMs}`);
}
