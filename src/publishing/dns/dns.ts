import { judgeCaa, type CaaAuthority, type CaaStep } from "./caa.ts";
import { lookUpFacts, lookUpOwnHost, lookUpRecordFacts } from "./facts.ts";
import type { CheckedName, DnsProblemCode } from "./dns-problems.ts";
import { leadsHere } from "./dns-verdict.ts";
import type { Dns } from "./lookup.ts";
import { verify, type DnsVerdict, type ExpectedDns } from "./verification.ts";

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
