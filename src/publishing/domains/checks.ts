import sql from "sql-template-tag";
import { type Clock, minuteMs, hourMs } from "../../platform/clock.ts";
import type { Context } from "../../platform/context.ts";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { claimByAccount, type ClaimShare, openWorker, openWorkerInTurns, type Worker } from "../../platform/jobs/worker.ts";
import type { RowClaim, RowLease } from "../../platform/nodes/nodes.ts";
import type { CaaAuthority } from "../dns/caa.ts";
import { checkDns, type DnsVerdict, recordLeadsHere } from "../dns/dns.ts";
import type { ServiceNames } from "../dns/hostnames.ts";
import { type Dns, dnsFor } from "../dns/lookup.ts";
import { lockProjectOf } from "../projects/projects.store.ts";
import {
  type AppliedCheck,
  type CertificateState,
  claimDue,
  domainFromRow,
  type DomainRow,
  hasPaidPlan,
  lockHolder,
  recordAttention,
  saveCheck,
  type StoredDomain,
} from "./domains.store.ts";
import { domainChanged } from "./domains.ts";
import { promoteToPrimary } from "./names.store.ts";
import { listVerifications, recordVerification } from "./ownership.store.ts";
import { claimLifetimeMs, hasLapsed, needsProof, type OwnershipRecord, ownershipRecordFor } from "./ownership.ts";
import { type DomainStatus, isReady, type NameState } from "./serving.ts";
import { nextTroubleAt, type RecordedTrouble, recordedTroubles, troublesOf } from "./troubles.ts";

/** The parts that the checks of domains use. */
export type Checks = {
  dns: Dns;
  /** Used before a removal, which must not wait for a slow server. */
  quickDns: Dns;
  own: ServiceNames;
  /** The key that the tokens of ownership proofs are computed with. */
  proofSecret: () => Uint8Array;
  /** The certificate authority, with what CAA records name it by; null where the service orders no certificates. */
  authority: { directoryUrl: string; caa: () => CaaAuthority } | null;
};

/** The result of a check, not yet written. `coversProof`: the check included the ownership record. */
export type CheckOutcome = { verdict: DnsVerdict; coversProof: boolean };

type ClaimedCheck = StoredDomain & { lease: RowLease };

type TroubledName = Pick<StoredDomain, "accountId" | "hostname">;

/** The TXT record by which an account proves that a name is its own. */
export function ownershipRecordOf(
  { proofSecret }: Checks,
  { accountId, hostname }: { accountId: number; hostname: string },
): OwnershipRecord {
  return ownershipRecordFor(proofSecret(), accountId, hostname);
}

/** Whether visitors can be sent to a name at `now`. */
export function isReadyAt({ authority }: Checks, name: NameState, now: number): boolean {
  return isReady(name, authority !== null, now);
}

/** Whether a domain's record still leads here; false if DNS gives no answer. */
export function stillLeadsHere({ quickDns, own }: Checks, domain: StoredDomain): Promise<boolean> {
  return recordLeadsHere(dnsFor(domain.accountId, quickDns), { ...domain, platformDomain: own.platformDomain });
}

/** The status after a check. A name that was verified never becomes pending again; `unknown` changes nothing. */
export function statusAfter(status: DomainStatus, outcome: DnsVerdict["outcome"]): DomainStatus {
  if (outcome === "unknown") return status;
  if (outcome === "verified") return "verified";
  return status === "pending" ? "pending" : "failing";
}

/**
 * When DNS is checked next automatically, after a check at `now` (ms); null for a claim that has lapsed.
 * Pending: every minute for 10 minutes, every 10 minutes for 6 hours, hourly, and a last time at 48 hours. Verified: daily. Failing: hourly.
 */
export function nextCheckAt(domain: { status: DomainStatus; createdAt: number }, now: number): number | null {
  if (domain.status === "verified") return now + 24 * hourMs;
  if (domain.status === "failing") return now + hourMs;
  if (hasLapsed(domain, now)) return null;
  return Math.min(now + pendingIntervalMs(now - domain.createdAt), domain.createdAt + claimLifetimeMs);
}

function pendingIntervalMs(ageMs: number): number {
  if (ageMs < 10 * minuteMs) return minuteMs;
  return ageMs < 6 * hourMs ? 10 * minuteMs : hourMs;
}

/** Checks the DNS of a domain and writes nothing. */
export async function checkDomain(checks: Checks, db: Queryable, domain: StoredDomain): Promise<CheckOutcome> {
  const coversProof = needsProof(domain, await listVerifications(db, domain.registrableDomain));
  const expected = {
    ...domain,
    platformDomain: checks.own.platformDomain,
    challenge: coversProof ? ownershipRecordOf(checks, domain) : null,
    authority: checks.authority?.caa() ?? null,
  };
  return { verdict: await checkDns(dnsFor(domain.accountId, checks.dns), expected), coversProof };
}

/** Writes the result of a check; the caller has locked the project. Returns null if the domain was removed meanwhile. */
export async function applyCheck(
  { authority }: Checks,
  tx: Transaction,
  domain: StoredDomain,
  { verdict, coversProof }: CheckOutcome,
  { isAsked, now }: { isAsked: boolean; now: number },
): Promise<StoredDomain | null> {
  const before = await lockHolder(tx, domain.hostname);
  if (before === null || before.id !== domain.id) return null;
  const proofNeeded = needsProof(before, await listVerifications(tx, before.registrableDomain));
  // Another account verified a name of the same registrable domain during this check: check again, with the proof.
  const repeats = proofNeeded && !coversProof && verdict.outcome === "verified";
  const outcome = repeats ? "unknown" : verdict.outcome;
  const status = statusAfter(before.status, outcome);
  const after: StoredDomain = {
    ...before,
    status,
    problems: verdict.problems,
    caa: verdict.certificate,
    proofNeeded: status === "verified" ? false : proofNeeded,
    nextCheckAt: repeats ? now : nextCheckAt({ status, createdAt: before.createdAt }, now),
    verifiedAt: outcome === "verified" ? now : before.verifiedAt,
  };
  if (outcome === "verified") await recordVerification(tx, before, now);
  if (authority !== null) await requestCertificate(tx, { before, after, isAsked }, now, authority.directoryUrl);
  const saved = await saveCheck(tx, before, after);
  await noteTroubles(tx, saved, now);
  const isPromoted = isReady(stateOf(saved), authority !== null, now) && (await promoteToPrimary(tx, saved.accountId, saved.hostname));
  return isPromoted ? { ...saved, primary: true, becomesPrimary: false, version: saved.version + 1 } : saved;
}

function stateOf({ status, redirect, certificate }: StoredDomain): NameState {
  return { status, redirect, certificateId: certificate.id, certificateExpiresAt: certificate.expiresAt };
}

/**
 * Requests a certificate for a name if its check shows that it should get one, or if a person asked for one of the authority with this directory in
 * place of another's.
 */
async function requestCertificate(tx: Transaction, check: AppliedCheck, now: number, directoryUrl: string): Promise<void> {
  const { accountId, id, hostname } = check.before;
  const heldUntil = check.isAsked ? await findHold(tx, hostname, directoryUrl, now) : null;
  const { status, wantedSince, dueAt: dueNext, retryAt } = certificateAfterCheck(check, { heldUntil, now });
  const isReplaced = check.isAsked && check.after.status === "verified" && (await askToReplace(tx, accountId, hostname, directoryUrl));
  const dueAt = isReplaced ? (heldUntil ?? now) : dueNext;
  await tx.query(sql`
    UPDATE domains SET certificate_status = ${status}, certificate_wanted_since = ${wantedSince}, certificate_due_at = ${dueAt},
      certificate_retry_at = ${retryAt}
    WHERE account_id = ${accountId} AND id = ${id}`);
}

/**
 * Returns the state of a name's certificate after a check of its DNS, at `now` (ms). The certificate becomes due at once if the name has just
 * verified, if its CAA records allow the authority again after a failure, or if a person asks for a missing certificate. A missing certificate becomes due at
 * `heldUntil` instead if the service may not ask the authority before then. Its status changes from `none` (not wanted) to `issuing`.
 */
function certificateAfterCheck(
  { before, after, isAsked }: AppliedCheck,
  { heldUntil, now }: { heldUntil: number | null; now: number },
): CertificateState {
  const { certificate } = before;
  if (after.status !== "verified") return certificate;
  const isMissing = certificate.id === null || (certificate.expiresAt ?? 0) <= now;
  const isNew = before.status !== "verified" || certificate.wantedSince === null;
  if (isMissing && (isNew || isAsked)) {
    const status = certificate.status === "none" ? "issuing" : certificate.status;
    return { ...certificate, status, wantedSince: now, dueAt: heldUntil ?? now, retryAt: heldUntil ?? certificate.retryAt };
  }
  const isAllowedAgain = (isMissing || certificate.problem !== null) && before.caa !== "allowed" && after.caa === "allowed";
  return isNew || isAllowedAgain ? { ...certificate, dueAt: now } : certificate;
}

/* Certificates' tables, which checks write themselves: the folder of certificates imports this one. */

/** Has a name's certificate replaced if another authority issued it, because a person asked for that. Returns whether it did. */
async function askToReplace(tx: Transaction, accountId: number, hostname: string, directoryUrl: string): Promise<boolean> {
  const rows = await tx.query(sql`
    UPDATE certificates SET replace_asked = TRUE
    WHERE account_id = ${accountId} AND hostname = ${hostname} AND directory_url <> ${directoryUrl} RETURNING 1`);
  return rows.length > 0;
}

/** When (ms) the hold on a name at this authority ends; null if there is none. */
export async function findHold(db: Queryable, hostname: string, directoryUrl: string, now: number): Promise<number | null> {
  const [row] = await db.query<{ until: number }>(sql`
    SELECT until FROM certificate_holds
    WHERE hostname = ${hostname} AND until > ${now} AND (directory_url IS NULL OR directory_url = ${directoryUrl})`);
  return row?.until ?? null;
}

/** The shortest time between two checks that other accounts cause by asking for a name. */
const contestEveryMs = 60_000;

/** Makes the next check of a name due now, because another account has asked for the name. */
export async function checkContestedNow(tx: Transaction, { accountId, id }: StoredDomain, now: number): Promise<void> {
  await tx.query(sql`
    UPDATE domains SET next_check_at = ${now}, contested_at = ${now} WHERE account_id = ${accountId} AND id = ${id}
      AND next_check_at > ${now} AND (contested_at IS NULL OR contested_at <= ${now - contestEveryMs})`);
}

/** Longer than the slowest look-up. */
const leaseMs = 5 * 60_000;
const pollEveryMs = 1_000;

/** Checks the DNS of names on schedule (specification 5.5). Calls `verified` when a name is verified. */
export function openCheckWorker({ db, clock, announcer, leases, bounds, onError }: Context, checks: Checks, verified: () => void): Worker {
  async function check(domain: ClaimedCheck): Promise<void> {
    const checked = await checkDomain(checks, db, domain);
    const after = await db.write(async (tx) => {
      await lockProjectOf(tx, domain);
      // Another process has checked the name meanwhile, and its result is newer.
      if (!(await lockCheck(tx, domain, domain.lease))) return null;
      const applied = await applyCheck(checks, tx, domain, checked, { isAsked: false, now: clock() });
      if (applied !== null && servesDifferently(domain, applied)) await announcer.publish(tx, domainChanged(applied.hostname));
      return applied;
    });
    if (after === null) return;
    if (servesDifferently(domain, after)) await announcer.waitForAll();
    if (after.status === "verified") verified();
  }

  return openWorkerInTurns({
    turns: bounds.queue("checks"), // an account whose DNS servers never answer cannot delay the others
    claim: async (share) => {
      const claim = await leases.begin(leaseMs);
      if (claim === undefined) return [];
      const claimed = await db.write((tx) => claimChecks(tx, share, claim));
      return claimed.map((domain) => ({ ...domain, lease: claim.lease }));
    },
    run: check,
    everyMs: pollEveryMs,
    onError,
  });
}

function servesDifferently(before: StoredDomain, after: StoredDomain): boolean {
  return after.status !== before.status || after.primary !== before.primary;
}

/** Leases domains whose check is due, in turns by account. */
export async function claimChecks(tx: Transaction, share: ClaimShare, by: RowClaim): Promise<StoredDomain[]> {
  await tx.lock("claims of checks");
  const due = sql`next_check_at <= ${by.now} AND ${by.isFree(sql`check_lease_until`, sql`check_lease_life`)}`;
  const lease = sql`check_lease_until = ${by.lease.until}, check_lease_life = ${by.lease.leaseId}`;
  return claimByAccount(share, sql`account_id`, (uncrowded, room) =>
    claimDue(tx, "domains", sql`${due} ${uncrowded}`, lease, sql`next_check_at`, room),
  );
}

/** Locks a domain until commit. Returns false if this lease no longer holds its check. */
async function lockCheck(tx: Transaction, { accountId, id }: StoredDomain, { until, leaseId }: RowLease): Promise<boolean> {
  const rows = await tx.query(sql`
    SELECT 1 FROM domains WHERE account_id = ${accountId} AND id = ${id}
      AND check_lease_until = ${until} AND check_lease_life = ${leaseId}${tx.forUpdate}`);
  return rows.length > 0;
}

const reviewEveryMs = 5_000;
const reviewsMax = 16;

/** A claimed name becomes due again after this time (ms), in case the process ends before it reviews the name. */
const reviewMs = 60_000;

/** Records troubles of names that arise as time passes, or from their certificates and plans (specification 8.2). */
export function openTroublesWorker({ db, clock, onError }: { db: Database; clock: Clock; onError: (error: unknown) => void }): Worker {
  return openWorker<TroubledName>({
    claim: (count) => db.write((tx) => claimTroubles(tx, count, clock())),
    run: (domain) => db.write((tx) => noteTroublesOf(tx, domain, clock())),
    atOnceMax: reviewsMax,
    everyMs: reviewEveryMs,
    onError,
  });
}

/** Claims up to `count` names whose troubles may have changed. */
export async function claimTroubles(tx: Transaction, count: number, now: number): Promise<TroubledName[]> {
  const rows = await tx.query<{ account_id: number; hostname: string }>(sql`
    UPDATE domain_troubles SET due_at = ${now + reviewMs} WHERE (account_id, hostname) IN (
      SELECT account_id, hostname FROM domain_troubles WHERE due_at <= ${now} ORDER BY due_at ${limitTo(count)}${tx.skipLocked("domain_troubles")})
    RETURNING account_id, hostname`);
  return rows.map((row) => ({ accountId: row.account_id, hostname: row.hostname }));
}

/** Reviews the troubles of a claimed name, which may have changed or been removed since. */
async function noteTroublesOf(tx: Transaction, { accountId, hostname }: TroubledName, now: number): Promise<void> {
  const [row] = await tx.query<DomainRow>(
    sql`SELECT * FROM domains WHERE account_id = ${accountId} AND hostname = ${hostname}${tx.forUpdate}`,
  );
  if (row) await noteTroubles(tx, domainFromRow(row), now);
}

/** Records each new trouble of a locked name once. While the trouble lasts, it is not recorded again; if it ends and returns, it is. */
async function noteTroubles(tx: Transaction, domain: StoredDomain, now: number): Promise<void> {
  const { accountId, hostname } = domain;
  const isPaid = await hasPaidPlan(tx, accountId);
  const troubles = recordedTroubles(troublesOf(domain, { isPaid, waitsFor: null }, now));
  const nextAt = domain.status === "pending" || !isPaid ? null : nextTroubleAt(domain, now);
  const [row] = await tx.query<{ troubles: string }>(sql`
    SELECT troubles FROM domain_troubles WHERE account_id = ${accountId} AND hostname = ${hostname}`);
  const recorded = (row?.troubles ?? "").split(" ").filter(Boolean) as RecordedTrouble[];
  await tx.query(sql`
    INSERT INTO domain_troubles (account_id, hostname, troubles, due_at) VALUES (${accountId}, ${hostname}, ${troubles.join(" ")}, ${nextAt})
    ON CONFLICT (account_id, hostname) DO UPDATE SET troubles = excluded.troubles, due_at = excluded.due_at`);
  if (troubles.some((trouble) => !recorded.includes(trouble))) recordAttention(tx, domain, troubles, recorded);
}
