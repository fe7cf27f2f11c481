import { lookupFailed, platformUnresolvable, type DnsProblem, type CheckedName } from "./dns-problems.ts";
import type { Lookup, LookupType } from "./lookup.ts";
import {
  addressesBesideCname,
  addressesInsteadOfCname,
  foreignAddresses,
  recordMissing,
  wrongTarget,
  type Circumstances,
  type FoundRecord,
} from "./record-problems.ts";

type Addresses = { a: Lookup<string>; aaaa: Lookup<string> };
export type Records = Addresses & { cname: Lookup<string> };

/** `sibling`: the records of a random name next to this one, which only a wildcard can answer. `doubled`: the CNAME at www.example.com.example.com. */
export type Hints = { sibling: Records; doubled: Lookup<string>; nameservers: Lookup<string> };

/** The records of a name. `target`: the addresses of the platform. `hints`: looked up only if the records are wrong. */
export type RecordFacts = { records: Records; target: Addresses; hints: Hints | null };

/** `unknown`: a look-up failed, which says nothing about the name. */
export type Finding = { outcome: "verified" | "not_verified" | "unknown"; problem: DnsProblem | null };

/** Whether the record of a name points here, apart from any proof of ownership (specification 5.4). */
export function judgeRecords(expected: CheckedName, facts: RecordFacts): Finding {
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

export const verified: Finding = { outcome: "verified", problem: null };
export const notVerified = (problem: DnsProblem): Finding => ({ outcome: "not_verified", problem });

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

export const valuesOf = (lookup: Lookup<string>): string[] =>
  lookup.outcome === "records" ? lookup.records.map(({ value }) => value) : [];

/** DNS providers whose name servers answer with their own addresses for proxied records. */
const proxyingProviders: [suffix: string, provider: string][] = [[".ns.cloudflare.com", "Cloudflare"]];

function circumstancesOf({ platformDomain }: CheckedName, { records, hints }: RecordFacts): Circumstances {
  if (hints === null) return { fromWildcard: false, recordDoubled: false, proxyingProvider: null };
  const seen = (one: Records): string => [...valuesOf(one.cname), ...addressesOf(one).map(({ value }) => value)].toSorted().join(" ");
  const nameservers = valuesOf(hints.nameservers);
  return {
    fromWildcard: seen(records) !== "" && seen(records) === seen(hints.sibling),
    recordDoubled: valuesOf(hints.doubled).includes(platformDomain),
    proxyingProvider: proxyingProviders.find(([suffix]) => nameservers.some((server) => server.endsWith(suffix)))?.[1] ?? null,
  };
}
