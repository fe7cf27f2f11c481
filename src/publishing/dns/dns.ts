import { lookUpFacts, lookUpRecordFacts } from "./facts.ts";
import type { CheckedName } from "./dns-problems.ts";
import { leadsHere } from "./dns-verdict.ts";
import type { Dns } from "./lookup.ts";
import { verify, type DnsVerdict, type ExpectedDns } from "./verification.ts";

export type { CaaAuthority } from "./caa.ts";
export { parseNameserver } from "./dns-query.ts";
export type { CheckedName, DnsProblem, DnsProblemCode } from "./dns-problems.ts";
export { isPlatformDomain, parseHostname, recordFor, sharedDomain, type DomainKind, type Hostname, type OwnNames } from "./hostnames.ts";
export { createDns, dnsFor, type Dns, type Lookup } from "./lookup.ts";
export { isTypo } from "./typo.ts";
export { proofIn, type DnsVerdict, type Proof } from "./verification.ts";

/** Looks up the DNS of a name and judges it. Never rejects because of DNS: a failed look-up makes the outcome `unknown`. */
export async function checkDns(dns: Dns, expected: ExpectedDns): Promise<DnsVerdict> {
  return verify(expected, await lookUpFacts(dns, expected));
}

/** Whether the record of a name leads to the platform; false where DNS gives no answer. */
export async function recordLeadsHere(dns: Dns, name: CheckedName): Promise<boolean> {
  return leadsHere(name, await lookUpRecordFacts(dns, name));
}
