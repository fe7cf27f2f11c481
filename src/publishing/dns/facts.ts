import { randomBytes } from "node:crypto";
import { caaNames } from "./caa.ts";
import type { CheckedName } from "./dns-problems.ts";
import type { Dns } from "./lookup.ts";
import { judgeRecords, type Hints, type RecordFacts, type Records } from "./dns-verdict.ts";
import type { DnsFacts, ExpectedDns } from "./verification.ts";

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
export async function lookUpRecordFacts(dns: Dns, { hostname, platformDomain }: CheckedName): Promise<Omit<RecordFacts, "hints">> {
  const [records, a, aaaa] = await Promise.all([
    lookUpRecords(dns, hostname),
    dns.lookUp(platformDomain, "A"),
    dns.lookUp(platformDomain, "AAAA"),
  ]);
  return { records, target: { a, aaaa } };
}

/** Looks up the addresses of a host, and the CAA records that count for it. */
export function lookUpOwnHost(dns: Dns, hostname: string): Promise<[{ records: Records }, DnsFacts["caa"]]> {
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
