import type { RowLeases } from "../../platform/nodes/row-leases.ts";
import { runInTurn, type FairShare } from "../../platform/jobs/fair-share.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { domainChanged } from "../domains/domains.ts";
import type { AcmeAccount } from "../acme/acme-client.ts";
import type { AcmeProblem } from "../acme/acme-problem.ts";
import { renewalIdentifier } from "../acme/ari.ts";
import { recordUse } from "./acme-usage.store.ts";
import type { Authority } from "./authority.ts";
import { orderCertificate, type CertificateOrderParts } from "./certificate-order.ts";
import { askAuthority, leaseMs, nextOrder } from "./certificate-worker.ts";
import { findHold, saveHold } from "./certificate-orders.store.ts";
import { addOwnHost, claimOwn, ownOrderStore, saveOwnCertificate, saveOwnOutcome, type OwnWork } from "./own-certificates.store.ts";
import { keptInPlace } from "./former-authority.ts";
import { firstAskAt, holdAfterFailure, lookAgainAt, renewAt, retryAfterFailure } from "./renewal.ts";
import { isTrustedChain, rootsOfSystem } from "./trust.ts";

export type OwnCertificateParts = CertificateOrderParts & {
  authority: Authority;
  /** The host of PUBLIC_URL. */
  hostname: string;
  registrableDomain: string;
  /** Checks the DNS of the host before an order. Returns what is wrong and what to do, or null. */
  preflight: () => Promise<string | null>;
  leases: RowLeases;
  /** Shared with the work on domains, before which this goes. */
  turns: FairShare<number>;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  onError: (error: unknown) => void;
};

const pollEveryMs = 1_000;

/**
 * Orders and renews the certificate of the host of PUBLIC_URL, with the same orders, challenges, limits and pauses as for custom domains. One node
 * at a time works on it; every node serves it. Logs one line for each failure, with what to do about it.
 */
export function openOwnCertificateWorker(parts: OwnCertificateParts): Worker {
  const { db, clock, hostname, leases, turns, onError } = parts;
  let isAdded = false;
  const add = async (): Promise<void> => {
    await addOwnHost(db, hostname, clock(), await findHold(db, hostname, parts.authority.directoryUrl, clock()));
    isAdded = true;
  };
  return openWorker({
    claim: async () => {
      if (!isAdded) await add();
      const claim = await leases.begin(leaseMs);
      return claim === undefined ? [] : db.write((tx) => claimOwn(tx, hostname, claim));
    },
    run: (work) =>
      runInTurn(turns, undefined, () =>
        askAuthority(parts, work.lease, {
          work: (account) => renewOrOrder(parts, work, account),
          onFailure: (error) => saveFailure(parts, work, error),
        }),
      ),
    atOnceMax: 2, // There is only one row. A worker polls again at once if it gets all the rows it asks for, so this one asks for two.
    everyMs: pollEveryMs,
    onError,
  });
}

async function renewOrOrder(parts: OwnCertificateParts, work: OwnWork, account: AcmeAccount): Promise<void> {
  const { db, clock, hostname, registrableDomain, authority } = parts;
  const { certificate, failures } = work;
  const due = await nextOrder(parts, hostname, certificate, account);
  if ("renewAt" in due) return db.write((tx) => saveOwnOutcome(tx, work, { problem: null, failures: 0, dueAt: due.dueAt, isOver: false }));
  const problem = await parts.preflight();
  if (problem !== null) return saveProblem(parts, work, problem, retryAfterFailure(failures + 1, clock(), null, certificate));

  const { kind, replaces } = due;
  const subjects = { hostname, registrableDomain, directoryUrl: authority.directoryUrl };
  const ordered = await orderCertificate(parts, hostname, ownOrderStore(work), account, { subjects, kind, replaces });
  if ("limit" in ordered) {
    return saveProblem(
      parts,
      work,
      `The authority's limit "${ordered.limit}" is used up: wait until the service tries again, or set ACME_BUDGET.`,
      ordered.retryAt,
    );
  }
  const { issued, key } = ordered;
  const { chain, notBefore, notAfter } = issued;
  const now = clock();
  const { directoryUrl } = authority;
  const renewalId = renewalIdentifier(issued.leaf);
  const dueAt = firstAskAt(now, renewAt(issued, null, renewalId ?? hostname), issued);
  const saved = { chain, key, notBefore, notAfter, renewalId, directoryUrl, dueAt };
  const isTrusted = isTrustedChain(chain, rootsOfSystem());
  const isSaved = await db.write(async (tx) => {
    const kept = await keptInPlace(tx, certificate, { directoryUrl, isTrusted, now });
    if (kept !== null) {
      await recordUse(tx, "duplicates", subjects, now);
      await recordUse(tx, "domain", subjects, now);
      await saveOwnOutcome(tx, work, { problem: null, failures: 0, dueAt: lookAgainAt(now, kept), isOver: true });
      return false;
    }
    if (!(await saveOwnCertificate(tx, work, { ...saved, firstIssuedAt: certificate?.firstIssuedAt ?? now }))) return false;
    await recordUse(tx, "duplicates", subjects, now);
    await recordUse(tx, "domain", subjects, now);
    await parts.announcer.publish(tx, domainChanged(hostname));
    return true;
  });
  if (!isSaved) return;
  await parts.announcer.waitForAll();
  parts.log.info({ host: hostname, expiresAt: notAfter }, "the certificate of PUBLIC_URL was issued");
}

async function saveFailure(parts: OwnCertificateParts, work: OwnWork, error: AcmeProblem): Promise<void> {
  const { db, clock, hostname, registrableDomain, authority } = parts;
  const now = clock();
  const isOver = error.failure === "invalid";
  await db.write(async (tx) => {
    await saveHold(tx, hostname, authority.directoryUrl, holdAfterFailure(now, error.retryAt, work.certificate));
    if (isOver) await recordUse(tx, "failures", { hostname, registrableDomain, directoryUrl: authority.directoryUrl }, now);
  });
  const problem = `${error.message} ${adviceOn(error, hostname)}`;
  await saveProblem(parts, work, problem, retryAfterFailure(work.failures + 1, now, error.retryAt, work.certificate), isOver);
}

async function saveProblem(parts: OwnCertificateParts, work: OwnWork, problem: string, dueAt: number, isOver = false): Promise<void> {
  const { db, hostname, announcer, log } = parts;
  log.warn({ host: hostname, problem, retryAt: dueAt }, `PUBLIC_URL has no new certificate: ${problem}`);
  await db.write(async (tx) => {
    await saveOwnOutcome(tx, work, { problem, failures: work.failures + 1, dueAt, isOver });
    if (isOver) await announcer.publish(tx, domainChanged(hostname));
  });
}

/** What an operator can do about a failure. */
function adviceOn({ failure }: AcmeProblem, hostname: string): string {
  if (failure === "invalid" || failure === "refused")
    return `The authority has to reach this machine as ${hostname} at port 80 or 443: check its A and AAAA records and the firewall.`;
  if (failure === "unreachable" || failure === "nonsense")
    return "Check ACME_DIRECTORY_URL, ACME_CA_FILE and whether this machine can reach the authority.";
  return "The service tries again later.";
}
