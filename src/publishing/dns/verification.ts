import type { ProofRecord } from "../../platform/problem.ts";
import { judgeCaa, type CaaAuthority, type CaaStep } from "./caa.ts";
import { caaBlocks, lookupFailed, proofMissing, type DnsProblem, type CheckedName } from "./dns-problems.ts";
import type { Lookup } from "./lookup.ts";
import { judgeRecords, notVerified, valuesOf, verified, type Finding, type RecordFacts } from "./dns-verdict.ts";

/** The DNS that a name should have: its record, the ownership record if one is needed, and CAA records that allow the authority, if there is one. */
export type ExpectedDns = CheckedName & { challenge: ProofRecord | null; authority: CaaAuthority | null };

/** What DNS says about a name. `proof`: the TXT records at the name of the ownership record. `caa`: nearest name first. */
export type DnsFacts = RecordFacts & { proof: Lookup<string> | null; caa: CaaStep[] };

/**
 * `unknown`: a look-up failed, so the status of the domain must not change.
 * `certificate`: whether CAA records allow a certificate; it does not affect `outcome`.
 */
export type DnsVerdict = {
  outcome: Finding["outcome"];
  certificate: "allowed" | "blocked" | "unknown";
  problems: DnsProblem[];
};

/** Whether a name points here and, if needed, its ownership is proved (specification 5.4), with each problem in words. */
export function verify(expected: ExpectedDns, facts: DnsFacts): DnsVerdict {
  const record = judgeRecords(expected, facts);
  const proof = judgeProof(expected, facts);
  const outcomes = new Set([record.outcome, proof.outcome]);
  const caa = judgeCertificate(expected, facts);
  const problems = [record.problem, proof.problem, caa.problem].filter((one) => one !== null);
  return {
    outcome: outcomes.has("not_verified") ? "not_verified" : outcomes.has("unknown") ? "unknown" : "verified",
    certificate: caa.certificate,
    problems,
  };
}

/** `absent`: DNS answered, but without the record. `unknown`: the look-up failed. */
export type Proof = "present" | "absent" | "unknown";

/** Whether the TXT records looked up at the record's name include its value, perhaps as a form kept it; others do no harm. */
export function proofIn(record: ProofRecord, lookup: Lookup<string>): Proof {
  if (lookup.outcome === "failed") return "unknown";
  return lookup.outcome === "records" && lookup.records.some(({ value }) => plainText(value) === record.value) ? "present" : "absent";
}

/** A TXT value without the quotation marks, backslashes and spaces that a form keeps of a pasted one. No value of an ownership record has them. */
function plainText(value: string): string {
  return value.replaceAll(/["'`“”„‘’\\\s\u200B-\u200D\u2060\uFEFF]/gu, "");
}

function judgeProof(expected: ExpectedDns, { proof }: DnsFacts): Finding {
  const { challenge } = expected;
  if (challenge === null) return verified;
  if (proof === null) throw new TypeError(`the challenge of ${expected.hostname} was not looked up`);
  if (proof.outcome === "failed") return { outcome: "unknown", problem: lookupFailed(expected, "TXT", challenge.name, proof.reason) };
  return proofIn(challenge, proof) === "present" ? verified : notVerified(proofMissing(expected, challenge, valuesOf(proof)));
}

function judgeCertificate(
  expected: ExpectedDns,
  { caa }: DnsFacts,
): { certificate: DnsVerdict["certificate"]; problem: DnsProblem | null } {
  const { authority } = expected;
  if (authority === null) return { certificate: "allowed", problem: null };
  const verdict = judgeCaa(caa, authority);
  if (verdict.outcome === "allowed") return { certificate: "allowed", problem: null };
  if (verdict.outcome === "blocked") return { certificate: "blocked", problem: caaBlocks(expected, verdict, authority) };
  // An authority without names may ignore CAA, so a failed look-up must not delay an order.
  if (authority.identities.length === 0) return { certificate: "allowed", problem: null };
  return { certificate: "unknown", problem: lookupFailed(expected, "CAA", verdict.at, verdict.reason) };
}
