import sql, { bulk, raw, join } from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Row, Transaction } from "../../platform/db/database.ts";
import { intervals, retention, spanOf, startOf, type Counts, type Interval, type Kind } from "./usage.ts";

/** The most rows of one statement. */
const rowsPerInsert = 50;

/** The counts of one minute (its start in ms) under one name. */
export type UsageCounts = Counts & { accountId: number; minute: number; kind: Kind; name: string };

/** Adds counts to their minute, hour and day. Skips those of deleted accounts. */
export async function addUsage(tx: Transaction, counted: readonly UsageCounts[]): Promise<void> {
  if (counted.length === 0) return;
  const ids = [...new Set(counted.map(({ accountId }) => accountId))];
  const found = await tx.query(sql`SELECT id FROM accounts WHERE id IN (${join(ids)})`);
  const live = new Set(found.map((row) => Number(row["id"])));
  const rows = intervals.flatMap((interval) => summed(counted, retention[interval].stepMs)).filter(([accountId]) => live.has(accountId));
  for (let i = 0; i < rows.length; i += rowsPerInsert) {
    await tx.query(sql`
      INSERT INTO usage (account_id, step, kind, start, name, requests, refused, banned) VALUES ${bulk(rows.slice(i, i + rowsPerInsert))}
      ON CONFLICT (account_id, step, kind, start, name) DO UPDATE SET
        requests = usage.requests + excluded.requests, refused = usage.refused + excluded.refused, banned = usage.banned + excluded.banned`);
  }
}

type UsageRow = [number, number, Kind, number, string, number, number, number];

/** Returns one row for each interval and name. All nodes write them in the same order, so they cannot deadlock. */
function summed(counted: readonly UsageCounts[], stepMs: number): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const { accountId, minute, kind, name, requests, refused, banned } of counted) {
    const start = startOf(minute, stepMs);
    const id = `${accountId} ${kind} ${start} ${name}`;
    const row = rows.get(id) ?? [accountId, stepMs, kind, start, name, 0, 0, 0];
    row[5] += requests;
    row[6] += refused;
    row[7] += banned;
    rows.set(id, row);
  }
  return [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

export type Point = Counts & { start: number };

/** Lists the account's requests by interval, oldest first, as far back as they are kept. */
export async function readUsage(db: Queryable, accountId: number, interval: Interval, now: number): Promise<Point[]> {
  const { from, to } = spanOf(interval, now);
  const rows = await db.query(sql`
    SELECT start, SUM(requests) AS requests, SUM(refused) AS refused, SUM(banned) AS banned FROM usage
    WHERE account_id = ${accountId} AND step = ${retention[interval].stepMs} AND kind = 'operation' AND start >= ${from} AND start < ${to}
    GROUP BY start ORDER BY start`);
  return rows.map(pointOf);
}

/** Lists the account's requests by interval and name, oldest interval first, for the 50 names with the most requests. */
export async function readUsageBy(
  db: Queryable,
  kind: Kind,
  accountId: number,
  interval: Interval,
  now: number,
): Promise<(Point & { name: string })[]> {
  const { from, to } = spanOf(interval, now);
  const range = sql`account_id = ${accountId} AND step = ${retention[interval].stepMs} AND kind = ${kind} AND start >= ${from} AND start < ${to}`;
  const rows = await db.query(sql`
    SELECT name, start, requests, refused, banned FROM usage
    WHERE ${range} AND name IN
      (SELECT name FROM usage WHERE ${range} GROUP BY name ORDER BY SUM(requests + refused + banned) DESC, name LIMIT 50)
    ORDER BY start`);
  return rows.map((row) => ({ name: String(row["name"]), ...pointOf(row) }));
}

/** Deletes intervals that are older than their retention, or than the last `daysKept` days. Default: 90. */
export async function expireUsage(db: Database, now: number, daysKept = retention.day.count): Promise<void> {
  const key = raw("account_id, step, kind, start, name");
  for (const interval of intervals) {
    const shown = spanOf(interval, now).from;
    const first = startOf(now, retention.day.stepMs) - (daysKept - 1) * retention.day.stepMs;
    const from = interval === "day" ? first : Math.max(shown, first);
    await writeInBatches(
      db,
      (limit) => sql`
        DELETE FROM usage WHERE (${key}) IN
          (SELECT ${key} FROM usage WHERE step = ${retention[interval].stepMs} AND start < ${from} ${limit}) RETURNING 1`,
    );
  }
}

function pointOf(row: Row): Point {
  return {
    start: Number(row["start"]),
    requests: Number(row["requests"]),
    refused: Number(row["refused"]),
    banned: Number(row["banned"]),
  };
}
