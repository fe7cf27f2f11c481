import { judgeCaa, type CaaAuthority, type CaaStep } from "./caa.ts";
import { caaBlocks, lookupFailed, proofMissing, type DomainProblem, type Pointing } from "./domain-problems.ts";
import type { Lookup } from "./lookup.ts";
import { proofIn, type OwnershipRecord } from "./ownership.ts";
import { judgePointing, refused, valuesOf, verified, type Finding, type PointingFacts } from "./dns-verdict.ts";
import type { DomainStatus } from "./schedule.ts";

/** What a name has to show: its record, the proof if one is needed, and CAA records that allow the authority (null: none is set). */
export type Expected = Pointing & { challenge: OwnershipRecord | null; authority: CaaAuthority | null };

/** What DNS said besides. `proof`: the TXT records of the challenge. `caa`: nearest name first. */
export type DnsFacts = PointingFacts & { proof: Lookup<string> | null; caa: CaaStep[] };

/**
 * `unknown`: a look-up failed, and the state of the domain must not change.
 * `certificate` says whether the authority may be asked; it does not bear on `outcome`.
 */
export type Verdict = {
  outcome: Finding["outcome"];
  certificate: "allowed" | "blocked" | "unknown";
  problems: DomainProblem[];
};

/** Whether a name leads here and is its owner's (spec part 1, rules 5, 6, 8 and 9), with each problem in words. */
export function verify(expected: Expected, facts: DnsFacts): Verdict {
  const pointing = judgePointing(expected, facts);
  const proof = judgeProof(expected, facts);
  const outcomes = new Set([pointing.outcome, proof.outcome]);
  const caa = judgeCertificate(expected, facts);
  const problems = [pointing.problem, proof.problem, caa.problem].filter((one) => one !== null);
  return {
    outcome: outcomes.has("not_verified") ? "not_verified" : outcomes.has("unknown") ? "unknown" : "verified",
    certificate: caa.certificate,
    problems,
  };
}

/** A name that was verified once never becomes pending again; `unknown` changes nothing. */
export function statusAfter(status: DomainStatus, outcome: Finding["outcome"]): DomainStatus {
  if (outcome === "unknown") return status;
  if (outcome === "verified") return "verified";
  return status === "pending" ? "pending" : "failing";
}

function judgeProof(expected: Expected, { proof }: DnsFacts): Finding {
  const { challenge } = expected;
  if (challenge === null) return verified;
  if (proof === null) throw new TypeError(`the challenge of ${expected.hostname} was not looked up`);
  if (proof.outcome === "failed") return { outcome: "unknown", problem: lookupFailed("TXT", challenge.name, proof.reason) };
  return proofIn(challenge, proof) === "present" ? verified : refused(proofMissing(expected, challenge, valuesOf(proof)));
}

function judgeCertificate(expected: Expected, { caa }: DnsFacts): { certificate: Verdict["certificate"]; problem: DomainProblem | null } {
  const { authority } = expected;
  if (authority === null) return { certificate: "allowed", problem: null };
  const verdict = judgeCaa(caa, authority);
  if (verdict.outcome === "allowed") return { certificate: "allowed", problem: null };
  if (verdict.outcome === "blocked") return { certificate: "blocked", problem: caaBlocks(expected, verdict, authority) };
  // An authority without names may well look at no CAA at all: what cannot be looked up is left to it.
  if (authority.identities.length === 0) return { certificate: "allowed", problem: null };
  return { certificate: "unknown", problem: lookupFailed("CAA", verdict.at, verdict.reason) };
}
