import { createHmac } from "node:crypto";
import { hourMs } from "../../platform/clock.ts";
import { Problem, type ProofRecord } from "../../platform/problem.ts";
import type { Proof } from "../dns/dns.ts";
import type { DomainStatus } from "./serving.ts";

/** The TXT record that proves who controls the DNS of a name; `name` is absolute. */
export type OwnershipRecord = ProofRecord;

/** An account's claim to a name. Times in ms; `verifiedAt` is when its DNS was last correct. */
export type Claim = { accountId: number; projectId: number; status: DomainStatus; createdAt: number; verifiedAt: number | null };

/** An account that verified a name of a registrable domain, and when it last did. */
export type Verification = { accountId: number; verifiedAt: number };

const tokenCharacters = 40;

/** The ownership record of an account for a name: always the same, on every node. Nobody can compute another account's record without `secret`. */
export function ownershipRecordFor(secret: Uint8Array, accountId: number, hostname: string): OwnershipRecord {
  const token = createHmac("sha256", secret).update(`petstore-challenge ${accountId} ${hostname}`).digest("hex").slice(0, tokenCharacters);
  return { type: "TXT", name: `_petstore-challenge.${hostname}`, value: token };
}

/**
 * Whether a claim needs the TXT proof besides its record. `verifications` are those of every name of its registrable domain. A verified claim needs
 * no proof. A pending one does if another account ever verified a name; a failing one only if that was after it last verified itself.
 */
export function needsProof(claim: Pick<Claim, "accountId" | "status" | "verifiedAt">, verifications: readonly Verification[]): boolean {
  if (claim.status === "verified") return false;
  const since = claim.status === "failing" ? (claim.verifiedAt ?? -Infinity) : -Infinity;
  return verifications.some(({ accountId, verifiedAt }) => accountId !== claim.accountId && verifiedAt > since);
}

/** How long a DNS change may take to become visible, and so how long a name may stay unverified (specification 5.5). */
export const claimLifetimeMs = 48 * hourMs;

/** Whether a claim has lapsed: it was never verified, and reserves its name no longer. Times in ms. */
export function hasLapsed({ status, createdAt }: { status: DomainStatus; createdAt: number }, now: number): boolean {
  return status === "pending" && now >= createdAt + claimLifetimeMs;
}

/**
 * Whether a name can be added: `add` if no account holds it or the holder's claim has lapsed; `take_over` if the caller's TXT proof is in place and
 * the holder's is not. The refusal does not say which account holds the name.
 *
 * @param proofs whether the TXT records of the caller and of the holder are in place
 * @throws Problem `domain_taken`, with the caller's TXT record if it could win the name
 */
export function decideClaim(
  wanted: { hostname: string; accountId: number; projectId: number; challenge: OwnershipRecord },
  holder: Claim | null,
  proofs: { own: Proof; holders: Proof },
  now: number,
): "add" | "take_over" {
  const { hostname, challenge } = wanted;
  if (holder === null) return "add";
  if (holder.accountId === wanted.accountId && holder.projectId === wanted.projectId)
    throw new Problem("domain_taken", `${hostname} is already attached to this project.`);
  if (hasLapsed(holder, now)) return "add";
  if (holder.accountId === wanted.accountId)
    throw new Problem("domain_taken", `${hostname} is attached to another project of this account. Remove it there first.`);
  if (proofs.own === "present" && proofs.holders === "absent") return "take_over";
  throw takenByAnother(hostname, challenge, proofs.own);
}

/** The refusal of a name that another account holds. */
export function takenByAnother(hostname: string, { type, name, value }: OwnershipRecord, ownProof: Proof = "absent"): Problem {
  const record = `a ${type} record with the name ${name} and the value ${value}`;
  const advice: Record<Proof, string> = {
    absent: `If the name is yours, create ${record}, then add ${hostname} again.`,
    unknown: `Your TXT record could not be looked up. If the name is yours, create ${record}, and try again in a few minutes.`,
    present: `Your TXT record is in place, but so is that of the account that has the name. If the name is yours, delete all other TXT records named ${name}, then add ${hostname} again.`,
  };
  return new Problem("domain_taken", `${hostname} is attached to another project. ${advice[ownProof]}`, {
    challenge: { type, name, value },
  });
}
