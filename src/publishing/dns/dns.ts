import { randomBytes } from "node:crypto";
import type { ProofRecord } from "../../platform/problem.ts";
import { judgeCaa, type CaaAuthority, type CaaStep, caaNames } from "./caa.ts";
import {
  type CheckedName,
  type DnsProblemCode,
  caaBlocks,
  lookupFailed,
  proofMissing,
  type DnsProblem,
  platformUnresolvable,
  addressesBesideCname,
  addressesInsteadOfCname,
  foreignAddresses,
  recordMissing,
  wrongTarget,
  type DnsHints,
  type FoundRecord,
} from "./dns-problems.ts";
import type { Dns, Lookup, LookupType } from "./lookup.ts";

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

/** `absent`: DNS answered, but without the record. `unknown`: the look-up failed. */
export type Proof = "present" | "absent" | "unknown";

type Addresses = { a: Lookup<string>; aaaa: Lookup<string> };
export type Records = Addresses & { cname: Lookup<string> };

/** `sibling`: the records of a random name next to this one, which only a wildcard can answer. `doubled`: the CNAME at www.example.com.example.com. */
export type Hints = { sibling: Records; doubled: Lookup<string>; nameservers: Lookup<string> };

/** The records of a name. `target`: the addresses of the platform. `hints`: looked up only if the records are wrong. */
export type RecordFacts = { records: Records; target: Addresses; hints: Hints | null };

/** `unknown`: a look-up failed, which says nothing about the name. */
type Finding = { outcome: "verified" | "not_verified" | "unknown"; problem: DnsProblem | null };

/** Looks up the DNS of a name and judges it. Never rejects because of DNS: a failed look-up makes the outcome `unknown`. */
export async function checkDns(dns: Dns, expected: ExpectedDns): Promise<DnsVerdict> {
  return verify(expected, await lookUpFacts(dns, expected));
}

/** Whether the record of a name leads to the platform; false if DNS gives no answer. */
export async function recordLeadsHere(dns: Dns, name: CheckedName): Promise<boolean> {
  return leadsHere(name, await lookUpRecordFacts(dns, name));
}

/** Judges the DNS of the host of PUBLIC_URL as an authority would. The message of its problem says what to do. */
export async function checkServiceHost(dns: Dns, hostname: string, authority: CaaAuthority | null): Promise<DnsVerdict> {
  const [{ records }, caa] = await lookUpOwnHost(dns, hostname);
  const lookups = [records.a, records.aaaa];
  const hasAddress = lookups.some(({ outcome }) => outcome === "records");
  const failed = lookups.find((lookup) => lookup.outcome === "failed");
  if (!hasAddress && failed)
    return refusal(
      "lookup_failed",
      `The DNS server ${failed.server} does not answer for ${hostname} (${failed.reason}). Check DNS_SERVERS and the name's zone.`,
    );
  if (!hasAddress)
    return refusal("record_missing", `${hostname} has no address in DNS. Create an A or AAAA record that leads to this machine.`);
  const problem = authority && problemOfCaa(caa, authority);
  return problem === null ? { outcome: "verified", certificate: "allowed", problems: [] } : refusal("caa_blocks", problem);
}

function refusal(code: DnsProblemCode, message: string): DnsVerdict {
  const problems = [{ code, message, expected: "", found: "", fix: "" }];
  return { outcome: "not_verified", certificate: code === "caa_blocks" ? "blocked" : "unknown", problems };
}

/** Returns why the CAA records of a name of this service do not allow the authority, and what to do; null if they do. */
export async function caaProblem(dns: Dns, hostname: string, authority: CaaAuthority): Promise<string | null> {
  return problemOfCaa((await lookUpOwnHost(dns, hostname))[1], authority);
}

function problemOfCaa(caa: CaaStep[], authority: CaaAuthority): string | null {
  const verdict = judgeCaa(caa, authority);
  if (verdict.outcome === "blocked") {
    const names = authority.identities.join(" or ") || "the authority";
    return `The CAA records of ${verdict.at} do not allow this authority. Add one: 0 issue "${names}".`;
  }
  if (verdict.outcome === "unknown")
    return `The CAA records of ${verdict.at} cannot be looked up (${verdict.reason}). Check the name's zone and DNS_SERVERS.`;
  return null;
}

/**
 * Looks up everything that `verify` judges, in parallel. If the record is wrong, a second round looks for the likely cause. Never rejects because
 * of DNS: a failed look-up is a fact too.
 */
export async function lookUpFacts(dns: Dns, expected: ExpectedDns): Promise<DnsFacts> {
  const { challenge, hostname } = expected;
  const [recordFacts, proof, caa] = await Promise.all([
    lookUpRecordFacts(dns, expected),
    challenge === null ? null : dns.lookUp(challenge.name, "TXT"),
    expected.authority === null ? [] : lookUpCaa(dns, hostname),
  ]);
  const hints =
    judgeRecords(expected, { ...recordFacts, hints: null }).outcome === "not_verified" ? await lookUpHints(dns, expected) : null;
  return { ...recordFacts, proof, caa, hints };
}

/** Looks up the records of the name and the addresses of the platform. */
async function lookUpRecordFacts(dns: Dns, { hostname, platformDomain }: CheckedName): Promise<Omit<RecordFacts, "hints">> {
  const [records, a, aaaa] = await Promise.all([
    lookUpRecords(dns, hostname),
    dns.lookUp(platformDomain, "A"),
    dns.lookUp(platformDomain, "AAAA"),
  ]);
  return { records, target: { a, aaaa } };
}

/** Looks up the addresses of a host, and the CAA records that count for it. */
function lookUpOwnHost(dns: Dns, hostname: string): Promise<[{ records: Records }, DnsFacts["caa"]]> {
  return Promise.all([lookUpRecords(dns, hostname).then((records) => ({ records })), lookUpCaa(dns, hostname)]);
}

/** Looks up all names in parallel, in the time of one round trip. */
function lookUpCaa(dns: Dns, hostname: string): Promise<DnsFacts["caa"]> {
  return Promise.all(caaNames(hostname).map(async (name) => ({ name, lookup: await dns.lookUp(name, "CAA") })));
}

async function lookUpHints(dns: Dns, { hostname, registrableDomain }: CheckedName): Promise<Hints> {
  const parent = hostname.slice(hostname.indexOf(".") + 1);
  const randomName = `petstore-${randomBytes(8).toString("hex")}.${parent}`;
  const [sibling, doubled, nameservers] = await Promise.all([
    lookUpRecords(dns, randomName),
    dns.lookUp(`${hostname}.${registrableDomain}`, "CNAME"),
    dns.lookUp(registrableDomain, "NS"),
  ]);
  return { sibling, doubled, nameservers };
}

async function lookUpRecords(dns: Dns, name: string): Promise<Records> {
  const [cname, a, aaaa] = await Promise.all([dns.lookUp(name, "CNAME"), dns.lookUp(name, "A"), dns.lookUp(name, "AAAA")]);
  return { cname, a, aaaa };
}

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

/** Whether the record of a name points here, apart from any proof of ownership (specification 5.4). */
function judgeRecords(expected: CheckedName, facts: RecordFacts): Finding {
  return expected.kind === "apex" ? judgeApex(expected, facts) : judgeSubdomain(expected, facts);
}

function judgeSubdomain(expected: CheckedName, facts: RecordFacts): Finding {
  const { records } = facts;
  if (records.cname.outcome === "failed") return unknown(expected, expected.hostname, "CNAME", records.cname);
  const targets = valuesOf(records.cname);
  if (targets.some((target) => target !== expected.platformDomain))
    return notVerified(wrongTarget(expected, targets, circumstancesOf(expected, facts)));
  if (targets.length > 0) {
    const beside = strayAddresses(expected, facts);
    return beside.length === 0 ? verified : notVerified(addressesBesideCname(expected, beside));
  }
  const failed = firstFailure(expected, records);
  if (failed !== null) return failed;
  const found = addressesOf(records);
  const circumstances = circumstancesOf(expected, facts);
  if (found.length === 0) return notVerified(recordMissing(expected, circumstances));
  const ours = addressesOf(facts.target).length > 0 && foreignTo(facts.target, found).length === 0;
  return notVerified(addressesInsteadOfCname(expected, found, ours, circumstances));
}

/** Every address must be one of the platform's: with ALIAS, ANAME or flattening, DNS shows nothing but addresses. */
function judgeApex(expected: CheckedName, facts: RecordFacts): Finding {
  const { records, target } = facts;
  const failed = firstFailure(expected, { a: records.a, aaaa: records.aaaa });
  if (failed !== null) return failed;
  const found = addressesOf(records);
  const cnames = valuesOf(records.cname);
  const pointsElsewhere = cnames.some((one) => one !== expected.platformDomain);
  if (found.length === 0 && !pointsElsewhere) return notVerified(recordMissing(expected, circumstancesOf(expected, facts)));
  if (found.length === 0) return notVerified(wrongTarget(expected, cnames, circumstancesOf(expected, facts)));
  const targetFailed = firstFailure(expected, target, expected.platformDomain);
  if (targetFailed !== null) return targetFailed;
  if (addressesOf(target).length === 0) return { outcome: "unknown", problem: platformUnresolvable(expected) };
  const foreign = foreignTo(target, found);
  if (foreign.length === 0) return verified;
  if (pointsElsewhere) return notVerified(wrongTarget(expected, cnames, circumstancesOf(expected, facts)));
  return notVerified(foreignAddresses(expected, foreign, foreign.length < found.length, circumstancesOf(expected, facts)));
}

/** Whether a name's record points here, with or without a proof. Decides whether the removal of a name warns about its record. */
export function leadsHere(expected: CheckedName, facts: Omit<RecordFacts, "hints">): boolean {
  return judgeRecords(expected, { ...facts, hints: null }).outcome === "verified";
}

const verified: Finding = { outcome: "verified", problem: null };
const notVerified = (problem: DnsProblem): Finding => ({ outcome: "not_verified", problem });

function unknown(name: CheckedName, at: string, type: LookupType, { reason }: Lookup<string> & { outcome: "failed" }): Finding {
  return { outcome: "unknown", problem: lookupFailed(name, type, at, reason) };
}

/** The first failed look-up of the records at `at`: those of the name, or of the platform. */
function firstFailure(name: CheckedName, { cname, a, aaaa }: Partial<Records>, at = name.hostname): Finding | null {
  if (cname?.outcome === "failed") return unknown(name, at, "CNAME", cname);
  if (a?.outcome === "failed") return unknown(name, at, "A", a);
  return aaaa?.outcome === "failed" ? unknown(name, at, "AAAA", aaaa) : null;
}

function addressesOf({ a, aaaa }: Addresses): FoundRecord[] {
  return [
    ...valuesOf(a).map((value) => ({ type: "A" as const, value })),
    ...valuesOf(aaaa).map((value) => ({ type: "AAAA" as const, value })),
  ];
}

function foreignTo(target: Addresses, found: FoundRecord[]): FoundRecord[] {
  const own = new Set(addressesOf(target).map(({ value }) => value));
  return found.filter(({ value }) => !own.has(value));
}

/** Addresses at the name itself, next to its CNAME, that are not the platform's; none if the platform's are unknown. */
function strayAddresses(expected: CheckedName, { records, target }: RecordFacts): FoundRecord[] {
  if (addressesOf(target).length === 0 || target.a.outcome === "failed" || target.aaaa.outcome === "failed") return [];
  const atName = (lookup: Lookup<string>): Lookup<string> =>
    lookup.outcome === "records" ? { ...lookup, records: lookup.records.filter(({ owner }) => owner === expected.hostname) } : lookup;
  return foreignTo(target, addressesOf({ a: atName(records.a), aaaa: atName(records.aaaa) }));
}

const valuesOf = (lookup: Lookup<string>): string[] => (lookup.outcome === "records" ? lookup.records.map(({ value }) => value) : []);

/** DNS providers whose name servers answer with their own addresses for proxied records. */
const proxyingProviders: [suffix: string, provider: string][] = [[".ns.cloudflare.com", "Cloudflare"]];

function circumstancesOf({ platformDomain }: CheckedName, { records, hints }: RecordFacts): DnsHints {
  if (hints === null) return { fromWildcard: false, recordDoubled: false, proxyingProvider: null };
  const seen = (one: Records): string => [...valuesOf(one.cname), ...addressesOf(one).map(({ value }) => value)].toSorted().join(" ");
  const nameservers = valuesOf(hints.nameservers);
  return {
    fromWildcard: seen(records) !== "" && seen(records) === seen(hints.sibling),
    recordDoubled: valuesOf(hints.doubled).includes(platformDomain),
    proxyingProvider: proxyingProviders.find(([suffix]) => nameservers.some((server) => server.endsWith(suffix)))?.[1] ?? null,
  };
}
