import type { RowLease, RowLeases } from "../../platform/nodes/row-leases.ts";
import type { FairShare } from "../../platform/jobs/fair-share.ts";
import { openWorkerInTurns, type Worker } from "../../platform/jobs/worker.ts";
import type { DnsVerdict } from "../dns/verification.ts";
import { hasPaidPlan } from "../domains/domains.store.ts";
import type { StoredDomain } from "../domains/domain-rows.ts";
import { type AcmeAccount, withPermit } from "../acme/acme-client.ts";
import { AcmeProblem, NotPermitted } from "../acme/acme-problem.ts";
import { knowsRenewalInfo, renewalInfoOf } from "../acme/ari.ts";
import type { Authority } from "./authority.ts";
import type { OrderKind } from "./budget.ts";
import { domainOrderStore, orderCertificate, type CertificateOrderParts } from "./certificate-order.ts";
import { finish, saveBlocked, saveFailure, saveIssued, saveLimitReached, saveValid, subjectsOf } from "./certificate-results.ts";
import { claimCertificates, resumeCertificates, saveProgress, suspendedMs, type ClaimedDomain } from "./certificate-state.store.ts";
import { findCertificate, type StoredCertificate } from "./certificates.store.ts";
import { findHold } from "./certificate-orders.store.ts";
import { isFormer, keepsFormer } from "./former-authority.ts";
import { lookAgainAt, renewAt } from "./renewal.ts";
import { findAuthorityTrust } from "./secrets.store.ts";

export type CertificateWorkerParts = CertificateOrderParts & {
  authority: Authority;
  /** Checks a name's DNS as strictly as the authority does, to waste no order on a name that the authority would refuse. */
  preflight: (domain: StoredDomain) => Promise<DnsVerdict>;
  leases: RowLeases;
  /** Accounts take turns, so that the due names of one do not delay another's. */
  turns: FairShare<number>;
  /** Runs before the first name is worked on. */
  prepare: () => Promise<void>;
  /** Called when a trusted certificate stays, because the configured authority issues ones that are not trusted (decision 0104). */
  onKept: (hostname: string) => void;
  onError: (error: unknown) => void;
};

/** Longer than an order usually takes: 6 requests of at most 15 s and 3 waits of a minute. Frees the names of a node that hangs. */
export const leaseMs = 10 * 60_000;
const pollEveryMs = 1_000;
/** How long to wait before the next request for renewal information, if the last one failed. */
const askAgainMs = 6 * 3_600_000;

/**
 * Orders and renews certificates for all verified names. Only one node at a time works on a name. While a node is paused or cut off, another node
 * may claim its names. The first node then sends no more requests for them and saves no results.
 */
export function openCertificateWorker(parts: CertificateWorkerParts): Worker {
  const { db, leases, turns, prepare, onError } = parts;
  let isPrepared = false;
  const working = new Map<string, Promise<void>>();

  /** If a node loses its lease and gets a new one, it may claim a name that it is still working on. The new work waits until the earlier work ends. */
  async function workAlone(domain: ClaimedDomain): Promise<void> {
    const { hostname } = domain;
    while (working.has(hostname)) await working.get(hostname)?.catch(() => undefined);
    const work = workOn(parts, domain).finally(() => working.delete(hostname));
    working.set(hostname, work);
    await work;
  }

  return openWorkerInTurns({
    turns,
    claim: async (share) => {
      if (!isPrepared) await prepare();
      isPrepared = true;
      const claim = await leases.begin(leaseMs);
      return claim === undefined ? [] : db.write((tx) => claimCertificates(tx, share, claim));
    },
    run: workAlone,
    everyMs: pollEveryMs,
    onError,
  });
}

/** Orders or renews one name's certificate if an order is due. Saves the result, and when to work on the name again. */
async function workOn(parts: CertificateWorkerParts, domain: ClaimedDomain): Promise<void> {
  const { db, clock } = parts;
  if (domain.status !== "verified" || !(await hasPaidPlan(db, domain.accountId))) return suspend(parts, domain);
  const retryAt = await findHold(db, domain.hostname, parts.authority.directoryUrl, clock());
  if (retryAt !== null) return finish(parts, domain, { retryAt, dueAt: retryAt });
  const certificate = await findCertificate(db, domain.accountId, domain.hostname);
  await askAuthority(parts, domain.lease, {
    work: (account) => renewOrOrder(parts, domain, certificate, account),
    onFailure: (error) => saveFailure(parts, domain, error),
  });
}

/** Runs `work` with the account at the authority. Sends requests only while this node holds the lease; returns without an error if it has lost it. */
export async function askAuthority(
  { authority, leases }: Pick<CertificateWorkerParts, "authority" | "leases">,
  lease: RowLease,
  { work, onFailure }: { work: (account: AcmeAccount) => Promise<void>; onFailure: (error: AcmeProblem) => Promise<void> },
): Promise<void> {
  let account: AcmeAccount | undefined;
  try {
    account = await authority.account();
    await work(withPermit(account, () => leases.isHeld(lease)));
  } catch (error) {
    if (error instanceof NotPermitted) return;
    if (!(error instanceof AcmeProblem)) throw error;
    if (account !== undefined && error.type === "accountDoesNotExist") authority.forget(account);
    await onFailure(error);
  }
}

/** Stops the work on a name until it verifies again, or until its account's plan has custom domains again. */
async function suspend(parts: CertificateWorkerParts, domain: ClaimedDomain): Promise<void> {
  const { db, clock } = parts;
  await finish(parts, domain, { dueAt: domain.status === "verified" ? clock() + suspendedMs : null });
  // The plan may have changed back before this was saved.
  await resumeCertificates(db, domain.accountId, clock());
}

async function renewOrOrder(
  parts: CertificateWorkerParts,
  domain: ClaimedDomain,
  certificate: StoredCertificate | null,
  account: AcmeAccount,
): Promise<void> {
  const { db } = parts;
  const due = await nextOrder(parts, domain.hostname, certificate, account);
  if ("renewAt" in due) return saveValid(parts, domain, due);
  const verdict = await parts.preflight(domain);
  if (verdict.outcome !== "verified" || verdict.certificate !== "allowed") return saveBlocked(parts, domain, verdict);
  const hasValid = certificate !== null && certificate.notAfter > parts.clock();
  const progress = { status: hasValid ? "issued" : "issuing", caa: "allowed", problems: verdict.problems } as const;
  if (!(await db.write((tx) => saveProgress(tx, domain, progress)))) return;

  const { kind, replaces } = due;
  const ordered = await orderCertificate(parts, domain.hostname, domainOrderStore(domain), account, {
    subjects: subjectsOf(parts, domain),
    kind,
    replaces,
  });
  await ("limit" in ordered ? saveLimitReached(parts, domain, ordered) : saveIssued(parts, domain, ordered, certificate, parts.onKept));
}

type Held = Pick<StoredCertificate, "chain" | "notBefore" | "notAfter" | "renewalId" | "directoryUrl" | "replaceAsked">;

/**
 * Returns the order that is due now. If none is due, returns when to renew the certificate and when to check again (ms since the epoch). A certificate of
 * another authority is replaced at once, but not a trusted one by one that is not, unless a person asked for that (decision 0104).
 */
export async function nextOrder(
  { db, clock, authority: { directoryUrl } }: Pick<CertificateWorkerParts, "db" | "clock" | "authority">,
  hostname: string,
  certificate: Held | null,
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
