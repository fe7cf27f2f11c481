import { X509Certificate } from "node:crypto";
import { getCACertificates } from "node:tls";
import sql, { join, type Sql } from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import type { Budget, Limit } from "./budget.ts";
import { everyTables } from "./certificates.store.ts";

/*
 * After a change of ACME_DIRECTORY_URL the certificates of the former authority are replaced, the soonest expiry first, as fast as the budget allows
 * (decision 0104).
 */

type FormerCertificate = { chain: string; replaceAsked: boolean };

/** Whether another authority than the configured one issued a certificate. */
export function isFormer(certificate: { directoryUrl: string | null }, directoryUrl: string): boolean {
  return certificate.directoryUrl !== null && certificate.directoryUrl !== directoryUrl;
}

/** Whether a valid certificate of another authority stays: it is trusted, what the configured authority issues is not, and nobody asked to replace it. */
export function keepsFormer({ chain, replaceAsked }: FormerCertificate, isTrusted: boolean | undefined): boolean {
  return isTrusted === false && !replaceAsked && isTrustedChain(chain, rootsOfSystem());
}

/**
 * Saves whether the system trusts what an authority issues, once it has issued a certificate. Returns the `former` certificate if that stays in its place,
 * otherwise null.
 */
export async function keptInPlace<F extends FormerCertificate & { directoryUrl: string | null; notAfter: number }>(
  tx: Transaction,
  former: F | null,
  { directoryUrl, isTrusted, now }: { directoryUrl: string; isTrusted: boolean; now: number },
): Promise<F | null> {
  await saveAuthorityTrust(tx, directoryUrl, isTrusted);
  const isKept = former !== null && isFormer(former, directoryUrl) && former.notAfter > now && keepsFormer(former, isTrusted);
  return isKept ? former : null;
}

type Log = { info(fields: object, message: string): void; warn(fields: object, message: string): void };

export const keptFormerWarning =
  "trusted certificates stay, because the system does not trust those of ACME_DIRECTORY_URL: is it a staging authority? `petstore certificates replace` replaces them";

/** After a change of the authority, has the certificates of the former one replaced, and logs how long that takes. */
export async function replaceFormer(db: Database, directoryUrl: string, budget: Budget, log: Log, now: number): Promise<void> {
  await makeFormerDue(db, directoryUrl, now);
  const counts = await countFormer(db, directoryUrl, now);
  const { remaining, kept } = counts;
  if (kept > 0) log.warn({ kept, directoryUrl }, keptFormerWarning);
  if (remaining === 0) return;
  const lastAt = lastReplacedAt(counts, budget, now);
  const by = new Date(lastAt).toISOString();
  log.info({ remaining, lastAt }, `${remaining} certificates of another authority are replaced, the last by ${by} at the earliest`);
}

/** Longer than nearly any certificate lives. */
const longestMs = 3_650 * dayMs;

/**
 * Makes the certificates of other authorities due. Those without an authority, of an earlier release, count as the configured one's. Their due times lie in the
 * past, in the order of their expiry.
 */
export async function makeFormerDue(db: Database, directoryUrl: string, now: number): Promise<void> {
  for (const { certificates } of everyTables)
    await writeInBatches(
      db,
      (limit) => sql`
      UPDATE ${certificates} SET directory_url = ${directoryUrl}
      WHERE id IN (SELECT id FROM ${certificates} WHERE directory_url IS NULL ${limit}) RETURNING 1`,
    );
  await learnTrust(db);
  for (const { names, certificates } of everyTables)
    await writeInBatches(
      db,
      (limit) => sql`
      UPDATE ${names} SET certificate_due_at = CASE
        WHEN certificate_expires_at - ${longestMs} < ${now} THEN certificate_expires_at - ${longestMs} ELSE ${now} END
      WHERE id IN (
        SELECT d.id FROM ${names} d JOIN ${certificates} c ON c.id = d.certificate_id
        WHERE c.directory_url <> ${directoryUrl} AND d.certificate_due_at > ${now}
          AND (d.certificate_retry_at IS NULL OR d.certificate_retry_at <= ${now}) ${limit})
      RETURNING 1`,
    );
}

/** Has the certificates of other authorities replaced, trusted ones too, because the operator asked for that; those of one host only, if it is given. */
export async function askToReplaceAll(db: Database, directoryUrl: string, hostname: string | undefined, now: number): Promise<void> {
  const asked = sql`directory_url <> ${directoryUrl} AND not_after > ${now} ${hostname === undefined ? sql`` : sql`AND hostname = ${hostname}`}`;
  for (const { certificates } of everyTables)
    await writeInBatches(
      db,
      (limit) => sql`
      UPDATE ${certificates} SET replace_asked = TRUE
      WHERE id IN (SELECT id FROM ${certificates} WHERE ${asked} AND NOT replace_asked ${limit}) RETURNING 1`,
    );
  await makeFormerDue(db, directoryUrl, now);
}

/**
 * Selects what is left of other authorities at `now` (ms): `remaining` certificates to replace, at most `most` of them below one registrable domain, and
 * `kept` ones, which are trusted while those of the configured authority are not.
 */
export function formerCounts(directoryUrl: string, now: number): Sql {
  return sql`
    WITH former AS (${join(
      everyTables.map(
        ({ names, certificates }) => sql`
      SELECT d.registrable_domain AS domain, c.directory_url, c.replace_asked AS is_asked FROM ${certificates} c JOIN ${names} d ON d.certificate_id = c.id
      WHERE c.directory_url <> ${directoryUrl} AND c.not_after > ${now}`,
      ),
      " UNION ALL ",
    )}
    ), judged AS (
      SELECT domain, CASE WHEN was.is_trusted AND NOT configured.is_trusted AND NOT is_asked THEN 1 ELSE 0 END AS kept FROM former
      LEFT JOIN acme_accounts was ON was.directory_url = former.directory_url
      LEFT JOIN acme_accounts configured ON configured.directory_url = ${directoryUrl}
    ), counted AS (SELECT SUM(1 - kept) AS remaining, SUM(kept) AS kept FROM judged GROUP BY domain)
    SELECT CAST(COALESCE(SUM(remaining), 0) AS INTEGER) AS remaining, CAST(COALESCE(MAX(remaining), 0) AS INTEGER) AS most,
      CAST(COALESCE(SUM(kept), 0) AS INTEGER) AS kept FROM counted`;
}

/** Selects why the host of PUBLIC_URL has no new certificate; null if nothing is wrong. */
export function serviceProblem(hostname: string): Sql {
  return sql`SELECT certificate_problem AS problem FROM service_domains WHERE hostname = ${hostname}`;
}

/** What is left of other authorities. */
export type FormerCounts = { remaining: number; most: number; kept: number };

export async function countFormer(db: Queryable, directoryUrl: string, now: number): Promise<FormerCounts> {
  const [row] = await db.query<FormerCounts>(formerCounts(directoryUrl, now));
  return row!;
}

/** By when (ms since the epoch) the budget allows to replace the last certificate. */
export function lastReplacedAt({ remaining, most }: FormerCounts, { orders, domain }: Budget, now: number): number {
  return Math.max(replacedAt(remaining, orders, now), replacedAt(most, domain, now));
}

function replacedAt(remaining: number, limit: Limit | null, now: number): number {
  return limit === null ? now : now + Math.floor(Math.max(0, remaining - 1) / limit.count) * limit.perMs;
}

/** Judges by one certificate of each former authority whether the system trusts what it issued, where that is not known. */
async function learnTrust(db: Database): Promise<void> {
  const chains = await db.query<{ directory_url: string; chain: string | null }>(sql`
    SELECT a.directory_url, (SELECT chain FROM certificates WHERE id = (SELECT MAX(id) FROM certificates c WHERE c.directory_url = a.directory_url)) AS chain
    FROM acme_accounts a WHERE a.is_trusted IS NULL`);
  for (const { directory_url: url, chain } of chains)
    if (chain !== null) await db.write((tx) => saveAuthorityTrust(tx, url, isTrustedChain(chain, rootsOfSystem())));
}

/** Saves whether the system's roots trust what an authority issues. */
async function saveAuthorityTrust(tx: Transaction, directoryUrl: string, isTrusted: boolean): Promise<void> {
  await tx.query(sql`UPDATE acme_accounts SET is_trusted = ${isTrusted} WHERE directory_url = ${directoryUrl}`);
}

/** Whether the system's roots trust what an authority issues; undefined until it has issued a certificate. */
export async function findAuthorityTrust(db: Queryable, directoryUrl: string): Promise<boolean | undefined> {
  const [row] = await db.query<{ is_trusted: boolean | number | null }>(sql`
    SELECT is_trusted FROM acme_accounts WHERE directory_url = ${directoryUrl}`);
  return row?.is_trusted === null || row === undefined ? undefined : Boolean(row.is_trusted);
}

/** The roots by their subjects; several may share one. */
export type Roots = ReadonlyMap<string, readonly X509Certificate[]>;

let systemRoots: Roots | undefined;

/** The roots that Node, the system and `NODE_EXTRA_CA_CERTS` trust. Read once. */
export function rootsOfSystem(): Roots {
  return (systemRoots ??= rootsOf((["default", "system"] as const).flatMap((kind) => getCACertificates(kind))));
}

export function rootsOf(pems: readonly string[]): Roots {
  return Map.groupBy(
    [...new Set(pems)].map((pem) => new X509Certificate(pem)),
    ({ subject }) => subject,
  );
}

/**
 * Whether a chain (PEM, the leaf first) leads to one of the roots: each certificate is signed by the next one, and the last by a root. Does not look at
 * times: a chain is as trusted at its end as at its beginning.
 */
export function isTrustedChain(chain: string, roots: Roots): boolean {
  const certificates = (chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
  for (const [index, certificate] of certificates.entries()) {
    const issuers = roots.get(certificate.issuer) ?? [];
    if (issuers.some((root) => certificate.verify(root.publicKey))) return true;
    const next = certificates[index + 1];
    if (next === undefined || !certificate.verify(next.publicKey)) return false;
  }
  return false;
}
