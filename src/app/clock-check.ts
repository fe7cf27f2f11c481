import sql from "sql-template-tag";
import type { Database } from "../platform/db/database.ts";

/** Clocks of machines with a time server differ by seconds. */
const offMsMax = 60 * 60_000;

/**
 * Compares this machine's clock with that of PostgreSQL, before anything is written. A wrong clock would end sessions of all nodes, and
 * forget their answers under Idempotency-Keys, too early.
 *
 * @throws Error with one line if they differ by more than an hour
 */
export async function requireSameClock(db: Pick<Database, "engine" | "query">, clock: () => number): Promise<void> {
  if (db.engine === "sqlite") return;
  const [row] = await db.query<{ now: number }>(sql`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now`);
  const aheadMs = clock() - Number(row?.now);
  if (Math.abs(aheadMs) <= offMsMax) return;
  const side = aheadMs > 0 ? "ahead of" : "behind";
  throw new Error(`the clock of this machine is ${hours(aheadMs)} hours ${side} that of PostgreSQL: set the wrong one before the start`);
}

/** Returns a line that says by how much the clock is behind the newest data; undefined if it is not. The database must be up to date. */
export async function clockBehind(db: Pick<Database, "query">, now: number): Promise<string | undefined> {
  const [row] = await db.query<{ newest: number | null }>(sql`
    SELECT MAX(at) AS newest FROM (SELECT MAX(created_at) AS at FROM idempotency UNION ALL SELECT MAX(created_at) FROM sessions
      UNION ALL SELECT MAX(applied_at) FROM migrations) AS times`);
  const newest = row?.newest ?? 0;
  if (newest - now <= offMsMax) return undefined;
  return `the clock is ${hours(newest - now)} hours behind the newest data, of ${new Date(newest).toISOString()}: set it, or new rows are dated before old ones`;
}

function hours(ms: number): string {
  return (Math.abs(ms) / 3_600_000).toFixed(1);
}
