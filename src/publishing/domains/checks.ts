import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { checkDns, recordLeadsHere } from "../dns/dns.ts";
import { type Dns, dnsFor } from "../dns/lookup.ts";
import type { CaaAuthority } from "../dns/caa.ts";
import type { DnsVerdict } from "../dns/verification.ts";
import type { OwnNames } from "../dns/hostnames.ts";
import { lockHolder, saveCheck } from "./domains.store.ts";
import { promoteToPrimary } from "./names.store.ts";
import type { AppliedCheck, StoredDomain } from "./domain-rows.ts";
import { needsProof, ownershipRecordFor, type OwnershipRecord } from "./ownership.ts";
import { nextCheckAt, statusAfter } from "./schedule.ts";
import { isReady, type NameState } from "./serving.ts";
import { noteTroubles } from "./troubles-worker.ts";
import { listVerifications, recordVerification } from "./verifications.store.ts";

/** The parts that the checks of domains use. */
export type Checks = {
  dns: Dns;
  /** Used before a removal, which must not wait for a slow server. */
  quickDns: Dns;
  own: OwnNames;
  /** The key that the tokens of ownership proofs are computed with. */
  proofSecret: () => Uint8Array;
  /** Null where the service orders no certificates. */
  authority: CertificateAuthority | null;
};

/** The part of the certificate authority that checks need: this folder does not import the certificates folder. */
type CertificateAuthority = {
  /** The authority as CAA records name it. */
  caa: () => CaaAuthority;
  /** Requests a certificate for a name if its check shows that it should get one. */
  requestCertificate: (tx: Transaction, check: AppliedCheck, now: number) => Promise<void>;
};

/** The result of a check, not yet written. `coversProof`: the check included the ownership record. */
export type Checked = { verdict: DnsVerdict; coversProof: boolean };

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

/** Checks the DNS of a domain and writes nothing. */
export async function checkDomain(checks: Checks, db: Queryable, domain: StoredDomain): Promise<Checked> {
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
  { verdict, coversProof }: Checked,
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
  await authority?.requestCertificate(tx, { before, after, isAsked }, now);
  const saved = await saveCheck(tx, before, after);
  await noteTroubles(tx, saved, now);
  const isPromoted = isReady(stateOf(saved), authority !== null, now) && (await promoteToPrimary(tx, saved.accountId, saved.hostname));
  return isPromoted ? { ...saved, primary: true, becomesPrimary: false, version: saved.version + 1 } : saved;
}

function stateOf({ status, redirect, certificate }: StoredDomain): NameState {
  return { status, redirect, certificateId: certificate.id, certificateExpiresAt: certificate.expiresAt };
}
