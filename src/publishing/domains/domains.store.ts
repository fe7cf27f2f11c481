import sql, { empty, type Sql } from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { walkRows } from "../../platform/db/index-walk.ts";
import { limitTo } from "../../platform/db/limit.ts";
import { byId } from "../../platform/ids.ts";
import type { RowClaim, RowLease } from "../../platform/nodes/row-leases.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import type { DomainProblem } from "./domain-problems.ts";
import { domainsMax, paidPlans, type CertificateStatus } from "./domains.ts";
import type { DomainKind, Hostname } from "./hostnames.ts";
import type { Verification } from "./ownership.ts";
import { redirectOf } from "./names.store.ts";
import type { Redirect } from "./redirects.ts";
import type { DomainStatus } from "./schedule.ts";

/** A domain with all that is known of it. Times in ms since the Unix epoch. */
export type StoredDomain = {
  id: number;
  accountId: number;
  projectId: number;
  hostname: string;
  registrableDomain: string;
  kind: DomainKind;
  status: DomainStatus;
  primary: boolean;
  /** Whether it is to be the primary name as soon as it is ready. */
  becomesPrimary: boolean;
  redirect: Redirect | null;
  problems: DomainProblem[];
  caa: "allowed" | "blocked" | "unknown";
  proofNeeded: boolean;
  nextCheckAt: number | null;
  certificate: {
    id: number | null;
    status: CertificateStatus;
    issuedAt: number | null;
    expiresAt: number | null;
    problem: string | null;
    retryAt: number | null;
    wantedSince: number | null;
    dueAt: number | null;
  };
  version: number;
  createdAt: number;
  firstVerifiedAt: number | null;
  verifiedAt: number | null;
  /** Another account has taken it over. */
  isLost: boolean;
};

export { promoteToPrimary } from "./names.store.ts";

type DomainRow = Record<string, number | string | boolean | null>;

/** @throws Problem `plan_required` unless the account's plan has custom domains */
export async function requirePaidPlan(db: Queryable, accountId: number): Promise<void> {
  if (!(await hasPaidPlan(db, accountId))) throw new Problem("plan_required", "Custom domains need the plan Pro or above.");
}

export async function hasPaidPlan(db: Queryable, accountId: number): Promise<boolean> {
  const [row] = await db.query<{ plan: string }>(sql`SELECT plan FROM accounts WHERE id = ${accountId}`);
  return paidPlans.has(row?.plan ?? "");
}

export async function listDomains(
  db: Database,
  accountId: number,
  projectId: number,
  after: number,
  limit: number,
): Promise<StoredDomain[]> {
  const walk = { table: "domains", index: "domains_by_project", columns: sql`*`, accountId, equal: { project_id: projectId } };
  const rows = await db.query<DomainRow>(walkRows(db.engine, { ...walk, order: ["id"], after: [after] }, limit));
  return rows.map(fromRow);
}

/** `lock`: the transaction's `forUpdate`. @throws Problem `not_found` */
export async function findDomain(db: Queryable, accountId: number, projectId: number, hostname: string, lock = empty) {
  const [row] = await db.query<DomainRow>(sql`
    SELECT * FROM domains WHERE account_id = ${accountId} AND project_id = ${projectId} AND hostname = ${hostname}${lock}`);
  if (!row)
    throw new Problem("not_found", `No name ${JSON.stringify(hostname.slice(0, 255))} is attached to ${byId("project", projectId)}.`);
  return fromRow(row);
}

/** Who holds a name, whatever the account; locked until the transaction ends. */
export async function lockHolder(tx: Transaction, hostname: string): Promise<StoredDomain | null> {
  return first(await tx.query<DomainRow>(sql`SELECT * FROM domains WHERE hostname = ${hostname}${tx.forUpdate}`));
}

export async function findHolder(db: Queryable, hostname: string): Promise<StoredDomain | null> {
  return first(await db.query<DomainRow>(sql`SELECT * FROM domains WHERE hostname = ${hostname}`));
}

/** @throws an error of uniqueness where another account has just added it, Problem `invalid_request` where the project is full */
export async function insertDomain(
  tx: Transaction,
  owner: { accountId: number; projectId: number },
  name: Hostname,
  proofNeeded: boolean,
  now: number,
): Promise<StoredDomain> {
  const [count] = await tx.query<{ n: number }>(sql`
    SELECT COUNT(*) AS n FROM domains WHERE account_id = ${owner.accountId} AND project_id = ${owner.projectId}`);
  if (Number(count?.n) >= domainsMax)
    throw invalidAt("body.hostname", "is one name too many", `The project has ${domainsMax} names already.`);
  const rows = await tx.query<DomainRow>(sql`
    INSERT INTO domains (account_id, id, project_id, hostname, registrable_domain, kind, status, is_primary, problems, caa,
      proof_needed, next_check_at, certificate_status, version, created_at)
    VALUES (${owner.accountId}, nextval('domain_ids'), ${owner.projectId}, ${name.hostname}, ${name.registrableDomain}, ${name.kind}, 'pending',
      ${false}, '[]', 'unknown', ${proofNeeded}, ${now}, 'none', 1, ${now}) RETURNING *`);
  return fromRow(rows[0]!);
}

/** The names of an account that are served now: how many, and the first by name. None if its plan has no custom domains. */
export async function listServedNames(db: Queryable, accountId: number, limit: number): Promise<{ count: number; hostnames: string[] }> {
  if (!(await hasPaidPlan(db, accountId))) return { count: 0, hostnames: [] };
  const served = sql`FROM domains WHERE account_id = ${accountId} AND status IN ('verified', 'failing')`;
  const [row] = await db.query<{ n: number }>(sql`SELECT COUNT(*) AS n ${served}`);
  const names = await db.query<{ hostname: string }>(sql`SELECT hostname ${served} ORDER BY hostname ${limitTo(limit)}`);
  return { count: Number(row?.n), hostnames: names.map(({ hostname }) => hostname) };
}

/** Whether names of an account tell browsers to open them over HTTPS only, as long as they are served. */
export async function hasNamesWithHsts(db: Queryable, accountId: number, now: number): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT 1 FROM domains d JOIN projects p ON p.account_id = d.account_id AND p.id = d.project_id
    WHERE d.account_id = ${accountId} AND d.status IN ('verified', 'failing') AND d.certificate_expires_at > ${now} AND p.hsts
    ${limitTo(1)}`);
  return rows.length > 0;
}

export async function deleteDomain(tx: Transaction, { accountId, hostname }: StoredDomain): Promise<void> {
  await tx.query(sql`DELETE FROM domains WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

/** Every account that ever verified a name of a registrable domain, with its last time. */
export async function listVerifications(db: Queryable, registrableDomain: string): Promise<Verification[]> {
  const rows = await db.query<{ account_id: number; verified_at: number }>(sql`
    SELECT account_id, MAX(verified_at) AS verified_at FROM verifications WHERE registrable_domain = ${registrableDomain} GROUP BY account_id`);
  return rows.map((row) => ({ accountId: row.account_id, verifiedAt: row.verified_at }));
}

export async function recordVerification(
  tx: Transaction,
  { accountId, hostname, registrableDomain }: StoredDomain,
  now: number,
): Promise<void> {
  await tx.query(sql`
    INSERT INTO verifications (account_id, hostname, registrable_domain, verified_at)
    VALUES (${accountId}, ${hostname}, ${registrableDomain}, ${now})
    ON CONFLICT (account_id, hostname) DO UPDATE SET verified_at = excluded.verified_at`);
}

/** Writes what a check found. The lease of the check ends with it. */
export async function saveCheck(tx: Transaction, domain: StoredDomain): Promise<StoredDomain> {
  const { certificate } = domain;
  const rows = await tx.query<DomainRow>(sql`
    UPDATE domains SET status = ${domain.status}, problems = ${JSON.stringify(domain.problems)}, caa = ${domain.caa},
      proof_needed = ${domain.proofNeeded}, next_check_at = ${domain.nextCheckAt}, check_lease_until = NULL,
      certificate_status = ${certificate.status}, certificate_wanted_since = ${certificate.wantedSince},
      certificate_due_at = ${certificate.dueAt}, certificate_retry_at = ${certificate.retryAt}, verified_at = ${domain.verifiedAt},
      first_verified_at = COALESCE(first_verified_at, ${domain.verifiedAt}), version = version + 1
    WHERE account_id = ${domain.accountId} AND id = ${domain.id} RETURNING *`);
  return fromRow(rows[0]!);
}

/** Takes domains whose certificate is to be looked at. */
export async function claimCertificates(tx: Transaction, count: number, { lease, now, isFree }: RowClaim): Promise<ClaimedDomain[]> {
  await tx.lock("claims of certificates");
  const due = sql`certificate_due_at <= ${now} AND ${isFree(sql`certificate_lease_until`, sql`certificate_lease_life`)}`;
  const set = sql`certificate_lease_until = ${lease.until}, certificate_lease_life = ${lease.leaseId}`;
  return (await claimDue(tx, due, set, sql`certificate_due_at`, count)).map((domain) => ({ ...domain, lease }));
}

/** Leases up to `count` domains that have work due, in an order; `lease` is the SQL that writes the lease. Skips locked rows. */
export async function claimDue(tx: Transaction, due: Sql, lease: Sql, order: Sql, count: number): Promise<StoredDomain[]> {
  const rows = await tx.query<DomainRow>(sql`
    UPDATE domains SET ${lease} WHERE ${due} AND id IN (SELECT id FROM domains WHERE ${due} ORDER BY ${order} LIMIT ${count}${tx.skipLocked("domains")})
    RETURNING *`);
  return rows.map(fromRow);
}

/** How long a name rests whose certificate is due while its account's plan has no custom domains. */
export const suspendedMs = 3_600_000;

/** Makes due now what rests because the plan of an account had no custom domains, if it has them again. */
export async function resumeCertificates(db: Database, accountId: number, now: number): Promise<void> {
  if (!(await hasPaidPlan(db, accountId))) return;
  await writeInBatches(
    db,
    (limit) => sql`
    UPDATE domains SET certificate_due_at = ${now} WHERE account_id = ${accountId} AND id IN (
      SELECT id FROM domains WHERE account_id = ${accountId} AND status = 'verified'
        AND certificate_due_at > ${now} AND certificate_due_at <= ${now + suspendedMs}
        AND (certificate_retry_at IS NULL OR certificate_retry_at <= ${now}) ${limit})
    RETURNING 1`,
  );
}

export type CertificateNote = Partial<Omit<StoredDomain["certificate"], "wantedSince">> & {
  caa?: StoredDomain["caa"];
  problems?: DomainProblem[];
};

/** A name whose certificate is looked at by this process as long as its lease holds. */
export type ClaimedDomain = StoredDomain & { lease: RowLease };

/** The name as it now stands, locked; null for a worker that lost its lease, or whose name was removed and added again. */
export async function lockClaimed(tx: Transaction, { accountId, id, lease }: ClaimedDomain): Promise<StoredDomain | null> {
  return first(
    await tx.query<DomainRow>(sql`
    SELECT * FROM domains WHERE account_id = ${accountId} AND id = ${id}
      AND certificate_lease_until = ${lease.until} AND certificate_lease_life = ${lease.leaseId}${tx.forUpdate}`),
  );
}

/** Writes what became of a certificate, unless the lease was lost. Gives whether it did. `release` ends the lease. */
export async function noteCertificate(tx: Transaction, claimed: ClaimedDomain, note: CertificateNote, release: boolean): Promise<boolean> {
  const before = await lockClaimed(tx, claimed);
  if (before === null) return false;
  const { accountId, id, lease } = claimed;
  const after = { ...before.certificate, ...note };
  await tx.query(sql`
    UPDATE domains SET certificate_id = ${after.id}, certificate_status = ${after.status}, certificate_issued_at = ${after.issuedAt},
      certificate_expires_at = ${after.expiresAt}, certificate_problem = ${after.problem}, certificate_retry_at = ${after.retryAt},
      certificate_due_at = ${after.dueAt}, caa = ${note.caa ?? before.caa}, problems = ${JSON.stringify(note.problems ?? before.problems)},
      certificate_lease_until = ${release ? null : lease.until}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id}`);
  return true;
}

const first = (rows: DomainRow[]): StoredDomain | null => (rows[0] ? fromRow(rows[0]) : null);

function fromRow(row: DomainRow): StoredDomain {
  const time = (column: string) => row[column] as number | null;
  return {
    hostname: String(row["hostname"]),
    primary: Boolean(row["is_primary"]),
    becomesPrimary: Boolean(row["becomes_primary"]),
    redirect: redirectOf(row),
    id: Number(row["id"]),
    accountId: Number(row["account_id"]),
    projectId: Number(row["project_id"]),
    registrableDomain: String(row["registrable_domain"]),
    kind: row["kind"] as DomainKind,
    status: row["status"] as DomainStatus,
    problems: JSON.parse(String(row["problems"])) as DomainProblem[],
    caa: row["caa"] as StoredDomain["caa"],
    proofNeeded: Boolean(row["proof_needed"]),
    nextCheckAt: time("next_check_at"),
    certificate: {
      id: time("certificate_id"),
      status: row["certificate_status"] as CertificateStatus,
      issuedAt: time("certificate_issued_at"),
      expiresAt: time("certificate_expires_at"),
      problem: row["certificate_problem"] as string | null,
      retryAt: time("certificate_retry_at"),
      wantedSince: time("certificate_wanted_since"),
      dueAt: time("certificate_due_at"),
    },
    version: Number(row["version"]),
    createdAt: Number(row["created_at"]),
    firstVerifiedAt: time("first_verified_at"),
    verifiedAt: time("verified_at"),
    isLost: false,
  };
}
