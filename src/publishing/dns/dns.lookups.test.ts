import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startDnsServer, type DnsServer } from "../../../test/support/dns-server.ts";
import { openBounds } from "../../platform/bounds.ts";
import { ownershipRecordFor } from "../domains/ownership.ts";
import { lookUpFacts, verify, type ExpectedDns, type DnsVerdict } from "./dns.ts";
import { parseHostname } from "./hostnames.ts";
import { createDns, type Dns } from "./lookup.ts";

describe("a check against a real DNS server", () => {
  let server: DnsServer;
  let dns: Dns;
  const platformDomain = "petstore.app";
  before(async () => {
    server = await startDnsServer();
    dns = createDns({ servers: [server.address], timeoutMs: 1000, tries: 1 }, openBounds().queue("dns"));
    server.set(platformDomain, "A", ["198.51.100.1"]);
    server.set(platformDomain, "AAAA", ["2001:db8::1"]);
  });
  after(() => server.close());

  const expect = (hostname: string, more: Partial<ExpectedDns> = {}): ExpectedDns => ({
    ...parseHostname(hostname, { platformDomain, publicHost: "localhost" }),
    platformDomain,
    challenge: null,
    authority: { identities: ["ca.example.net"], accountUrl: null },
    ...more,
  });
  const check = async (expected: ExpectedDns): Promise<DnsVerdict> => verify(expected, await lookUpFacts(dns, expected));
  const codes = ({ problems }: DnsVerdict): string[] => problems.map(({ code }) => code);

  it("follows a subdomain from no record over a wrong one to the right one, and looks up hints only until then", async () => {
    const expected = expect("www.one.example");
    assert.deepEqual(codes(await check(expected)), ["record_missing"]);
    server.set("www.one.example", "A", ["192.0.2.1"]);
    assert.deepEqual(codes(await check(expected)), ["conflicting_record"]);
    server.remove("www.one.example");
    server.set("www.one.example", "CNAME", ["Petstore.APP."]);
    server.asked.length = 0;
    assert.deepEqual(await check(expected), { outcome: "verified", certificate: "allowed", problems: [] });
    assert.ok(server.asked.every(({ type }) => type !== "NS"));
  });

  it("recognizes a wildcard, a record one level too deep and a proxying provider", async () => {
    server.set("*.parked.example", "A", ["192.0.2.1"]);
    assert.match((await check(expect("www.parked.example"))).problems[0]!.message, /wildcard/);
    server.set("www.deep.example.deep.example", "CNAME", [platformDomain]);
    assert.match((await check(expect("www.deep.example"))).problems[0]!.message, /created as www\.deep\.example\.deep\.example/);
    server.set("www.proxied.example", "A", ["192.0.2.2"]);
    server.set("proxied.example", "NS", ["ada.ns.cloudflare.com"]);
    assert.match((await check(expect("www.proxied.example"))).problems[0]!.fix, /Cloudflare/);
  });

  it("verifies an apex by its addresses, and sees a leftover AAAA", async () => {
    server.set("apex.example", "A", ["198.51.100.1"]);
    assert.equal((await check(expect("apex.example"))).outcome, "verified");
    server.set("apex.example", "AAAA", ["2001:db8:ffff::1"]);
    assert.match((await check(expect("apex.example"))).problems[0]!.message, /left over/);
  });

  it("looks for the TXT proof, finds it, and concludes nothing while it cannot be looked up", async () => {
    server.set("www.proof.example", "CNAME", [platformDomain]);
    const challenge = ownershipRecordFor(Buffer.alloc(32, 1), 7, "www.proof.example");
    const expected = expect("www.proof.example", { challenge });
    assert.deepEqual(codes(await check(expected)), ["proof_missing"]);
    server.fail(challenge.name, "servfail");
    assert.equal((await check(expected)).outcome, "unknown");
    server.heal(challenge.name);
    server.set(challenge.name, "TXT", [challenge.value]);
    assert.equal((await check(expected)).outcome, "verified");
  });

  it("finds a CAA record up the tree, and distinguishes one that blocks from one that cannot be looked up", async () => {
    server.set("www.caa.example", "CNAME", [platformDomain]);
    server.set("caa.example", "CAA", ['0 issue ""']);
    const blocked = await check(expect("www.caa.example"));
    assert.deepEqual([blocked.outcome, blocked.certificate, ...codes(blocked)], ["verified", "blocked", "caa_blocks"]);
    server.fail("caa.example", "timeout", ["CAA"]);
    const unknown = await check(expect("www.caa.example"));
    assert.deepEqual([unknown.outcome, unknown.certificate, ...codes(unknown)], ["verified", "unknown", "lookup_failed"]);
    server.heal("caa.example");
    server.set("caa.example", "CAA", ['0 issue "ca.example.net"']);
    assert.equal((await check(expect("www.caa.example"))).certificate, "allowed");
  });

  it("concludes nothing from SERVFAIL or silence", async () => {
    server.set("www.fault.example", "CNAME", [platformDomain]);
    for (const fault of ["servfail", "timeout"] as const) {
      server.fail("www.fault.example", fault, ["CNAME"]);
      assert.equal((await check(expect("www.fault.example"))).outcome, "unknown");
    }
  });
});
