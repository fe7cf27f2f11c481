import sql, { empty, raw, type Sql } from "sql-template-tag";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { walkRows } from "../../platform/db/index-walk.ts";
import { type Origin, fieldsBefore, type EventDraft } from "../../platform/events.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { byId, invalidAt, Problem } from "../../platform/problem.ts";
import type { Hostname, DomainKind } from "../dns/hostnames.ts";
import { domainsMax, paidPlans, type CertificateStatus } from "./domains.ts";
import type { Redirect, DomainStatus } from "./serving.ts";
import type { DomainProblem, RecordedTrouble } from "./troubles.ts";

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
  return rows.map(domainFromRow);
}

/** `lock`: the transaction's `forUpdate`. @throws Problem `not_found` */
export async function findDomain(db: Queryable, accountId: number, projectId: number, hostname: string, lock = empty) {
  const [row] = await db.query<DomainRow>(sql`
    SELECT * FROM domains WHERE account_id = ${accountId} AND project_id = ${projectId} AND hostname = ${hostname}${lock}`);
  if (!row)
    throw new Problem("not_found", `No name ${JSON.stringify(hostname.slice(0, 255))} is attached to ${byId("project", projectId)}.`);
  return domainFromRow(row);
}

/** Locks a name until commit, whichever account holds it. */
export async function lockHolder(tx: Transaction, hostname: string): Promise<StoredDomain | null> {
  return first(await tx.query<DomainRow>(sql`SELECT * FROM domains WHERE hostname = ${hostname}${tx.forUpdate}`));
}

export async function findHolder(db: Queryable, hostname: string): Promise<StoredDomain | null> {
  return first(await db.query<DomainRow>(sql`SELECT * FROM domains WHERE hostname = ${hostname}`));
}

/** @throws ConstraintError `unique` if another account has just added the name, Problem `invalid_request` if the project has too many */
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
  const added = domainFromRow(rows[0]!);
  recordDomain(tx, "domain.added", added);
  return added;
}

/** The names of an account that are served now: their number, and the first `limit` by name. None if its plan has no custom domains. */
export async function listServedNames(db: Queryable, accountId: number, limit: number): Promise<{ count: number; hostnames: string[] }> {
  if (!(await hasPaidPlan(db, accountId))) return { count: 0, hostnames: [] };
  const served = sql`FROM domains WHERE account_id = ${accountId} AND status IN ('verified', 'failing')`;
  const [row] = await db.query<{ n: number }>(sql`SELECT COUNT(*) AS n ${served}`);
  const names = await db.query<{ hostname: string }>(sql`SELECT hostname ${served} ORDER BY hostname ${limitTo(limit)}`);
  return { count: Number(row?.n), hostnames: names.map(({ hostname }) => hostname) };
}

/** Whether an account serves names that tell browsers to open them over HTTPS only. */
export async function hasNamesWithHsts(db: Queryable, accountId: number, now: number): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT 1 FROM domains d JOIN projects p ON p.account_id = d.account_id AND p.id = d.project_id
    WHERE d.account_id = ${accountId} AND d.status IN ('verified', 'failing') AND d.certificate_expires_at > ${now} AND p.hsts
    ${limitTo(1)}`);
  return rows.length > 0;
}

/** @param origin who removes the name, as its event says. Default: the caller. An account that loses a name must not learn who took it over. */
export async function deleteDomain(tx: Transaction, domain: StoredDomain, origin?: Origin): Promise<void> {
  const { accountId, hostname } = domain;
  recordDomain(tx, "domain.removed", domain, domain, origin);
  await tx.query(sql`DELETE FROM domains WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

/** Saves a name after a check of its DNS, and ends the lease of the check. `before`: the name before the check. */
export async function saveCheck(tx: Transaction, before: StoredDomain, domain: StoredDomain): Promise<StoredDomain> {
  const rows = await tx.query<DomainRow>(sql`
    UPDATE domains SET status = ${domain.status}, problems = ${JSON.stringify(domain.problems)}, caa = ${domain.caa},
      proof_needed = ${domain.proofNeeded}, next_check_at = ${domain.nextCheckAt}, check_lease_until = NULL, verified_at = ${domain.verifiedAt},
      first_verified_at = COALESCE(first_verified_at, ${domain.verifiedAt}), version = version + 1
    WHERE account_id = ${domain.accountId} AND id = ${domain.id} RETURNING *`);
  const saved = domainFromRow(rows[0]!);
  if (saved.status === "verified" && before.status !== "verified") recordDomain(tx, "domain.verified", saved, before);
  if (saved.status === "failing" && before.status !== "failing") recordDomain(tx, "domain.failing", saved, before);
  return saved;
}

/**
 * Leases up to `count` names of a table that match `due`, in the given order. `lease` is the SQL that writes the lease. Skips locked rows.
 */
export async function claimDue(
  tx: Transaction,
  table: "domains" | "service_domains",
  due: Sql,
  lease: Sql,
  order: Sql,
  count: number,
): Promise<StoredDomain[]> {
  const names = raw(table);
  const rows = await tx.query<DomainRow>(sql`
    UPDATE ${names} SET ${lease} WHERE ${due} AND id IN (SELECT id FROM ${names} WHERE ${due} ORDER BY ${order} ${limitTo(count)}${tx.skipLocked(table)})
    RETURNING *`);
  return rows.map(domainFromRow);
}

/** Makes the worker review the troubles of an account's names, because its plan has changed. */
export async function reviewTroubles(db: Database, accountId: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
    UPDATE domain_troubles SET due_at = 0 WHERE account_id = ${accountId} AND hostname IN (
      SELECT hostname FROM domain_troubles WHERE account_id = ${accountId} AND (due_at IS NULL OR due_at > 0) ${limit})
    RETURNING 1`,
  );
}

/** Makes the worker review the troubles of a name, because a change may have caused or ended one. */
export async function reviewTroublesOf(tx: Transaction, { accountId, hostname }: StoredDomain): Promise<void> {
  await tx.query(sql`
    INSERT INTO domain_troubles (account_id, hostname, troubles, due_at) VALUES (${accountId}, ${hostname}, '', 0)
    ON CONFLICT (account_id, hostname) DO UPDATE SET due_at = 0`);
}

const first = (rows: DomainRow[]): StoredDomain | null => (rows[0] ? domainFromRow(rows[0]) : null);

/** A row of `domains`. Times in ms since the Unix epoch. */
export type StoredDomain = {
  id: number;
  accountId: number;
  projectId: number;
  hostname: string;
  registrableDomain: string;
  kind: DomainKind;
  status: DomainStatus;
  primary: boolean;
  /** Whether it becomes the primary name once it is ready. */
  becomesPrimary: boolean;
  redirect: Redirect | null;
  problems: DomainProblem[];
  caa: "allowed" | "blocked" | "unknown";
  proofNeeded: boolean;
  nextCheckAt: number | null;
  /** Three places update its columns: `certificate-state.store.ts`, `requestCertificate` (checks.ts) and `makeFormerDue` (former-authority.ts). */
  certificate: CertificateState;
  version: number;
  createdAt: number;
  firstVerifiedAt: number | null;
  verifiedAt: number | null;
  /** Whether another account has taken it over. */
  isLost: boolean;
};

/** The certificate of a name. `wantedSince`: when it was last requested. `dueAt`: when the certificate worker next works on the name. */
export type CertificateState = {
  id: number | null;
  status: CertificateStatus;
  issuedAt: number | null;
  expiresAt: number | null;
  problem: string | null;
  retryAt: number | null;
  wantedSince: number | null;
  dueAt: number | null;
};

/** A name before and after a check of its DNS. `isAsked`: a person requested the check, so a missing certificate is ordered now. */
export type AppliedCheck = { before: StoredDomain; after: StoredDomain; isAsked: boolean };

export type DomainRow = Record<string, number | string | boolean | null>;

/** The fields that identify a name, from a row of `domains` or `lost_domains`. */
export function identityFromRow(row: Record<string, unknown>) {
  return {
    id: Number(row["id"]),
    accountId: Number(row["account_id"]),
    projectId: Number(row["project_id"]),
    hostname: String(row["hostname"]),
    registrableDomain: String(row["registrable_domain"]),
    kind: row["kind"] as DomainKind,
  };
}

export function domainFromRow(row: DomainRow): StoredDomain {
  const time = (column: string) => row[column] as number | null;
  return {
    ...identityFromRow(row),
    status: row["status"] as DomainStatus,
    primary: Boolean(row["is_primary"]),
    becomesPrimary: Boolean(row["becomes_primary"]),
    redirect: redirectOf(row),
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

/** The redirect of a row of `domains`. */
export function redirectOf(row: DomainRow): Redirect | null {
  const to = row["redirect_to"] as string | null;
  return to === null ? null : { to, status: Number(row["redirect_status"]) as Redirect["status"] };
}

type DomainEvent = Extract<EventDraft["type"], `domain.${string}`>;
type CertificateEvent = Extract<EventDraft["type"], `certificate.${string}`>;
const moment = (time: number | null): string | null => (time === null ? null : formatDateTime(time));

/** Records an event of a name. `before`: the name before the event. Default: unchanged. */
function recordDomain(tx: Transaction, type: DomainEvent, domain: StoredDomain, before = domain, origin?: Origin): void {
  const { accountId, hostname, version } = domain;
  const data = eventData(domain);
  tx.record(
    { accountId, type, resource: { type: "domain", id: hostname }, data, previous: fieldsBefore(eventData(before), data), version },
    origin,
  );
}

/** Records that a name needs its owner's attention, with its troubles now and those recorded before. */
export function recordAttention(tx: Transaction, domain: StoredDomain, troubles: RecordedTrouble[], recorded: RecordedTrouble[]): void {
  const { accountId, hostname, version } = domain;
  const data = { ...eventData(domain), troubles };
  const previous = { troubles: recorded };
  tx.record({ accountId, type: "domain.attention", resource: { type: "domain", id: hostname }, data, previous, version });
}

/** Records an event of a name's certificate. */
export function recordCertificate(tx: Transaction, type: CertificateEvent, domain: StoredDomain, before: StoredDomain): void {
  const { accountId, hostname } = domain;
  const data = certificateOf(domain);
  const previous = fieldsBefore(certificateOf(before), data);
  tx.record({ accountId, type, resource: { type: "certificate", id: hostname }, data, previous });
}

/** The fields of a name in its events. Leaves out fields that depend on other names, on settings or on the time. */
function eventData(domain: StoredDomain) {
  const { hostname, projectId, kind, status, primary, redirect, problems, createdAt, verifiedAt } = domain;
  const times = { createdAt: formatDateTime(createdAt), verifiedAt: moment(verifiedAt) };
  return { hostname, projectId, kind, status, primary, redirect, problems, ...times };
}

function certificateOf({ hostname, projectId, certificate: { status, issuedAt, expiresAt, problem, retryAt } }: StoredDomain) {
  const times = { issuedAt: moment(issuedAt), expiresAt: moment(expiresAt), retryAt: moment(retryAt) };
  return { hostname, projectId, status, problem, ...times };
}
