import sql, { bulk, join, raw } from "sql-template-tag";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { stepsBack } from "../../platform/db/index-walk.ts";

/** The most rows of one statement. */
const rowsPerInsert = 50;
/** The most rows that a filter reads at once. */
const stepMax = 1_000;

export type LoggedRequest = {
  accountId: number;
  /** The time of the answer in ms × 1,000, plus a number that tells the requests of one ms apart. */
  position: number;
  keyId: number;
  method: string;
  /** The template of the path; null for a path that does not exist. */
  route: string | null;
  status: number;
};

/** Adds requests. Skips those of deleted accounts, and those whose position is taken. All nodes write the rows in the same order, so they cannot deadlock. */
export async function insertRequests(tx: Transaction, requests: readonly LoggedRequest[]): Promise<void> {
  const ids = [...new Set(requests.map(({ accountId }) => accountId))];
  const found = await tx.query<{ id: number }>(sql`SELECT id FROM accounts WHERE id IN (${join(ids)})`);
  const live = new Set(found.map(({ id }) => id));
  const rows = requests
    .filter(({ accountId }) => live.has(accountId))
    .toSorted((a, b) => a.accountId - b.accountId || a.position - b.position)
    .map(({ accountId, position, keyId, method, route, status }) => [accountId, position, keyId, method, route, status]);
  for (let i = 0; i < rows.length; i += rowsPerInsert)
    await tx.query(sql`
      INSERT INTO request_log (account_id, position, key_id, method, route, status) VALUES ${bulk(rows.slice(i, i + rowsPerInsert))}
      ON CONFLICT (account_id, position) DO NOTHING`);
}

/** Deletes the requests of an account but the newest `kept`. */
export async function trimRequests(db: Database, accountId: number, kept: number): Promise<void> {
  const oldest = sql`SELECT position FROM request_log WHERE account_id = ${accountId} ORDER BY position DESC ${limitTo(1)} OFFSET ${kept - 1}`;
  const [row] = await db.scan(() => db.query<{ position: number }>(oldest));
  if (!row) return;
  const before = row.position;
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM request_log WHERE account_id = ${accountId} AND position IN
        (SELECT position FROM request_log WHERE account_id = ${accountId} AND position < ${before} ${limit}) RETURNING 1`,
  );
}

/** Deletes the requests of all accounts before a time (ms). */
export async function expireRequests(db: Database, before: number): Promise<void> {
  const key = raw("account_id, position");
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM request_log WHERE (${key}) IN (SELECT ${key} FROM request_log WHERE position < ${before * 1_000} ${limit}) RETURNING 1`,
  );
}

/** `statusClass`: 2 for a 200. */
export type RequestFilter = { keyId: number | undefined; statusClass: number | undefined };

type LogRow = [position: number, keyId: number, method: string, route: string | null, status: number];

/**
 * Returns up to `limit` requests of an account before a position that pass the filter, newest first, and one more if there is one. A filter looks
 * through the rows of the account, which are bounded.
 */
export async function readRequests(
  db: Database,
  accountId: number,
  { keyId, statusClass }: RequestFilter,
  before: number | undefined,
  limit: number,
): Promise<LogRow[]> {
  const isFiltered = keyId !== undefined || statusClass !== undefined;
  const step = isFiltered ? stepMax : limit + 1;
  const found: LogRow[] = [];
  const columns = raw("position, key_id, method, route, status");
  for await (const rows of stepsBack<LogRow>(db, { table: "request_log", columns, accountId, order: ["position"], until: before }, step))
    for (const row of rows) {
      if ((keyId !== undefined && row[1] !== keyId) || (statusClass !== undefined && Math.floor(row[4] / 100) !== statusClass)) continue;
      if (found.push(row) > limit) return found;
    }
  return found;
}
