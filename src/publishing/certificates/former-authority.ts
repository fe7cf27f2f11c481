import sql from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import type { Budget } from "./budget.ts";
import { isTrustedChain, rootsOfSystem } from "./trust.ts";

/*
 * After a change of ACME_DIRECTORY_URL the certificates of the former authority are replaced, the soonest expiry first, as fast as the budget allows
 * (decision 0104).
 */

type Former = { chain: string; replaceAsked?: boolean };

/** Whether another authority than the configured one issued a certificate. */
export function isFormer(certificate: { directoryUrl: string | null }, directoryUrl: string): boolean {
  return certificate.directoryUrl !== null && certificate.directoryUrl !== directoryUrl;
}

/** Whether a valid certificate of another authority stays: it is trusted, what the configured authority issues is not, and nobody asked to replace it. */
export function keepsFormer({ chain, replaceAsked = false }: Former, isTrusted: boolean | undefined): boolean {
  return isTrusted === false && !replaceAsked && isTrustedChain(chain, rootsOfSystem());
}

/** Longer than nearly any certificate lives. */
const longestMs = 3_650 * 86_400_000;

/**
 * Makes the certificates of other authorities due. Those without an authority, of an earlier release, count as the configured one's. Their due times lie in the
 * past, in the order of their expiry.
 */
export async function makeFormerDue(db: Database, directoryUrl: string, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
    UPDATE certificates SET directory_url = ${directoryUrl}
    WHERE id IN (SELECT id FROM certificates WHERE directory_url IS NULL ${limit}) RETURNING 1`,
  );
  await db.write((tx) =>
    tx.query(sql`UPDATE own_certificates SET directory_url = ${directoryUrl} WHERE directory_url IS NULL AND chain IS NOT NULL`),
  );
  await db.write((tx) =>
    tx.query(sql`
    UPDATE own_certificates SET due_at = ${now} WHERE directory_url <> ${directoryUrl} AND not_after > ${now} AND due_at > ${now}`),
  );
  await writeInBatches(
    db,
    (limit) => sql`
    UPDATE domains SET certificate_due_at = CASE
      WHEN certificate_expires_at - ${longestMs} < ${now} THEN certificate_expires_at - ${longestMs} ELSE ${now} END
    WHERE id IN (
      SELECT d.id FROM domains d JOIN certificates c ON c.id = d.certificate_id
      WHERE c.directory_url <> ${directoryUrl} AND d.certificate_due_at > ${now}
        AND (d.certificate_retry_at IS NULL OR d.certificate_retry_at <= ${now}) ${limit})
    RETURNING 1`,
  );
}

/** Has a name's certificate replaced if another authority issued it, because a person asked for that. Returns whether it did. */
export async function askToReplace(tx: Transaction, accountId: number, hostname: string, directoryUrl: string): Promise<boolean> {
  const rows = await tx.query(sql`
    UPDATE certificates SET replace_asked = TRUE
    WHERE account_id = ${accountId} AND hostname = ${hostname} AND directory_url <> ${directoryUrl} RETURNING 1`);
  return rows.length > 0;
}

/** How many certificates of other authorities are served, and by when the budget allows to replace the last of them (ms since the epoch). */
export async function countFormer(
  db: Queryable,
  { directoryUrl, budget, now }: { directoryUrl: string; budget: Budget; now: number },
): Promise<{ remaining: number; lastAt: number }> {
  const [row] = await db.query<{ remaining: number }>(sql`
    SELECT COUNT(*) AS remaining FROM certificates WHERE directory_url <> ${directoryUrl} AND not_after > ${now}`);
  const remaining = row?.remaining ?? 0;
  return { remaining, lastAt: lastReplacedAt(remaining, budget, now) };
}

/** By when (ms since the epoch) the budget of orders allows to replace so many certificates. */
export function lastReplacedAt(remaining: number, { orders }: Budget, now: number): number {
  return orders === null ? now : now + Math.floor(Math.max(0, remaining - 1) / orders.count) * orders.perMs;
}
