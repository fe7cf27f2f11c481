import sql, { bulk, raw, join, type Sql } from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Row, Transaction } from "../../platform/db/database.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { intervals, retention, spanOf, startOf, type Counts, type Interval, type Kind } from "./usage.ts";

/** The most rows of one statement. */
const rowsPerInsert = 50;
/** The intervals of one read. An account has up to 1,000 keys, and about 100 operations, so an interval has as many rows. */
const intervalsPerRead: Record<Kind, number> = { key: 5, operation: 25 };
/** The names that are listed. */
const namesMax = 50;

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
export async function readUsage(db: Database, accountId: number, interval: Interval, now: number): Promise<Point[]> {
  const points: Point[] = [];
  for (const some of partsOf("operation", accountId, interval, now)) {
    const rows = await db.scan(() =>
      db.query(sql`
        SELECT start, SUM(requests) AS requests, SUM(refused) AS refused, SUM(banned) AS banned FROM usage
        WHERE ${some} GROUP BY start ORDER BY start`),
    );
    points.push(...rows.map(pointOf));
  }
  return points;
}

/** Lists the account's requests by interval and name, oldest interval first, for the 50 names with the most requests. */
export async function readUsageBy(
  db: Database,
  kind: Kind,
  accountId: number,
  interval: Interval,
  now: number,
): Promise<(Point & { name: string })[]> {
  const parts = partsOf(kind, accountId, interval, now);
  const totals = createTally<string>();
  for (const some of parts) {
    const all = sql`SELECT name, SUM(requests + refused + banned) AS total FROM usage WHERE ${some} GROUP BY name`;
    for (const { name, total } of await db.scan(() => db.query<{ name: string; total: number }>(all))) totals.add(name, total);
  }
  const names = [...totals.counts].toSorted(([a, most], [b, more]) => more - most || (a < b ? -1 : 1)).slice(0, namesMax);
  const points: (Point & { name: string })[] = [];
  for (const some of names.length > 0 ? parts : []) {
    const rows = await db.scan(() =>
      db.query(sql`
        SELECT name, start, requests, refused, banned FROM usage
        WHERE ${some} AND name IN (${join(names.map(([name]) => name))}) ORDER BY start`),
    );
    points.push(...rows.map((row) => ({ name: String(row["name"]), ...pointOf(row) })));
  }
  return points;
}

/** The conditions of the parts of an account's usage that are read one by one, oldest first. */
function partsOf(kind: Kind, accountId: number, interval: Interval, now: number): Sql[] {
  const { from, to } = spanOf(interval, now);
  const { stepMs } = retention[interval];
  const partMs = intervalsPerRead[kind] * stepMs;
  return Array.from({ length: Math.ceil((to - from) / partMs) }, (_, i) => {
    const start = from + i * partMs;
    return sql`account_id = ${accountId} AND step = ${stepMs} AND kind = ${kind} AND start >= ${start} AND start < ${Math.min(start + partMs, to)}`;
  });
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
