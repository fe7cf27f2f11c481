import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import type { DnsVerdict } from "../dns/verification.ts";
import { domainChanged } from "../domains/domains.ts";
import { lockProjectOf } from "../projects/projects.store.ts";
import { promoteToPrimary } from "../domains/names.store.ts";
import type { StoredDomain } from "../domains/domain-rows.ts";
import type { AcmeProblem } from "../acme/acme-problem.ts";
import { renewalIdentifier } from "../acme/ari.ts";
import { recordUse, type LimitSubjects } from "./acme-usage.store.ts";
import type { Authority } from "./authority.ts";
import type { LimitReached } from "./budget.ts";
import type { OrderedCertificate } from "./certificate-order.ts";
import { saveProgress, saveResult, type CertificateUpdate, type ClaimedDomain } from "./certificate-state.store.ts";
import { saveCertificate, setRenewAt, type StoredCertificate } from "./certificates.store.ts";
import { deleteChallenges } from "./challenges.store.ts";
import { deleteCertificateOrder, findCertificateOrder, saveFailures, saveHold } from "./certificate-orders.store.ts";
import { keptInPlace } from "./former-authority.ts";
import { firstAskAt, holdAfterFailure, lookAgainAt, renewAt, retryAfterFailure, type Lifetime } from "./renewal.ts";
import { isTrustedChain, rootsOfSystem } from "./trust.ts";

// The work on a name ends in one of these functions. Each saves a result and the name's next due time, or nothing if the worker has lost its lease.

type ResultParts = { db: Database; clock: Clock; announcer: Announcer; authority: Pick<Authority, "directoryUrl"> };

/** Saves that no order is due. Deletes the last order, whose count of failures would delay a later renewal. */
export async function saveValid({ db }: ResultParts, domain: ClaimedDomain, due: { renewAt: number; dueAt: number }): Promise<void> {
  await db.write(async (tx) => {
    if (!(await saveResult(tx, domain, { dueAt: due.dueAt, status: "issued", problem: null, retryAt: null }))) return;
    await setRenewAt(tx, domain.accountId, domain.hostname, due.renewAt);
    await deleteCertificateOrder(tx, domain.accountId, domain.hostname);
  });
}

/** Saves a new certificate and has every node serve it, in place of the `former` one. */
export async function saveIssued(
  parts: ResultParts,
  domain: ClaimedDomain,
  { issued, key }: OrderedCertificate,
  former: StoredCertificate | null,
  onKept: (hostname: string) => void,
): Promise<void> {
  const { db, clock, announcer } = parts;
  const { accountId, hostname } = domain;
  const { chain, notBefore, notAfter } = issued;
  const now = clock();
  const renewalId = renewalIdentifier(issued.leaf);
  const at = renewAt(issued, null, renewalId ?? hostname);
  const subjects = subjectsOf(parts, domain);
  const { directoryUrl } = subjects;
  const isTrusted = isTrustedChain(chain, rootsOfSystem());
  const isSaved = await db.write(async (tx) => {
    const kept = await keptInPlace(tx, former, { directoryUrl, isTrusted, now });
    if (kept !== null) {
      await recordUse(tx, "duplicates", subjects, now);
      await recordUse(tx, "domain", subjects, now);
      await saveResult(tx, domain, { dueAt: lookAgainAt(now, kept), status: "issued", problem: null, retryAt: null });
      await deleteCertificateOrder(tx, accountId, hostname);
      await deleteChallenges(tx, accountId, hostname);
      onKept(hostname);
      return false;
    }
    const dueAt = firstAskAt(now, at, issued);
    const done = { status: "issued", issuedAt: now, expiresAt: notAfter, problem: null, retryAt: null, dueAt } as const;
    await lockProjectOf(tx, domain);
    // Precedes `saveCertificate`, which refers to the name's row: that row may have been deleted.
    if (!(await saveProgress(tx, domain, done))) return false;
    const id = await saveCertificate(tx, accountId, { hostname, chain, key, notBefore, notAfter, renewalId, renewAt: at, directoryUrl });
    await deleteCertificateOrder(tx, accountId, hostname);
    await deleteChallenges(tx, accountId, hostname);
    await recordUse(tx, "duplicates", subjects, now);
    await recordUse(tx, "domain", subjects, now);
    await saveResult(tx, domain, { id });
    await promoteToPrimary(tx, accountId, hostname);
    await announcer.publish(tx, domainChanged(hostname));
    return true;
  });
  if (isSaved) await announcer.waitForAll();
}

export function saveLimitReached(parts: ResultParts, domain: ClaimedDomain, { limit, retryAt }: LimitReached): Promise<void> {
  const problem = `The certificate authority's limit "${limit}" is used up for now. The next try starts as soon as the limit allows it.`;
  return finish(parts, domain, { status: statusAfterFailure(parts, domain), problem, retryAt, dueAt: retryAt });
}

/** Saves the DNS problems that prevent an order, so that the owner sees them. */
export async function saveBlocked(parts: ResultParts, domain: ClaimedDomain, verdict: DnsVerdict): Promise<void> {
  const { db, clock, authority } = parts;
  const { accountId, hostname } = domain;
  const failures = await failuresIncludingThis(parts, domain);
  const retryAt = retryAfterFailure(failures, clock(), null, lifetimeOf(domain));
  const { problems, certificate: caa } = verdict;
  const problem = problems.map(({ message }) => message).join(" ");
  const status = statusAfterFailure(parts, domain);
  await db.write(async (tx) => {
    if (!(await saveResult(tx, domain, { status, problem, problems, caa, retryAt, dueAt: retryAt }))) return;
    await saveFailures(tx, accountId, hostname, { directoryUrl: authority.directoryUrl, failures, isOver: false });
  });
}

/** Saves a failure at the authority. The worker retries after growing pauses, and continues the same order unless that is invalid. */
export async function saveFailure(parts: ResultParts, domain: ClaimedDomain, error: AcmeProblem): Promise<void> {
  const { db, clock, authority, announcer } = parts;
  const { accountId, hostname } = domain;
  const failures = await failuresIncludingThis(parts, domain);
  const now = clock();
  const retryAt = retryAfterFailure(failures, now, error.retryAt, lifetimeOf(domain));
  const status = statusAfterFailure(parts, domain);
  await db.write(async (tx) => {
    if (!(await saveResult(tx, domain, { status, problem: error.message, retryAt, dueAt: retryAt }))) return;
    await saveHold(tx, hostname, authority.directoryUrl, holdAfterFailure(now, error.retryAt, lifetimeOf(domain)));
    const isOver = error.failure === "invalid";
    await saveFailures(tx, accountId, hostname, { directoryUrl: authority.directoryUrl, failures, isOver });
    if (!isOver) return;
    await recordUse(tx, "failures", subjectsOf(parts, domain), now);
    await deleteChallenges(tx, accountId, hostname);
    await announcer.publish(tx, domainChanged(hostname));
  });
  await announcer.waitForAll();
}

/** Saves any other result. */
export async function finish({ db }: ResultParts, domain: ClaimedDomain, update: CertificateUpdate): Promise<void> {
  await db.write((tx) => saveResult(tx, domain, update));
}

async function failuresIncludingThis({ db }: ResultParts, { accountId, hostname }: ClaimedDomain): Promise<number> {
  return ((await findCertificateOrder(db, accountId, hostname))?.failures ?? 0) + 1;
}

export function subjectsOf({ authority }: ResultParts, { hostname, registrableDomain }: StoredDomain): LimitSubjects {
  return { hostname, registrableDomain, directoryUrl: authority.directoryUrl };
}

function lifetimeOf({ certificate: { issuedAt, expiresAt } }: StoredDomain): Lifetime | null {
  return issuedAt === null || expiresAt === null ? null : { notBefore: issuedAt, notAfter: expiresAt };
}

/** Stays `issued` after a failed renewal while the old certificate is valid, because that is still served. */
function statusAfterFailure({ clock }: ResultParts, { certificate }: StoredDomain): "issued" | "failing" {
  return certificate.id !== null && (certificate.expiresAt ?? 0) > clock() ? "issued" : "failing";
}
