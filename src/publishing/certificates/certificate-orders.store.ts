import sql, { empty, type Sql } from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";

/**
 * The state of ordering a certificate. `key` is the encrypted key of the certificate; null after a failure that ended the order. `url` is null
 * until the authority has answered. `failures` counts the failures since the last certificate.
 */
export type StoredCertificateOrder = { directoryUrl: string; url: string | null; key: string | null; failures: number };

export function findCertificateOrder(db: Queryable, accountId: number, hostname: string): Promise<StoredCertificateOrder | null> {
  return selectCertificateOrder(db, accountId, hostname, empty);
}

/** Like `findCertificateOrder`, and locks the row until commit. */
export function lockCertificateOrder(tx: Transaction, accountId: number, hostname: string): Promise<StoredCertificateOrder | null> {
  return selectCertificateOrder(tx, accountId, hostname, tx.forUpdate);
}

async function selectCertificateOrder(
  db: Queryable,
  accountId: number,
  hostname: string,
  lock: Sql,
): Promise<StoredCertificateOrder | null> {
  const [row] = await db.query<{ directory_url: string; url: string | null; key: string | null; failures: number }>(sql`
    SELECT directory_url, url, key, failures FROM certificate_orders WHERE account_id = ${accountId} AND hostname = ${hostname}${lock}`);
  return row ? { directoryUrl: row.directory_url, url: row.url, key: row.key, failures: row.failures } : null;
}

export async function saveCertificateOrder(
  tx: Transaction,
  accountId: number,
  hostname: string,
  order: StoredCertificateOrder,
): Promise<void> {
  const { directoryUrl, url, key, failures } = order;
  await tx.query(sql`
    INSERT INTO certificate_orders (account_id, hostname, directory_url, url, key, failures)
    VALUES (${accountId}, ${hostname}, ${directoryUrl}, ${url}, ${key}, ${failures})
    ON CONFLICT (account_id, hostname) DO UPDATE SET
      directory_url = excluded.directory_url, url = excluded.url, key = excluded.key, failures = excluded.failures`);
}

/** Saves the URL of the order that was begun with this key. Returns false if another order was begun since. */
export async function saveCertificateOrderUrl(
  tx: Transaction,
  accountId: number,
  hostname: string,
  { key, url }: { key: string; url: string },
): Promise<boolean> {
  const rows = await tx.query(sql`
    UPDATE certificate_orders SET url = ${url} WHERE account_id = ${accountId} AND hostname = ${hostname} AND key = ${key} RETURNING 1`);
  return rows.length > 0;
}

/** Saves how often a name has failed in a row. `isOver`: its order has failed for good, so this deletes the order's URL and key. */
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

export async function deleteCertificateOrder(tx: Transaction, accountId: number, hostname: string): Promise<void> {
  await tx.query(sql`DELETE FROM certificate_orders WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

/** Blocks requests to this authority for a name until `until` (ms), on every node. */
export async function saveHold(tx: Transaction, hostname: string, directoryUrl: string, until: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO certificate_holds (hostname, directory_url, until) VALUES (${hostname}, ${directoryUrl}, ${until})
    ON CONFLICT (hostname) DO UPDATE SET directory_url = excluded.directory_url, until = excluded.until`);
}

/** When (ms) the hold on a name at this authority ends; null if there is none. */
export async function findHold(db: Queryable, hostname: string, directoryUrl: string, now: number): Promise<number | null> {
  const [row] = await db.query<{ until: number }>(sql`
    SELECT until FROM certificate_holds
    WHERE hostname = ${hostname} AND until > ${now} AND (directory_url IS NULL OR directory_url = ${directoryUrl})`);
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
