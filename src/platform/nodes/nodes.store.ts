import sql, { type Sql } from "sql-template-tag";
import type { Database, Queryable, Transaction } from "../db/database.ts";
import { foldingVersion } from "../normalize.ts";

/** Names what nodes may have cached, as `{kind: "key", subject: "7"}` or `{kind: "domain", subject: "www.example.com"}`. */
export type Change = { kind: string; subject: string };
export type NumberedChange = Change & { number: number };

/** Changes and ended leases are kept for a minute. By then every node that still has a lease has long applied the changes. */
const keptMs = 60_000;

/** The database's clock, in ms. It alone measures leases, so the nodes' clocks need not agree. */
export function databaseTime(engine: Database["engine"]): Sql {
  return engine === "sqlite"
    ? sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`
    : sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`;
}

/** Inserts a change with the next number. Its transaction holds a lock until the commit, so that numbers become visible in their order. */
export async function insertChange(tx: Transaction, { kind, subject }: Change, now: Sql): Promise<number> {
  await tx.lock("changes");
  const rows = await tx.query(sql`
    INSERT INTO changes (number, kind, subject, made_at)
    SELECT COALESCE(MAX(number), 0) + 1, CAST(${kind} AS TEXT), CAST(${subject} AS TEXT), ${now} FROM changes RETURNING number`);
  return Number(rows[0]?.["number"]);
}

/** Returns the number of the last change, 0 before the first. */
export async function lastChange(db: Pick<Queryable, "query">): Promise<number> {
  const rows = await db.query(sql`SELECT COALESCE(MAX(number), 0) AS number FROM changes`);
  return Number(rows[0]?.["number"]);
}

/** Lists the changes with a higher number, in their order. */
export async function changesAfter(db: Pick<Queryable, "query">, number: number): Promise<NumberedChange[]> {
  const rows = await db.query(sql`SELECT number, kind, subject FROM changes WHERE number > ${number} ORDER BY number`);
  return rows.map((row) => ({ number: Number(row["number"]), kind: String(row["kind"]), subject: String(row["subject"]) }));
}

export type Lease = {
  id: string;
  /** The number of the last change that the node has applied. */
  seen: number;
  /** The ids of the keys that the node encrypts secrets with, the current one first, separated by commas; null if it does not say. */
  secretsKeys: string | null;
};

/** Inserts a lease of `leaseMs` from now. */
export async function takeLease(tx: Transaction, { id, seen, secretsKeys }: Lease, leaseMs: number, now: Sql): Promise<void> {
  await tx.query(sql`
    INSERT INTO nodes (id, lease_until, seen, secrets_keys, records_events, folding)
    VALUES (${id}, ${now} + ${leaseMs}, ${seen}, ${secretsKeys}, TRUE, ${foldingVersion})`);
}

/** The ids of the keys that each node with a lease holds, as in its `Lease`. */
export async function liveSecretsKeys(db: Pick<Database, "engine" | "query">): Promise<(string | null)[]> {
  const rows = await db.query<{ secrets_keys: string | null }>(sql`
    SELECT secrets_keys FROM nodes WHERE lease_until > ${databaseTime(db.engine)}`);
  return rows.map((row) => row.secrets_keys);
}

/** Whether a node with a lease makes other keys of names than this release. */
export async function hasOtherFoldings(db: Pick<Database, "engine" | "query">): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT 1 FROM nodes WHERE lease_until > ${databaseTime(db.engine)} AND folding IS DISTINCT FROM ${foldingVersion} LIMIT 1`);
  return rows.length > 0;
}

/** Extends a lease to `leaseMs` from now. Returns the number of nodes with a lease, including this one, or 0 if its own lease has ended. */
export async function renewLease(tx: Transaction, id: string, seen: number, leaseMs: number, now: Sql): Promise<number> {
  const rows = await tx.query(sql`
    UPDATE nodes SET lease_until = ${now} + ${leaseMs}, seen = ${seen} WHERE id = ${id} AND lease_until > ${now}
    RETURNING (SELECT COUNT(*) FROM nodes AS live WHERE live.lease_until > ${now}) AS live`);
  return Number(rows[0]?.["live"] ?? 0);
}

/** Counts the nodes with a lease. */
export async function countLive(db: Pick<Queryable, "query">, now: Sql): Promise<number> {
  const rows = await db.query(sql`SELECT COUNT(*) AS live FROM nodes WHERE lease_until > ${now}`);
  return Number(rows[0]?.["live"]);
}

/** An SQL condition: the lease whose id is in the column has ended; false where the column is NULL. */
export function leaseHasEnded(column: Sql, now: Sql): Sql {
  return sql`(${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM nodes node WHERE node.id = ${column} AND node.lease_until > ${now}))`;
}

/** Counts the nodes with a lease that have not acknowledged the change. */
export async function countUnacknowledged(db: Pick<Queryable, "query">, number: number, now: Sql): Promise<number> {
  const rows = await db.query(sql`SELECT COUNT(*) AS n FROM nodes WHERE seen < ${number} AND lease_until > ${now}`);
  return Number(rows[0]?.["n"]);
}

/** Deletes a lease. */
export async function deleteNode(tx: Transaction, id: string): Promise<void> {
  await tx.query(sql`DELETE FROM nodes WHERE id = ${id}`);
}

/** Deletes old changes and leases. The last change stays, because the next one is numbered after it. */
export async function expireChanges(tx: Transaction, now: Sql): Promise<void> {
  await tx.query(sql`DELETE FROM changes WHERE made_at < ${now} - ${keptMs} AND number < (SELECT MAX(number) FROM changes)`);
  await tx.query(sql`DELETE FROM nodes WHERE lease_until < ${now} - ${keptMs}`);
}
