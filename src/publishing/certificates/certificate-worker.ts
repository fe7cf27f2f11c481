import { createPrivateKey } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import type { RowLeases } from "../../platform/nodes/row-leases.ts";
import { openFairShare, runInTurn } from "../../platform/jobs/fair-share.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import type { DnsVerdict } from "../dns/dns.ts";
import { domainChanged } from "../domains/domains.ts";
import { hasPaidPlan, promoteToPrimary, type StoredDomain } from "../domains/domains.store.ts";
import { AcmeProblem, NotPermitted, type Account, type Challenge } from "./acme.ts";
import { renewalIdentifier, renewalInfoOf } from "./ari.ts";
import type { Authority } from "./authority.ts";
import type { Budget, OrderKind } from "./budget.ts";
import { spendOne, type Subjects } from "./acme-usage.store.ts";
import {
  claimCertificates,
  resumeCertificates,
  saveProgress,
  saveResult,
  suspendedMs,
  type CertificateNote,
  type ClaimedDomain,
} from "./certificate-state.store.ts";
import { findCertificate, saveCertificate, setRenewAt, type StoredCertificate } from "./certificates.store.ts";
import { deleteChallenges, saveChallenge } from "./challenges.store.ts";
import { deleteOrder, findHold, findOrder, saveFailures, saveHold } from "./orders.store.ts";
import { tlsAlpnCertificate } from "./challenges.ts";
import { accountOfHolder, demandHeld } from "./lease-guard.ts";
import { completeOrder } from "./acme-order.ts";
import type { IssuedCertificate } from "./issued.ts";
import { openOrder } from "./order-placement.ts";
import { holdAfterFailure, renewAt, retryAfterFailure } from "./renewal.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "./secrets.ts";

export type IssuingParts = {
  db: Database;
  clock: Clock;
  keys: SecretsKeys;
  authority: Authority;
  budget: Budget;
  /** Looks at a name's DNS as strictly as the authority does, so that no order is spent on what is known to be wrong. */
  preflight: (domain: StoredDomain) => Promise<DnsVerdict>;
  announcer: Announcer;
  leases: RowLeases;
  onError: (error: unknown) => void;
};

/** Longer than the authority may take over all steps of an order: 6 requests of 15 s and 3 waits of a minute. For a node that hangs though it beats. */
const leaseMs = 10 * 60_000;
const lookEveryMs = 1_000;
const atOnceMax = 16;
const challengeMs = 86_400_000;
const hourMs = 3_600_000;
/** When an authority that could not say is asked again when to renew. */
const askAgainMs = 6 * hourMs;

/**
 * Brings every verified name to a certificate and keeps it renewed (spec part 1, rule 8; decisions, part 5). One worker over all nodes has a
 * name at a time. Whatever an order has reached is kept, so that a process may die between any two steps and the next one spends no
 * second order: the key before the order is made, its address as soon as it is known, the certificate in the transaction that ends it. A
 * process that was paused or cut off, so that another may have taken its name, neither asks the authority for more nor writes anything.
 */
export function openIssuing(parts: IssuingParts): Worker {
  const { db, clock, keys, authority, announcer, leases, onError } = parts;
  /** A node that lost its lease and got another may lease a name that it still works on: the earlier work ends first. */
  const names = openFairShare<number>({ maxEach: 1 });

  /** One look at a name: what was found is written, and when to look again. */
  async function look(domain: ClaimedDomain): Promise<void> {
    if (domain.status !== "verified" || !(await hasPaidPlan(db, domain.accountId))) return rest(domain);
    const retryAt = await findHold(db, domain.hostname, clock());
    if (retryAt !== null) return void (await endWith(domain, { retryAt, dueAt: retryAt }));
    const certificate = await findCertificate(db, domain.accountId, domain.hostname);
    let opened: Account | undefined;
    try {
      opened = await authority.account();
      const account = accountOfHolder(opened, leases, domain);
      const kind = await orderKind(domain, certificate, account);
      if (kind === null) return;
      await issue(domain, certificate, account, kind);
    } catch (error) {
      if (error instanceof NotPermitted) return; // whoever has the name now goes on
      if (!(error instanceof AcmeProblem)) throw error;
      if (opened !== undefined && error.type === "accountDoesNotExist") authority.forget(opened);
      await failed(domain, error);
    }
  }

  /** Nothing is to be done until the name verifies again, or its plan returns. */
  async function rest(domain: ClaimedDomain): Promise<void> {
    const dueAt = domain.status === "verified" ? clock() + suspendedMs : null;
    await endWith(domain, { dueAt });
    // It may have returned just before this was written.
    await resumeCertificates(db, domain.accountId, clock());
  }

  /** What kind of order it is time for; null where there is a certificate that still has time, and then that is written down. */
  async function orderKind(domain: ClaimedDomain, certificate: StoredCertificate | null, account: Account): Promise<OrderKind | null> {
    const now = clock();
    if (certificate === null || certificate.notAfter <= now) return "new";
    const info = await renewalInfoOf(account.session, certificate.renewalId);
    const at = renewAt(certificate, info, certificate.renewalId ?? domain.hostname);
    if (at <= now) return info !== null && certificate.renewalId !== null && info.start <= now ? "ari" : "renewal";
    const asks = account.session.directory.renewalInfo !== undefined && certificate.renewalId !== null;
    const dueAt = Math.min(at, info?.askAgainAt ?? (asks ? now + askAgainMs : at));
    await db.write(async (tx) => {
      const written = { dueAt, status: "issued" as const, problem: null, retryAt: null };
      if (!(await saveResult(tx, domain, written))) return;
      await setRenewAt(tx, domain.accountId, domain.hostname, at);
      await deleteOrder(tx, domain.accountId, domain.hostname); // what failed before counts against no later renewal
    });
    return null;
  }

  async function issue(domain: ClaimedDomain, certificate: StoredCertificate | null, account: Account, kind: OrderKind): Promise<void> {
    const verdict = await parts.preflight(domain);
    if (verdict.outcome !== "verified" || verdict.certificate !== "allowed") return blocked(domain, verdict);
    const progress = { status: certificate === null ? "issuing" : "issued", caa: "allowed" } as const;
    if (!(await db.write((tx) => saveProgress(tx, domain, progress)))) return;

    const replaces = kind === "new" ? undefined : (certificate?.renewalId ?? undefined);
    const order = await openOrder(parts, domain, account, { subjects: subjectsOf(domain), kind, replaces });
    if ("limit" in order) {
      const problem = `The certificate authority's limit of ${order.limit} is used up for now; the next try is made when it is free again.`;
      return void (await endWith(domain, { ...failing(domain), problem, retryAt: order.retryAt, dueAt: order.retryAt }));
    }
    const key = createPrivateKey(decryptSecret(keys, order.key, domain.hostname));
    const issued = await completeOrder(account, order.order, {
      hostname: domain.hostname,
      key,
      prefer: order.failures % 2 === 0 ? "http-01" : "tls-alpn-01",
      publish: (challenge) => publish(domain, challenge),
    });
    await keep(domain, issued, order.key);
  }

  /** Every node answers the challenge before the authority is told. */
  async function publish(domain: ClaimedDomain, { type, token, keyAuthorization }: Challenge): Promise<void> {
    const { accountId, hostname } = domain;
    const now = clock();
    const pair = type === "tls-alpn-01" ? await tlsAlpnCertificate(hostname, keyAuthorization, now) : null;
    const certificateKey = pair && encryptSecret(keys, pair.key, hostname);
    const certificate = pair?.cert ?? null;
    const expiresAt = now + challengeMs;
    await db.write(async (tx) => {
      await demandHeld(tx, domain);
      await saveChallenge(tx, { accountId, hostname, type, token, keyAuthorization, certificate, certificateKey, expiresAt });
      await announcer.publish(tx, domainChanged(hostname));
    });
    await announcer.waitForAll();
  }

  async function keep(domain: ClaimedDomain, issued: IssuedCertificate, key: string): Promise<void> {
    const { accountId, hostname } = domain;
    const { chain, notBefore, notAfter } = issued;
    const now = clock();
    const renewalId = renewalIdentifier(issued.leaf);
    const at = renewAt(issued, null, renewalId ?? hostname);
    const kept = await db.write(async (tx) => {
      // First of all, since a name that has gone has no place for a certificate.
      const done = {
        status: "issued" as const,
        issuedAt: now,
        expiresAt: notAfter,
        problem: null,
        retryAt: null,
        dueAt: now + hourMs,
      };
      if (!(await saveProgress(tx, domain, done))) return false;
      const id = await saveCertificate(tx, accountId, { hostname, chain, key, notBefore, notAfter, renewalId, renewAt: at });
      await deleteOrder(tx, accountId, hostname);
      await deleteChallenges(tx, accountId, hostname);
      await spendOne(tx, "duplicates", subjectsOf(domain), now);
      await spendOne(tx, "domain", subjectsOf(domain), now);
      await saveResult(tx, domain, { id });
      await promoteToPrimary(tx, accountId, hostname);
      await announcer.publish(tx, domainChanged(hostname));
      return true;
    });
    if (kept) await announcer.waitForAll();
  }

  /** DNS stands in the way: no order is made, and the problem is shown where the owner looks. */
  async function blocked(domain: ClaimedDomain, verdict: DnsVerdict): Promise<void> {
    const { accountId, hostname } = domain;
    const kept = await findOrder(db, accountId, hostname);
    const failures = (kept?.failures ?? 0) + 1;
    const retryAt = retryAfterFailure(failures, clock(), null);
    const problem = verdict.problems.map(({ message }) => message).join(" ");
    await db.write(async (tx) => {
      const caa = verdict.certificate;
      const written = { ...failing(domain), problem, problems: verdict.problems, caa, retryAt, dueAt: retryAt };
      if (!(await saveResult(tx, domain, written))) return;
      await saveFailures(tx, accountId, hostname, { directoryUrl: authority.directoryUrl, failures, isOver: false });
    });
  }

  /** The authority could not, or would not: with growing pauses it is asked again, on the same order while that one lives. */
  async function failed(domain: ClaimedDomain, error: AcmeProblem): Promise<void> {
    const { accountId, hostname } = domain;
    const kept = await findOrder(db, accountId, hostname);
    const failures = (kept?.failures ?? 0) + 1;
    const now = clock();
    const retryAt = retryAfterFailure(failures, now, error.retryAt);
    await db.write(async (tx) => {
      const written = { ...failing(domain), problem: error.message, retryAt, dueAt: retryAt };
      if (!(await saveResult(tx, domain, written))) return;
      await saveHold(tx, hostname, holdAfterFailure(now, error.retryAt));
      const isOver = error.failure === "invalid";
      await saveFailures(tx, accountId, hostname, { directoryUrl: authority.directoryUrl, failures, isOver });
      if (!isOver) return;
      await spendOne(tx, "failures", subjectsOf(domain), now);
      await deleteChallenges(tx, accountId, hostname);
      await announcer.publish(tx, domainChanged(hostname));
    });
    await announcer.waitForAll();
  }

  function endWith(domain: ClaimedDomain, note: CertificateNote): Promise<boolean> {
    return db.write((tx) => saveResult(tx, domain, note));
  }

  const subjectsOf = ({ hostname, registrableDomain }: StoredDomain): Subjects => ({
    hostname,
    registrableDomain,
    directoryUrl: authority.directoryUrl,
  });

  /** A renewal that fails leaves a certificate that is still served. */
  const failing = ({ certificate }: StoredDomain): CertificateNote => ({
    status: certificate.id !== null && (certificate.expiresAt ?? 0) > clock() ? "issued" : "failing",
  });

  return openWorker({
    claim: async (count) => {
      const claim = await leases.begin(leaseMs);
      return claim === undefined ? [] : db.write((tx) => claimCertificates(tx, count, claim));
    },
    run: (domain) => runInTurn(names, domain.id, () => look(domain)),
    atOnceMax,
    everyMs: lookEveryMs,
    onError,
  });
}
