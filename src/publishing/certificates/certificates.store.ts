import sql from "sql-template-tag";
import type { Queryable, Transaction } from "../../platform/db/database.ts";

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
    SELECT ${columns} FROM certificates WHERE account_id = ${accountId} AND hostname = ${hostname}`);
  return rows[0] ? fromRow(rows[0]) : null;
}

export async function findCertificateById(db: Queryable, id: number): Promise<StoredCertificate | null> {
  const rows = await db.query<CertificateRow>(sql`SELECT ${columns} FROM certificates WHERE id = ${id}`);
  return rows[0] ? fromRow(rows[0]) : null;
}

/** Replaces the certificate of a name. The new one gets a new id. */
export async function saveCertificate(
  tx: Transaction,
  accountId: number,
  { hostname, chain, key, notBefore, notAfter, renewalId, renewAt, directoryUrl }: Omit<StoredCertificate, "id" | "replaceAsked">,
): Promise<number> {
  await tx.query(sql`DELETE FROM certificates WHERE account_id = ${accountId} AND hostname = ${hostname}`);
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO certificates (account_id, id, hostname, chain, key, not_before, not_after, renewal_id, renew_at, directory_url)
    VALUES (${accountId}, nextval('certificate_ids'), ${hostname}, ${chain}, ${key}, ${notBefore}, ${notAfter}, ${renewalId}, ${renewAt},
      ${directoryUrl})
    RETURNING id`);
  return row!.id;
}

export async function setRenewAt(tx: Transaction, accountId: number, hostname: string, renewAt: number): Promise<void> {
  await tx.query(sql`UPDATE certificates SET renew_at = ${renewAt} WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

function fromRow(row: CertificateRow): StoredCertificate {
  const { id, hostname, chain, key, not_before: notBefore, not_after: notAfter, renewal_id: renewalId, renew_at: renewAt } = row;
  const { directory_url: directoryUrl, replace_asked: replaceAsked } = row;
  return { id, hostname, chain, key, notBefore, notAfter, renewalId, renewAt, directoryUrl, replaceAsked: Boolean(replaceAsked) };
}
