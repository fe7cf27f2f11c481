import sql from "sql-template-tag";
import { hourMs } from "../../platform/clock.ts";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { claimByAccount, type ClaimShare } from "../../platform/jobs/worker.ts";
import type { RowClaim, RowLease } from "../../platform/nodes/nodes.ts";
import { NotPermitted } from "../acme/acme-problem.ts";
import type { Hostname } from "../dns/hostnames.ts";
import {
  claimDue,
  hasPaidPlan,
  reviewTroublesOf,
  type CertificateState,
  domainFromRow,
  type DomainRow,
  type StoredDomain,
  recordCertificate,
} from "../domains/domains.store.ts";
import { serviceAccount, tablesOf } from "./certificates.store.ts";

// Three places update the `certificate_…` columns of `domains` and `service_domains`: this file, `requestCertificate` (checks.ts) and `makeFormerDue`
// (former-authority.ts).

/** How often (ms) the worker rechecks whether an account with suspended certificates has a plan with custom domains. */
export const suspendedMs = hourMs;

/** A name that this process works on as long as its lease holds. */
export type ClaimedDomain = StoredDomain & { lease: RowLease };

/** The fields that change in a certificate's state and, if the worker checked the name's DNS, in the result of that check. */
export type CertificateUpdate = Partial<Omit<CertificateState, "wantedSince"> & Pick<StoredDomain, "caa" | "problems">>;

/**
 * Leases names whose certificate is due: first `serviceHost`, then customers' in turns by account. Of those that wait for the same moment of the budget,
 * the soonest expiry comes first.
 */
export async function claimCertificates(
  tx: Transaction,
  share: ClaimShare,
  { lease, now, isFree }: RowClaim,
  serviceHost: string | null,
): Promise<ClaimedDomain[]> {
  await tx.lock("claims of certificates");
  const due = sql`certificate_due_at <= ${now} AND ${isFree(sql`certificate_lease_until`, sql`certificate_lease_life`)}`;
  const set = sql`certificate_lease_until = ${lease.until}, certificate_lease_life = ${lease.leaseId}`;
  const order = sql`certificate_due_at, certificate_expires_at`;
  const service =
    serviceHost === null ? [] : await claimDue(tx, "service_domains", sql`${due} AND hostname = ${serviceHost}`, set, order, 1);
  const customers = await claimByAccount({ ...share, count: share.count - service.length }, sql`account_id`, (uncrowded, room) =>
    claimDue(tx, "domains", sql`${due} ${uncrowded}`, set, order, room),
  );
  return [...service, ...customers].map((domain) => ({ ...domain, lease }));
}

/**
 * Adds the host of PUBLIC_URL, due now or, if it has a hold, at `heldUntil` (ms). If it was added before and has no certificate yet, brings a later due
 * time forward to that moment, because the operator may have corrected something before this start.
 */
export async function addServiceHost(db: Database, host: Hostname, now: number, heldUntil: number | null): Promise<void> {
  const dueAt = heldUntil ?? now;
  await db.write((tx) =>
    tx.query(sql`
      INSERT INTO service_domains (account_id, id, project_id, hostname, registrable_domain, kind, status, problems, caa, certificate_status,
        certificate_due_at, version, created_at)
      VALUES (${serviceAccount}, nextval('domain_ids'), 0, ${host.hostname}, ${host.registrableDomain}, ${host.kind}, 'verified', '[]', 'unknown',
        'issuing', ${dueAt}, 1, ${now})
      ON CONFLICT (account_id, hostname) DO UPDATE SET registrable_domain = excluded.registrable_domain, kind = excluded.kind,
        certificate_due_at = CASE
          WHEN service_domains.certificate_id IS NULL AND service_domains.certificate_due_at > excluded.certificate_due_at
          THEN excluded.certificate_due_at ELSE service_domains.certificate_due_at END`),
  );
}

/** Locks a claimed name. Returns null if the worker lost its lease, or if the name was removed, even if it has been added again since. */
async function lockClaimed(tx: Transaction, { accountId, id, lease }: ClaimedDomain): Promise<StoredDomain | null> {
  const [row] = await tx.query<DomainRow>(sql`
    SELECT * FROM ${tablesOf(accountId).names} WHERE account_id = ${accountId} AND id = ${id}
      AND certificate_lease_until = ${lease.until} AND certificate_lease_life = ${lease.leaseId}${tx.forUpdate}`);
  return row ? domainFromRow(row) : null;
}

/** Holds the lease of a claimed name until commit. @throws NotPermitted if the worker lost the lease */
export async function requireLease(tx: Transaction, domain: ClaimedDomain): Promise<void> {
  if ((await lockClaimed(tx, domain)) === null) throw new NotPermitted(`the lease of ${domain.hostname} was lost`);
}

/** Saves an update, and keeps the lease. Returns false, and saves nothing, if the lease was lost. */
export function saveProgress(tx: Transaction, claimed: ClaimedDomain, update: CertificateUpdate): Promise<boolean> {
  return saveUpdate(tx, claimed, update, claimed.lease.until);
}

/** Saves an update, and ends the lease. Returns false, and saves nothing, if the lease was lost. */
export function saveResult(tx: Transaction, claimed: ClaimedDomain, update: CertificateUpdate): Promise<boolean> {
  return saveUpdate(tx, claimed, update, null);
}

async function saveUpdate(tx: Transaction, claimed: ClaimedDomain, update: CertificateUpdate, leaseUntil: number | null): Promise<boolean> {
  const before = await lockClaimed(tx, claimed);
  if (before === null) return false;
  const { accountId, id } = claimed;
  const after = { caa: before.caa, problems: before.problems, ...before.certificate, ...update };
  await tx.query(sql`
    UPDATE ${tablesOf(accountId).names} SET certificate_id = ${after.id}, certificate_status = ${after.status}, certificate_issued_at = ${after.issuedAt},
      certificate_expires_at = ${after.expiresAt}, certificate_problem = ${after.problem}, certificate_retry_at = ${after.retryAt},
      certificate_due_at = ${after.dueAt}, caa = ${after.caa}, problems = ${JSON.stringify(after.problems)},
      certificate_lease_until = ${leaseUntil}, version = version + 1,
      first_verified_at = COALESCE(first_verified_at, ${after.issuedAt})
    WHERE account_id = ${accountId} AND id = ${id}`);
  if (accountId === serviceAccount) return true; // no customer has it, who would get events
  await reviewTroublesOf(tx, before);
  const { caa: _caa, problems: _problems, ...certificate } = { ...after, wantedSince: before.certificate.wantedSince };
  recordChange(tx, claimed, before, { ...before, certificate });
  return true;
}

/** Records an event for a new certificate, and for the first of several failures. `claimed`: the name before the work on it. */
function recordChange(tx: Transaction, claimed: StoredDomain, before: StoredDomain, after: StoredDomain): void {
  const [was, is] = [before.certificate, after.certificate];
  if (is.id !== was.id) recordCertificate(tx, was.id === null ? "certificate.issued" : "certificate.renewed", after, claimed);
  else if (is.problem !== null && was.problem === null) recordCertificate(tx, "certificate.failing", after, before);
}

/** Makes the suspended certificates of an account due now. Does nothing while its plan has no custom domains. */
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
