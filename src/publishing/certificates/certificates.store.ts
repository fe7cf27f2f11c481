import sql, { empty, type Sql } from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import type { Budget, LimitName, Spent } from "./budget.ts";

export type StoredCertificate = {
  id: number;
  hostname: string;
  chain: string;
  /** Encrypted for the host name. */
  key: string;
  notBefore: number;
  notAfter: number;
  renewalId: string | null;
  renewAt: number;
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
};

const columns = sql`id, hostname, chain, key, not_before, not_after, renewal_id, renew_at`;

export async function findCertificate(db: Queryable, accountId: number, hostname: string): Promise<StoredCertificate | null> {
  const rows = await db.query<CertificateRow>(sql`
    SELECT ${columns} FROM certificates WHERE account_id = ${accountId} AND hostname = ${hostname}`);
  return rows[0] ? fromRow(rows[0]) : null;
}

export async function findCertificateById(db: Queryable, id: number): Promise<StoredCertificate | null> {
  const rows = await db.query<CertificateRow>(sql`SELECT ${columns} FROM certificates WHERE id = ${id}`);
  return rows[0] ? fromRow(rows[0]) : null;
}

/** Keeps a name's new certificate in place of the one before, under an id that no other had. */
export async function saveCertificate(
  tx: Transaction,
  accountId: number,
  { hostname, chain, key, notBefore, notAfter, renewalId, renewAt }: Omit<StoredCertificate, "id">,
): Promise<number> {
  await tx.query(sql`DELETE FROM certificates WHERE account_id = ${accountId} AND hostname = ${hostname}`);
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO certificates (account_id, id, hostname, chain, key, not_before, not_after, renewal_id, renew_at)
    VALUES (${accountId}, nextval('certificate_ids'), ${hostname}, ${chain}, ${key}, ${notBefore}, ${notAfter}, ${renewalId}, ${renewAt})
    RETURNING id`);
  return row!.id;
}

export async function setRenewAt(tx: Transaction, accountId: number, hostname: string, renewAt: number): Promise<void> {
  await tx.query(sql`UPDATE certificates SET renew_at = ${renewAt} WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

/** An order under way: `key` is that of the certificate, encrypted; `url` is null until the authority has answered. */
export type StoredOrder = { directoryUrl: string; url: string | null; key: string | null; failures: number };

export function findOrder(db: Queryable, accountId: number, hostname: string): Promise<StoredOrder | null> {
  return selectOrder(db, accountId, hostname, empty);
}

/** Like `findOrder`, and locks the row until the transaction ends. */
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

/** Saves how often a name has failed, and deletes the order under way only if it is over. */
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

/** What the subjects of each limit are: the name, its registrable domain, and the account at the authority. */
export type Subjects = { hostname: string; registrableDomain: string; directoryUrl: string };

const subjectOf = (limit: LimitName, { hostname, registrableDomain, directoryUrl }: Subjects): string =>
  limit === "orders" ? directoryUrl : limit === "domain" ? registrableDomain : hostname;

/** The latest uses of each limit, no more of each than it allows. */
export async function listSpent(db: Queryable, budget: Budget, subjects: Subjects, now: number): Promise<Spent> {
  const spent: Spent = { failures: [], duplicates: [], domain: [], orders: [] };
  for (const name of Object.keys(spent) as LimitName[]) {
    const limit = budget[name];
    if (limit === null) continue;
    const rows = await db.query<{ at: number }>(sql`
      SELECT at FROM spends WHERE limit_name = ${name} AND subject = ${subjectOf(name, subjects)} AND at > ${now - limit.perMs}
      ORDER BY at DESC LIMIT ${limit.count}`);
    spent[name] = rows.map(({ at }) => at);
  }
  return spent;
}

export async function spendOne(tx: Transaction, limit: LimitName, subjects: Subjects, now: number): Promise<void> {
  await tx.query(
    sql`INSERT INTO spends (id, limit_name, subject, at) VALUES (nextval('spend_ids'), ${limit}, ${subjectOf(limit, subjects)}, ${now})`,
  );
}

/** Blocks requests to the authority for a name until then (ms), from every caller and every node. */
export async function saveHold(tx: Transaction, hostname: string, until: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO certificate_holds (hostname, until) VALUES (${hostname}, ${until})
    ON CONFLICT (hostname) DO UPDATE SET until = excluded.until`);
}

/** Until when a name is left alone; null where the authority may be asked. */
export async function findHold(db: Queryable, hostname: string, now: number): Promise<number | null> {
  const [row] = await db.query<{ until: number }>(sql`
    SELECT until FROM certificate_holds WHERE hostname = ${hostname} AND until > ${now}`);
  return row?.until ?? null;
}

const spendsKeptMs = 31 * 86_400_000;

/** Lets go what no limit looks at any more, holds that have ended, and challenges that nobody will ask for. */
export async function forgetOld(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`DELETE FROM spends WHERE id IN (SELECT id FROM spends WHERE at <= ${now - spendsKeptMs} ${limit}) RETURNING 1`,
  );
  await writeInBatches(
    db,
    (limit) => sql`
    DELETE FROM certificate_holds WHERE hostname IN (SELECT hostname FROM certificate_holds WHERE until <= ${now} ${limit}) RETURNING 1`,
  );
  await writeInBatches(
    db,
    (limit) => sql`
    DELETE FROM challenges WHERE (account_id, hostname, type) IN
      (SELECT account_id, hostname, type FROM challenges WHERE expires_at <= ${now} ${limit}) RETURNING 1`,
  );
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
    INSERT INTO challenges (account_id, hostname, type, token, key_authorization, certificate, certificate_key, expires_at)
    VALUES (${one.accountId}, ${one.hostname}, ${one.type}, ${one.token}, ${one.keyAuthorization}, ${one.certificate},
      ${one.certificateKey}, ${one.expiresAt})
    ON CONFLICT (account_id, hostname, type) DO UPDATE SET token = excluded.token, key_authorization = excluded.key_authorization,
      certificate = excluded.certificate, certificate_key = excluded.certificate_key, expires_at = excluded.expires_at`);
}

export async function deleteChallenges(tx: Transaction, accountId: number, hostname: string): Promise<void> {
  await tx.query(sql`DELETE FROM challenges WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

/** The account's key at an authority, encrypted for the directory's address, made where there is none. */
export async function keepAccountKey(tx: Transaction, directoryUrl: string, envelope: string): Promise<string> {
  await tx.query(
    sql`INSERT INTO acme_accounts (directory_url, key) VALUES (${directoryUrl}, ${envelope}) ON CONFLICT (directory_url) DO NOTHING`,
  );
  const [row] = await tx.query<{ key: string }>(sql`SELECT key FROM acme_accounts WHERE directory_url = ${directoryUrl}`);
  return row!.key;
}

export async function findAccountKey(db: Queryable, directoryUrl: string): Promise<string | null> {
  const [row] = await db.query<{ key: string }>(sql`SELECT key FROM acme_accounts WHERE directory_url = ${directoryUrl}`);
  return row?.key ?? null;
}

/** A secret that all nodes share: the one that is kept, or this one. */
export async function keepSecret(tx: Transaction, name: string, envelope: string): Promise<string> {
  await tx.query(sql`INSERT INTO secrets (name, envelope) VALUES (${name}, ${envelope}) ON CONFLICT (name) DO NOTHING`);
  const [row] = await tx.query<{ envelope: string }>(sql`SELECT envelope FROM secrets WHERE name = ${name}`);
  return row!.envelope;
}

function fromRow(row: CertificateRow): StoredCertificate {
  const { id, hostname, chain, key, not_before: notBefore, not_after: notAfter, renewal_id: renewalId, renew_at: renewAt } = row;
  return { id, hostname, chain, key, notBefore, notAfter, renewalId, renewAt };
}
