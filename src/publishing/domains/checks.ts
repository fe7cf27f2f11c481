import type { Queryable, Transaction } from "../../platform/db/database.ts";
import type { CaaAuthority } from "./caa.ts";
import { dnsFor, type Dns } from "./lookup.ts";
import { lookUpFacts, lookUpPointing } from "./facts.ts";
import type { OwnNames } from "./hostnames.ts";
import { ownershipRecordFor, needsProof, type OwnershipRecord } from "./ownership.ts";
import { leadsHere } from "./dns-verdict.ts";
import { nextCheckAt } from "./schedule.ts";
import { listVerifications, lockHolder, promoteToPrimary, recordVerification, saveCheck, type StoredDomain } from "./domains.store.ts";
import { isReady as isReadyFor, type NameState } from "./serving.ts";
import { statusAfter, verify, type Verdict } from "./verification.ts";

export type CheckParts = {
  dns: Dns;
  /** For the warning of a removal, which waits for no slow server. */
  quickDns: Dns;
  own: OwnNames;
  /** What the tokens of ownership proofs are made with. */
  proofSecret: () => Uint8Array;
  /** The authority that certificates are ordered from, as CAA records speak of it; null where there is none. */
  authority: (() => CaaAuthority) | null;
  /** Until when (ms) the authority is not asked again for a name; null where it may be asked. */
  heldUntil: (db: Queryable, hostname: string, now: number) => Promise<number | null>;
};

/** What a look at DNS found, not yet written. `proved`: the ownership challenge was part of it. */
export type Checked = { verdict: Verdict; proved: boolean };

/** The checks of a domain's DNS: what was found is judged outside of, and written within, a transaction. */
export function openChecks(parts: CheckParts) {
  const { dns, quickDns, own } = parts;
  const challengeOf = ({ accountId, hostname }: { accountId: number; hostname: string }): OwnershipRecord =>
    ownershipRecordFor(parts.proofSecret(), accountId, hostname);

  async function check(db: Queryable, domain: StoredDomain): Promise<Checked> {
    const proved = needsProof(domain, await listVerifications(db, domain.registrableDomain));
    const expected = {
      ...domain,
      platformDomain: own.platformDomain,
      challenge: proved ? challengeOf(domain) : null,
      authority: parts.authority?.() ?? null,
    };
    return { verdict: verify(expected, await lookUpFacts(dnsFor(domain.accountId, dns), expected)), proved };
  }

  /**
   * Writes what a check found (decisions, part 5); null if the domain has gone meanwhile. `asked`: a person wants it, so a certificate that
   * is missing is ordered now.
   */
  async function apply(tx: Transaction, domain: StoredDomain, checked: Checked, asked: boolean, now: number): Promise<StoredDomain | null> {
    const current = await lockHolder(tx, domain.hostname);
    if (current === null || current.id !== domain.id) return null;
    const { verdict, proved } = checked;
    const proofNeeded = needsProof(current, await listVerifications(tx, current.registrableDomain));
    // Another account has verified a name beside it while DNS was asked: the proof is needed after all, and asked for next time.
    const outcome = proofNeeded && !proved && verdict.outcome === "verified" ? "unknown" : verdict.outcome;
    const status = statusAfter(current.status, outcome);
    const repeats = outcome === "unknown" && verdict.outcome === "verified";
    const after: StoredDomain = {
      ...current,
      status,
      problems: verdict.problems,
      caa: verdict.certificate,
      proofNeeded: status === "verified" ? false : proofNeeded,
      nextCheckAt: repeats ? now : nextCheckAt({ status, createdAt: current.createdAt }, now),
      verifiedAt: outcome === "verified" ? now : current.verifiedAt,
    };
    if (outcome === "verified") await recordVerification(tx, current, now);
    const heldUntil = parts.authority && asked ? await parts.heldUntil(tx, current.hostname, now) : null;
    const saved = await saveCheck(
      tx,
      parts.authority ? { ...after, certificate: wanted(current, after, { asked, heldUntil }, now) } : after,
    );
    const isPromoted = isReady(stateOf(saved), now) && (await promoteToPrimary(tx, saved.accountId, saved.hostname));
    return isPromoted ? { ...saved, primary: true, becomesPrimary: false, version: saved.version + 1 } : saved;
  }

  const isReady = (name: NameState, now: number): boolean => isReadyFor(name, parts.authority !== null, now);

  /** Whether the record still leads here, as to warn after a removal; false where DNS does not say. */
  async function stillLeadsHere(domain: StoredDomain): Promise<boolean> {
    const expected = { ...domain, platformDomain: own.platformDomain };
    return leadsHere(expected, await lookUpPointing(dnsFor(domain.accountId, quickDns), expected));
  }

  return { check, apply, challengeOf, stillLeadsHere, isReady, hasAuthority: parts.authority !== null, dns, own };
}

export type Checks = ReturnType<typeof openChecks>;

function stateOf({ status, redirect, certificate }: StoredDomain): NameState {
  return { status, redirect, certificateId: certificate.id, certificateExpiresAt: certificate.expiresAt };
}

/**
 * When a certificate is to be looked at: now where a name has just verified, its CAA records have let go, or a person asks, unless the authority
 * is not to be asked before `heldUntil`. From then on one is on its way: `none` is left to names that get none.
 */
function wanted(
  before: StoredDomain,
  after: StoredDomain,
  { asked, heldUntil }: { asked: boolean; heldUntil: number | null },
  now: number,
): StoredDomain["certificate"] {
  const { certificate } = before;
  if (after.status !== "verified") return certificate;
  const isMissing = certificate.id === null || (certificate.expiresAt ?? 0) <= now;
  const isNew = before.status !== "verified" || certificate.wantedSince === null;
  const isFreed = isMissing && before.caa === "blocked" && after.caa === "allowed";
  if (isMissing && (isNew || asked)) {
    const status = certificate.status === "none" ? "issuing" : certificate.status;
    return { ...certificate, status, wantedSince: now, dueAt: heldUntil ?? now, retryAt: heldUntil ?? certificate.retryAt };
  }
  return isNew || isFreed ? { ...certificate, dueAt: now } : certificate;
}
