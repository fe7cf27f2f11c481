import { createHash, randomBytes } from "node:crypto";
import sql from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { domainFromRow, type DomainRow, type StoredDomain } from "./domains.store.ts";

/** How long a link to the records of a name works. */
export const linkMs = 14 * dayMs;
/** While somebody has a link's page open, the name is checked about once a minute. */
const checkEveryMs = 60_000;

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Makes a link for a name, in place of any earlier one. Returns its token, of which only the hash is stored. */
export async function makeLink(tx: Transaction, { accountId, hostname }: StoredDomain, now: number): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  await tx.query(sql`
    INSERT INTO domain_links (account_id, hostname, token_hash, expires_at) VALUES (${accountId}, ${hostname}, ${hashOf(token)}, ${now + linkMs})
    ON CONFLICT (account_id, hostname) DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at`);
  return token;
}

export async function endLink(tx: Transaction, { accountId, hostname }: StoredDomain): Promise<void> {
  await tx.query(sql`DELETE FROM domain_links WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

/** When the link of a name ends (ms); null without one. */
export async function findLinkEnd(db: Queryable, { accountId, hostname }: StoredDomain, now: number): Promise<number | null> {
  const [row] = await db.query<{ expires_at: number }>(sql`
    SELECT expires_at FROM domain_links WHERE account_id = ${accountId} AND hostname = ${hostname} AND expires_at > ${now}`);
  return row?.expires_at ?? null;
}

/** The name whose records a token shows; null if the link has ended or never existed. */
export async function findByLink(db: Queryable, token: string, now: number): Promise<StoredDomain | null> {
  if (!/^[\w-]{43}$/.test(token)) return null;
  const [row] = await db.query<DomainRow>(sql`
    SELECT d.* FROM domain_links l JOIN domains d ON d.account_id = l.account_id AND d.hostname = l.hostname
    WHERE l.token_hash = ${hashOf(token)} AND l.expires_at > ${now}`);
  return row === undefined ? null : domainFromRow(row);
}

/** Whether a name is not verified, and its next check is more than a minute away. */
export function isCheckLate({ status, nextCheckAt }: StoredDomain, now: number): boolean {
  return status !== "verified" && nextCheckAt !== null && nextCheckAt > now + checkEveryMs;
}

/** Moves the next check of such a name forward, to a minute from now. */
export async function checkSoon(tx: Transaction, { accountId, id }: StoredDomain, now: number): Promise<void> {
  const soon = now + checkEveryMs;
  await tx.query(sql`
    UPDATE domains SET next_check_at = ${soon} WHERE account_id = ${accountId} AND id = ${id} AND status <> 'verified' AND next_check_at > ${soon}`);
}
