import sql, { bulk, join, raw } from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Queryable, Transaction, Database } from "../../platform/db/database.ts";

/** The most rows of one statement. */
const rowsPerInsert = 50;

/** How many pages of an account's storefronts were shown on a day: the days since 1970-01-01 in UTC. */
export type PageViews = { accountId: number; day: number; views: number };

/** Adds page views to their days. Skips those of deleted accounts. All nodes write the rows in the same order, so they cannot deadlock. */
export async function addPageViews(tx: Transaction, counted: readonly PageViews[]): Promise<void> {
  const found = await tx.query<{ id: number }>(
    sql`SELECT id FROM accounts WHERE id IN (${join(counted.map(({ accountId }) => accountId))})`,
  );
  const live = new Set(found.map(({ id }) => id));
  const rows = counted
    .filter(({ accountId }) => live.has(accountId))
    .toSorted((a, b) => a.accountId - b.accountId || a.day - b.day)
    .map(({ accountId, day, views }) => [accountId, day, views]);
  for (let i = 0; i < rows.length; i += rowsPerInsert)
    await tx.query(sql`
      INSERT INTO page_views (account_id, day, views) VALUES ${bulk(rows.slice(i, i + rowsPerInsert))}
      ON CONFLICT (account_id, day) DO UPDATE SET views = page_views.views + excluded.views`);
}

/** Returns the page views of an account from a day on, by day. A day without any has none. */
export async function readPageViews(db: Queryable, accountId: number, from: number): Promise<Map<number, number>> {
  const rows = await db.query<{ day: number; views: number }>(
    sql`SELECT day, views FROM page_views WHERE account_id = ${accountId} AND day >= ${from}`,
  );
  return new Map(rows.map(({ day, views }) => [day, views]));
}

/** Deletes the page views of all accounts before a day. */
export async function expirePageViews(db: Database, before: number): Promise<void> {
  const key = raw("account_id, day");
  await writeInBatches(
    db,
    (limit) => sql`DELETE FROM page_views WHERE (${key}) IN (SELECT ${key} FROM page_views WHERE day < ${before} ${limit}) RETURNING 1`,
  );
}
