import { type Clock, hourMs } from "../../platform/clock.ts";
import type { Context } from "../../platform/context.ts";
import type { FairShare } from "../../platform/jobs/fair-share.ts";
import { openWorkerInTurns, type Worker } from "../../platform/jobs/worker.ts";
import { type AcmeAccount, withPermit } from "../acme/acme-client.ts";
import { AcmeProblem, NotPermitted } from "../acme/acme-problem.ts";
import { knowsRenewalInfo, renewalIdentifier, renewalInfoOf } from "../acme/ari.ts";
import { isForOperator } from "../dns/dns-problems.ts";
import { checkServiceHost, type DnsVerdict } from "../dns/dns.ts";
import type { Hostname } from "../dns/hostnames.ts";
import { findHold, checkDomain, type Checks } from "../domains/checks.ts";
import { hasPaidPlan } from "../domains/domains.store.ts";
import { domainChanged } from "../domains/domains.ts";
import { promoteToPrimary } from "../domains/names.store.ts";
import { lockProjectOf } from "../projects/projects.store.ts";
import type { Authority } from "./authority.ts";
import { recordUse, type Budget, type LimitSubjects, type LimitReached, type OrderKind } from "./budget.ts";
import { orderCertificate, type OrderedCertificate } from "./certificate-order.ts";
import {
  addServiceHost,
  claimCertificates,
  resumeCertificates,
  saveProgress,
  saveResult,
  suspendedMs,
  type CertificateUpdate,
  type ClaimedDomain,
} from "./certificate-state.store.ts";
import {
  deleteCertificateOrder,
  deleteChallenges,
  findCertificate,
  findCertificateOrder,
  saveCertificate,
  saveFailures,
  saveHold,
  serviceAccount,
  setRenewAt,
  type StoredCertificate,
} from "./certificates.store.ts";
import {
  findAuthorityTrust,
  isFormer,
  isTrustedChain,
  keepsFormer,
  keptFormerWarning,
  keptInPlace,
  replaceFormer,
  rootsOfSystem,
} from "./former-authority.ts";
import { firstAskAt, holdAfterFailure, lookAgainAt, renewAt, retryAfterFailure, type Lifetime } from "./renewal.ts";

/** What the work on a name needs. */
type Work = Pick<Context, "db" | "clock" | "keys" | "announcer" | "leases" | "onError"> & {
  log: Log;
  authority: Authority;
  budget: Budget;
  /** The checks before an order: as strict as the authority's, so that no order is wasted. */
  checks: Checks;
  /** The host of PUBLIC_URL if the service gets its certificate. */
  serviceHost: Hostname | null;
  /** Accounts take turns, so that the due names of one do not delay another's. */
  turns: FairShare<number>;
  /** Warns of DNS that only the operator can correct. */
  warnOfDns: Warn;
  /** Warns of trusted certificates that stay (decision 0104). */
  warnOfKept: Warn;
};

type Log = { info(fields: object, message: string): void; warn(fields: object, message: string): void };
type Warn = (fields: object, message: string) => void;

/** Longer than an order usually takes: 6 requests of at most 15 s and 3 waits of a minute. Frees the names of a node that hangs. */
const leaseMs = 10 * 60_000;
const pollEveryMs = 1_000;
/** How long to wait before the next request for renewal information, if the last one failed. */
const askAgainMs = 6 * hourMs;
const warnEveryMs = hourMs;

/**
 * Orders and renews certificates for all verified names and for the host of PUBLIC_URL. Only one node at a time works on a name. While a node is paused or
 * cut off, another node may claim its names. The first node then sends no more requests for them and saves no results.
 */
export function openCertificateWorker(parts: Omit<Work, "warnOfDns" | "warnOfKept">): Worker {
  const { db, clock, authority, budget, log, serviceHost, leases, turns, onError } = parts;
  const work: Work = { ...parts, warnOfDns: hourly(log, clock), warnOfKept: hourly(log, clock) };
  let isPrepared = false;
  const working = new Map<string, Promise<void>>();

  async function prepare(): Promise<void> {
    if (serviceHost) {
      const heldUntil = await findHold(db, serviceHost.hostname, authority.directoryUrl, clock());
      await addServiceHost(db, serviceHost, clock(), heldUntil);
    }
    await replaceFormer(db, authority.directoryUrl, budget, log, clock());
    isPrepared = true;
  }

  /** If a node loses its lease and gets a new one, it may claim a name that it is still working on. The new work waits until the earlier work ends. */
  async function workAlone(domain: ClaimedDomain): Promise<void> {
    const { hostname } = domain;
    while (working.has(hostname)) await working.get(hostname)?.catch(() => undefined);
    const running = workOn(work, domain).finally(() => working.delete(hostname));
    working.set(hostname, running);
    await running;
  }

  return openWorkerInTurns({
    turns,
    claim: async (share) => {
      if (!isPrepared) await prepare();
      const claim = await leases.begin(leaseMs);
      return claim === undefined ? [] : db.write((tx) => claimCertificates(tx, share, claim, serviceHost?.hostname ?? null));
    },
    run: workAlone,
    everyMs: pollEveryMs,
    onError,
  });
}

/** Logs a warning that may concern many names: each hour for one of them. */
function hourly(log: Log, clock: Clock): Warn {
  let warnedAt = -Infinity;
  return (fields, message) => {
    if (clock() - warnedAt < warnEveryMs) return;
    warnedAt = clock();
    log.warn(fields, message);
  };
}

const isService = ({ accountId }: ClaimedDomain): boolean => accountId === serviceAccount;

/**
 * Orders or renews one name's certificate if an order is due. Saves the result, and when to work on the name again. Sends requests only while this node
 * holds the lease; returns without an error if it has lost it.
 */
async function workOn(parts: Work, domain: ClaimedDomain): Promise<void> {
  const { db, clock, authority, leases } = parts;
  const isWanted = domain.status === "verified" && (isService(domain) || (await hasPaidPlan(db, domain.accountId)));
  if (!isWanted) return suspend(parts, domain);
  const retryAt = await findHold(db, domain.hostname, authority.directoryUrl, clock());
  if (retryAt !== null) return finish(parts, domain, { retryAt, dueAt: retryAt });
  const certificate = await findCertificate(db, domain.accountId, domain.hostname);
  let account: AcmeAccount | undefined;
  try {
    account = await authority.account();
    await renewOrOrder(
      parts,
      domain,
      certificate,
      withPermit(account, () => leases.isHeld(domain.lease)),
    );
  } catch (error) {
    if (error instanceof NotPermitted) return;
    if (!(error instanceof AcmeProblem)) throw error;
    if (account !== undefined && error.type === "accountDoesNotExist") authority.forget(account);
    await saveFailure(parts, domain, error);
  }
}

/** Stops the work on a name until it verifies again, or until its account's plan has custom domains again. */
async function suspend(parts: Work, domain: ClaimedDomain): Promise<void> {
  const { db, clock } = parts;
  await finish(parts, domain, { dueAt: domain.status === "verified" ? clock() + suspendedMs : null });
  // The plan may have changed back before this was saved.
  await resumeCertificates(db, domain.accountId, clock());
}

async function renewOrOrder(
  parts: Work,
  domain: ClaimedDomain,
  certificate: StoredCertificate | null,
  account: AcmeAccount,
): Promise<void> {
  const { db } = parts;
  const due = await nextOrder(parts, domain.hostname, certificate, account);
  if ("renewAt" in due) return saveValid(parts, domain, due);
  const verdict = await preflight(parts, domain);
  if (verdict.outcome !== "verified" || verdict.certificate !== "allowed") return saveBlocked(parts, domain, verdict);
  const hasValid = certificate !== null && certificate.notAfter > parts.clock();
  const progress = { status: hasValid ? "issued" : "issuing", caa: "allowed", problems: verdict.problems } as const;
  if (!(await db.write((tx) => saveProgress(tx, domain, progress)))) return;

  const { kind, replaces } = due;
  const ordered = await orderCertificate(parts, domain, account, {
    budget: parts.budget,
    subjects: subjectsOf(parts, domain),
    kind,
    replaces,
  });
  await ("limit" in ordered ? saveLimitReached(parts, domain, ordered) : saveIssued(parts, domain, ordered, certificate));
}

/** Checks the DNS of a name before an order, and warns of what only the operator can solve. */
async function preflight({ db, checks, warnOfDns }: Work, domain: ClaimedDomain): Promise<DnsVerdict> {
  if (isService(domain)) return checkServiceHost(checks.dns, domain.hostname, checks.authority?.caa() ?? null);
  const { verdict } = await checkDomain(checks, db, domain);
  for (const { found, message } of verdict.problems.filter(isForOperator))
    warnOfDns({ host: domain.hostname, found }, `only the operator can solve this: ${message}`);
  return verdict;
}

/**
 * Returns the order that is due now. If none is due, returns when to renew the certificate and when to check again (ms since the epoch). A certificate of
 * another authority is replaced at once, but not a trusted one by one that is not, unless a person asked for that (decision 0104).
 */
async function nextOrder(
  { db, clock, authority: { directoryUrl } }: Work,
  hostname: string,
  certificate: StoredCertificate | null,
  { session }: AcmeAccount,
): Promise<{ kind: OrderKind; replaces: string | undefined } | { renewAt: number; dueAt: number }> {
  const now = clock();
  if (certificate === null || certificate.notAfter <= now) return { kind: "new", replaces: undefined };
  const { renewalId, notAfter } = certificate;
  if (isFormer(certificate, directoryUrl)) {
    const isKept = keepsFormer(certificate, await findAuthorityTrust(db, directoryUrl));
    return isKept ? { renewAt: notAfter, dueAt: lookAgainAt(now, certificate) } : { kind: "new", replaces: undefined };
  }
  const info = await renewalInfoOf(session, renewalId);
  const at = renewAt(certificate, info, renewalId ?? hostname);
  if (at <= now)
    return { kind: info !== null && renewalId !== null && info.start <= now ? "ari" : "renewal", replaces: renewalId ?? undefined };
  const asksAgain = renewalId !== null && knowsRenewalInfo(session);
  return { renewAt: at, dueAt: Math.min(at, info?.askAgainAt ?? (asksAgain ? now + askAgainMs : at)) };
}

// The work on a name ends in one of these functions. Each saves a result and the name's next due time, or nothing if the worker has lost its lease.

/** Saves that no order is due. Deletes the last order, whose count of failures would delay a later renewal. */
async function saveValid({ db }: Work, domain: ClaimedDomain, due: { renewAt: number; dueAt: number }): Promise<void> {
  await db.write(async (tx) => {
    if (!(await saveResult(tx, domain, { dueAt: due.dueAt, status: "issued", problem: null, retryAt: null }))) return;
    await setRenewAt(tx, domain.accountId, domain.hostname, due.renewAt);
    await deleteCertificateOrder(tx, domain.accountId, domain.hostname);
  });
}

/** Saves a new certificate and has every node serve it, in place of the `former` one. */
async function saveIssued(
  parts: Work,
  domain: ClaimedDomain,
  { issued, key }: OrderedCertificate,
  former: StoredCertificate | null,
): Promise<void> {
  const { db, clock, announcer, log, warnOfKept } = parts;
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
    const dueAt = kept === null ? firstAskAt(now, at, issued) : lookAgainAt(now, kept);
    const result = { status: "issued", problem: null, retryAt: null, dueAt } as const;
    await lockProjectOf(tx, domain);
    // Precedes `saveCertificate`, which refers to the name's row: that row may have been deleted.
    const isHeld = await (kept === null
      ? saveProgress(tx, domain, { ...result, issuedAt: now, expiresAt: notAfter })
      : saveResult(tx, domain, result));
    if (!isHeld) return false;
    await recordUse(tx, "duplicates", subjects, now);
    await recordUse(tx, "domain", subjects, now);
    await deleteCertificateOrder(tx, accountId, hostname);
    await deleteChallenges(tx, accountId, hostname);
    if (kept !== null) {
      warnOfKept({ host: hostname }, keptFormerWarning);
      return false;
    }
    const id = await saveCertificate(tx, accountId, { hostname, chain, key, notBefore, notAfter, renewalId, renewAt: at, directoryUrl });
    await saveResult(tx, domain, { id });
    await promoteToPrimary(tx, accountId, hostname);
    await announcer.publish(tx, domainChanged(hostname));
    return true;
  });
  if (!isSaved) return;
  await announcer.waitForAll();
  if (isService(domain)) log.info({ host: hostname, expiresAt: notAfter }, "the certificate of PUBLIC_URL was issued");
}

function saveLimitReached(parts: Work, domain: ClaimedDomain, { limit, retryAt }: LimitReached): Promise<void> {
  const problem = isService(domain)
    ? `The authority's limit "${limit}" is used up: wait until the service tries again, or set ACME_BUDGET.`
    : `The certificate authority's limit "${limit}" is used up for now. The next try starts as soon as the limit allows it.`;
  return finish(parts, domain, failed(parts, domain, problem, retryAt));
}

/** Saves the DNS problems that prevent an order, so that the owner sees them. */
async function saveBlocked(parts: Work, domain: ClaimedDomain, { problems, certificate: caa }: DnsVerdict): Promise<void> {
  const { db, clock, authority } = parts;
  const { accountId, hostname } = domain;
  const failures = await failuresIncludingThis(parts, domain);
  const retryAt = retryAfterFailure(failures, clock(), null, lifetimeOf(domain));
  const problem = problems.map(({ message }) => message).join(" ");
  await db.write(async (tx) => {
    if (!(await saveResult(tx, domain, { ...failed(parts, domain, problem, retryAt), problems, caa }))) return;
    await saveFailures(tx, accountId, hostname, { directoryUrl: authority.directoryUrl, failures, isOver: false });
  });
}

/** Saves a failure at the authority. The worker retries after growing pauses, and continues the same order unless that is invalid. */
async function saveFailure(parts: Work, domain: ClaimedDomain, error: AcmeProblem): Promise<void> {
  const { db, clock, authority, announcer } = parts;
  const { accountId, hostname } = domain;
  const failures = await failuresIncludingThis(parts, domain);
  const now = clock();
  const retryAt = retryAfterFailure(failures, now, error.retryAt, lifetimeOf(domain));
  const problem = isService(domain) ? `${error.message} ${adviceOn(error, hostname)}` : error.message;
  const update = failed(parts, domain, problem, retryAt);
  await db.write(async (tx) => {
    if (!(await saveResult(tx, domain, update))) return;
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

/**
 * The update after a try that failed. Its status stays `issued` while the old certificate is valid, because that is still served. Logs the problem of the
 * host of PUBLIC_URL, which the operator sees nowhere else.
 */
function failed({ clock, log }: Work, { accountId, hostname, certificate }: ClaimedDomain, problem: string, retryAt: number) {
  if (accountId === serviceAccount) log.warn({ host: hostname, problem, retryAt }, `PUBLIC_URL has no new certificate: ${problem}`);
  const hasValid = certificate.id !== null && (certificate.expiresAt ?? 0) > clock();
  return { status: hasValid ? "issued" : "failing", problem, retryAt, dueAt: retryAt } as const;
}

/** What an operator can do about a failure of the host of PUBLIC_URL. */
function adviceOn({ failure }: AcmeProblem, hostname: string): string {
  if (failure === "invalid" || failure === "refused")
    return `The authority has to reach this machine as ${hostname} at port 80 or 443: check its A and AAAA records and the firewall.`;
  if (failure === "unreachable" || failure === "nonsense")
    return "Check ACME_DIRECTORY_URL, ACME_CA_FILE and whether this machine can reach the authority.";
  return "The service tries again later.";
}

/** Saves any other result. */
async function finish({ db }: Work, domain: ClaimedDomain, update: CertificateUpdate): Promise<void> {
  await db.write((tx) => saveResult(tx, domain, update));
}

async function failuresIncludingThis({ db }: Work, { accountId, hostname }: ClaimedDomain): Promise<number> {
  return ((await findCertificateOrder(db, accountId, hostname))?.failures ?? 0) + 1;
}

function subjectsOf({ authority }: Work, { hostname, registrableDomain }: ClaimedDomain): LimitSubjects {
  return { hostname, registrableDomain, directoryUrl: authority.directoryUrl };
}

function lifetimeOf({ certificate: { issuedAt, expiresAt } }: ClaimedDomain): Lifetime | null {
  return issuedAt === null || expiresAt === null ? null : { notBefore: issuedAt, notAfter: expiresAt };
}
