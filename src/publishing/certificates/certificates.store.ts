import sql, { empty, raw, type Sql } from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";

/** The account of the host of PUBLIC_URL. No customer has it. */
export const serviceAccount = 0;

/** The tables of customers' names, whose rows end with their account. */
const customersTables = {
  names: raw("domains"),
  certificates: raw("certificates"),
  orders: raw("certificate_orders"),
  challenges: raw("challenges"),
};

/** The tables of the host of PUBLIC_URL, with the same columns. */
const serviceTables: typeof customersTables = {
  names: raw("service_domains"),
  certificates: raw("service_certificates"),
  orders: raw("service_certificate_orders"),
  challenges: raw("own_challenges"),
};

export const everyTables = [serviceTables, customersTables];

/** Where the names of an account, their certificates, orders and challenges are stored. */
export const tablesOf = (accountId: number): typeof customersTables => (accountId === serviceAccount ? serviceTables : customersTables);

export type StoredCertificate = {
  id: number;
  hostname: string;
  chain: string;
  /** Encrypted for the host name. */
  key: string;
  notBefore: number;
  notAfter: number;
  /** Its identifier at the authority that issued it (RFC 9773). */
  renewalId: string | null;
  renewAt: number;
  /** The authority that issued it. */
  directoryUrl: string | null;
  /** Whether a person has asked to replace it by a certificate of the configured authority. */
  replaceAsked: boolean;
};

type CertificateRow = {
  id: number;
  hostname: string;
  chain: string;
  key: string;
  not_before: number;
  not_after: number;
  renewal_id: string | null;
  renew_at: number;
  directory_url: string | null;
  replace_asked: boolean | number;
};

const columns = sql`id, hostname, chain, key, not_before, not_after, renewal_id, renew_at, directory_url, replace_asked`;

export async function findCertificate(db: Queryable, accountId: number, hostname: string): Promise<StoredCertificate | null> {
  const rows = await db.query<CertificateRow>(sql`
    SELECT ${columns} FROM ${tablesOf(accountId).certificates} WHERE account_id = ${accountId} AND hostname = ${hostname}`);
  return rows[0] ? fromRow(rows[0]) : null;
}

export async function findCertificateById(db: Queryable, accountId: number, id: number): Promise<StoredCertificate | null> {
  const rows = await db.query<CertificateRow>(sql`SELECT ${columns} FROM ${tablesOf(accountId).certificates} WHERE id = ${id}`);
  return rows[0] ? fromRow(rows[0]) : null;
}

/** Replaces the certificate of a name. The new one gets a new id. */
export async function saveCertificate(
  tx: Transaction,
  accountId: number,
  { hostname, chain, key, notBefore, notAfter, renewalId, renewAt, directoryUrl }: Omit<StoredCertificate, "id" | "replaceAsked">,
): Promise<number> {
  const { certificates } = tablesOf(accountId);
  await tx.query(sql`DELETE FROM ${certificates} WHERE account_id = ${accountId} AND hostname = ${hostname}`);
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO ${certificates} (account_id, id, hostname, chain, key, not_before, not_after, renewal_id, renew_at, directory_url)
    VALUES (${accountId}, nextval('certificate_ids'), ${hostname}, ${chain}, ${key}, ${notBefore}, ${notAfter}, ${renewalId}, ${renewAt},
      ${directoryUrl})
    RETURNING id`);
  // Until 1.3.0: nodes of 1.2.0 serve the certificate of the host of PUBLIC_URL from this table.
  if (accountId === serviceAccount)
    await tx.query(sql`
      UPDATE own_certificates SET number = number + 1, chain = ${chain}, key = ${key}, not_before = ${notBefore}, not_after = ${notAfter},
        first_issued_at = COALESCE(first_issued_at, ${notBefore})
      WHERE hostname = ${hostname}`);
  return row!.id;
}

export async function setRenewAt(tx: Transaction, accountId: number, hostname: string, renewAt: number): Promise<void> {
  await tx.query(
    sql`UPDATE ${tablesOf(accountId).certificates} SET renew_at = ${renewAt} WHERE account_id = ${accountId} AND hostname = ${hostname}`,
  );
}

function fromRow(row: CertificateRow): StoredCertificate {
  const { id, hostname, chain, key, not_before: notBefore, not_after: notAfter, renewal_id: renewalId, renew_at: renewAt } = row;
  const { directory_url: directoryUrl, replace_asked: replaceAsked } = row;
  return { id, hostname, chain, key, notBefore, notAfter, renewalId, renewAt, directoryUrl, replaceAsked: Boolean(replaceAsked) };
}

/**
 * The state of ordering a certificate. `key` is the encrypted key of the certificate; null after a failure that ended the order. `url` is null
 * until the authority has answered. `failures` counts the failures since the last certificate.
 */
export type StoredCertificateOrder = { directoryUrl: string; url: string | null; key: string | null; failures: number };

/** @param lock the transaction's `forUpdate`, which locks the row until commit */
export async function findCertificateOrder(
  db: Queryable,
  accountId: number,
  hostname: string,
  lock: Sql = empty,
): Promise<StoredCertificateOrder | null> {
  const [row] = await db.query<{ directory_url: string; url: string | null; key: string | null; failures: number }>(sql`
    SELECT directory_url, url, key, failures FROM ${tablesOf(accountId).orders} WHERE account_id = ${accountId} AND hostname = ${hostname}${lock}`);
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
    INSERT INTO ${tablesOf(accountId).orders} (account_id, hostname, directory_url, url, key, failures)
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
    UPDATE ${tablesOf(accountId).orders} SET url = ${url} WHERE account_id = ${accountId} AND hostname = ${hostname} AND key = ${key} RETURNING 1`);
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
    INSERT INTO ${tablesOf(accountId).orders} (account_id, hostname, directory_url, url, key, failures)
    VALUES (${accountId}, ${hostname}, ${directoryUrl}, NULL, NULL, ${failures})
    ON CONFLICT (account_id, hostname) DO UPDATE SET failures = excluded.failures${isOver ? sql`, url = NULL, key = NULL` : empty}`);
}

export async function deleteCertificateOrder(tx: Transaction, accountId: number, hostname: string): Promise<void> {
  await tx.query(sql`DELETE FROM ${tablesOf(accountId).orders} WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

export type StoredChallenge = {
  accountId: number;
  hostname: string;
  type: "http-01" | "tls-alpn-01";
  token: string;
  keyAuthorization: string;
  certificate: string | null;
  /** Encrypted for the host name. */
  certificateKey: string | null;
  expiresAt: number;
};

export async function saveChallenge(tx: Transaction, one: StoredChallenge): Promise<void> {
  await tx.query(sql`
    INSERT INTO ${tablesOf(one.accountId).challenges} (account_id, hostname, type, token, key_authorization, certificate, certificate_key, expires_at)
    VALUES (${one.accountId}, ${one.hostname}, ${one.type}, ${one.token}, ${one.keyAuthorization}, ${one.certificate},
      ${one.certificateKey}, ${one.expiresAt})
    ON CONFLICT (account_id, hostname, type) DO UPDATE SET token = excluded.token, key_authorization = excluded.key_authorization,
      certificate = excluded.certificate, certificate_key = excluded.certificate_key, expires_at = excluded.expires_at`);
}

export async function deleteChallenges(tx: Transaction, accountId: number, hostname: string): Promise<void> {
  await tx.query(sql`DELETE FROM ${tablesOf(accountId).challenges} WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

/** Deletes challenges that have expired. */
export async function deleteExpiredChallenges(db: Database, now: number): Promise<void> {
  for (const { challenges } of everyTables)
    await writeInBatches(
      db,
      (limit) => sql`
      DELETE FROM ${challenges} WHERE (account_id, hostname, type) IN
        (SELECT account_id, hostname, type FROM ${challenges} WHERE expires_at <= ${now} ${limit}) RETURNING 1`,
    );
}

/** Blocks requests to this authority for a name until `until` (ms), on every node. */
export async function saveHold(tx: Transaction, hostname: string, directoryUrl: string, until: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO certificate_holds (hostname, directory_url, until) VALUES (${hostname}, ${directoryUrl}, ${until})
    ON CONFLICT (hostname) DO UPDATE SET directory_url = excluded.directory_url, until = excluded.until`);
}

/** Deletes holds that have ended. */
export async function deleteEndedHolds(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
    DELETE FROM certificate_holds WHERE hostname IN (SELECT hostname FROM certificate_holds WHERE until <= ${now} ${limit}) RETURNING 1`,
  );
}
