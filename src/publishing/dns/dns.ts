import { judgeCaa, type CaaAuthority, type CaaStep } from "./caa.ts";
import { lookUpFacts, lookUpOwnHost, lookUpRecordFacts } from "./facts.ts";
import type { CheckedName } from "./dns-problems.ts";
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

/** Returns why no authority would issue a certificate for the host of PUBLIC_URL now, and what to do; null if nothing prevents it. */
export async function ownHostProblem(dns: Dns, hostname: string, authority: CaaAuthority | null): Promise<string | null> {
  const [{ records }, caa] = await lookUpOwnHost(dns, hostname);
  const lookups = [records.a, records.aaaa];
  if (!lookups.some(({ outcome }) => outcome === "records")) {
    const failed = lookups.find((lookup) => lookup.outcome === "failed");
    if (failed)
      return `The DNS server ${failed.server} does not answer for ${hostname} (${failed.reason}). Check DNS_SERVERS and the name's zone.`;
    return `${hostname} has no address in DNS. Create an A or AAAA record that leads to this machine.`;
  }
  return authority && problemOfCaa(caa, authority);
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
