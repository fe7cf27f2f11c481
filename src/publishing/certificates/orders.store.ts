import sql, { empty, type Sql } from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";

/** An order under way: `key` is that of the certificate, encrypted; `url` is null until the authority has answered. */
export type StoredOrder = { directoryUrl: string; url: string | null; key: string | null; failures: number };

export function findOrder(db: Queryable, accountId: number, hostname: string): Promise<StoredOrder | null> {
  return selectOrder(db, accountId, hostname, empty);
}

/** Like `findOrder`, and locks the row until commit. */
export function lockOrder(tx: Transaction, accountId: number, hostname: string): Promise<StoredOrder | null> {
  return selectOrder(tx, accountId, hostname, tx.forUpdate);
}

async function selectOrder(db: Queryable, accountId: number, hostname: string, lock: Sql): Promise<StoredOrder | null> {
  const [row] = await db.query<{ directory_url: string; url: string | null; key: string | null; failures: number }>(sql`
    SELECT directory_url, url, key, failures FROM certificate_orders WHERE account_id = ${accountId} AND hostname = ${hostname}${lock}`);
  return row ? { directoryUrl: row.directory_url, url: row.url, key: row.key, failures: row.failures } : null;
}

export async function saveOrder(tx: Transaction, accountId: number, hostname: string, order: StoredOrder): Promise<void> {
  const { directoryUrl, url, key, failures } = order;
  await tx.query(sql`
    INSERT INTO certificate_orders (account_id, hostname, directory_url, url, key, failures)
    VALUES (${accountId}, ${hostname}, ${directoryUrl}, ${url}, ${key}, ${failures})
    ON CONFLICT (account_id, hostname) DO UPDATE SET
      directory_url = excluded.directory_url, url = excluded.url, key = excluded.key, failures = excluded.failures`);
}

/** Saves the address of the order that was begun with this key; false if another order was begun since. */
export async function saveOrderUrl(
  tx: Transaction,
  accountId: number,
  hostname: string,
  { key, url }: { key: string; url: string },
): Promise<boolean> {
  const rows = await tx.query(sql`
    UPDATE certificate_orders SET url = ${url} WHERE account_id = ${accountId} AND hostname = ${hostname} AND key = ${key} RETURNING 1`);
  return rows.length > 0;
}

/** Saves how often a name has failed in a row. If its order is over, forgets the URL and the key of the order. */
export async function saveFailures(
  tx: Transaction,
  accountId: number,
  hostname: string,
  { directoryUrl, failures, isOver }: { directoryUrl: string; failures: number; isOver: boolean },
): Promise<void> {
  await tx.query(sql`
    INSERT INTO certificate_orders (account_id, hostname, directory_url, url, key, failures)
    VALUES (${accountId}, ${hostname}, ${directoryUrl}, NULL, NULL, ${failures})
    ON CONFLICT (account_id, hostname) DO UPDATE SET failures = excluded.failures${isOver ? sql`, url = NULL, key = NULL` : empty}`);
}

export async function deleteOrder(tx: Transaction, accountId: number, hostname: string): Promise<void> {
  await tx.query(sql`DELETE FROM certificate_orders WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

/** Blocks requests to the authority for a name until `until` (ms), on every node. */
export async function saveHold(tx: Transaction, hostname: string, until: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO certificate_holds (hostname, until) VALUES (${hostname}, ${until})
    ON CONFLICT (hostname) DO UPDATE SET until = excluded.until`);
}

/** When (ms) the hold on a name ends; null if there is none. */
export async function findHold(db: Queryable, hostname: string, now: number): Promise<number | null> {
  const [row] = await db.query<{ until: number }>(sql`
    SELECT until FROM certificate_holds WHERE hostname = ${hostname} AND until > ${now}`);
  return row?.until ?? null;
}

/** Deletes holds that have ended. */
export async function deleteEndedHolds(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
    DELETE FROM certificate_holds WHERE hostname IN (SELECT hostname FROM certificate_holds WHERE until <= ${now} ${limit}) RETURNING 1`,
  );
}
