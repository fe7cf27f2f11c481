import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { after, before, describe, it } from "node:test";
import { startDnsServer, type DnsServer } from "./dns-server.ts";

describe("the DNS server of the tests", () => {
  let dns: DnsServer;
  const resolver = new Resolver({ timeout: 20_000, tries: 1 });
  const hasty = new Resolver({ timeout: 200, tries: 1 });
  before(async () => {
    dns = await startDnsServer();
    for (const one of [resolver, hasty]) one.setServers([dns.address]);
  });
  after(() => dns.close());

  it("answers each type, and changes at once", async () => {
    dns.set("a.example", "A", ["192.0.2.1", "192.0.2.2"]);
    dns.set("a.example", "AAAA", ["2001:db8::1"]);
    dns.set("a.example", "TXT", ["one", ["two ", "parts"]]);
    dns.set("a.example", "CAA", ['0 issue "ca.example"', { flags: 128, tag: "tbs", value: "unknown" }]);
    dns.set("example", "NS", ["ns1.example"]);
    dns.set("example", "SOA", ["ns1.example"]);
    assert.deepEqual((await resolver.resolve4("A.example")).toSorted(), ["192.0.2.1", "192.0.2.2"]);
    assert.deepEqual(await resolver.resolve6("a.example"), ["2001:db8::1"]);
    assert.deepEqual(await resolver.resolveTxt("a.example"), [["one"], ["two ", "parts"]]);
    assert.deepEqual((await resolver.resolveCaa("a.example"))[0], { critical: 0, issue: "ca.example", type: "CAA" });
    assert.deepEqual(await resolver.resolveNs("example"), ["ns1.example"]);
    assert.equal((await resolver.resolveSoa("example")).nsname, "ns1.example");
    dns.set("a.example", "A", ["192.0.2.3"]);
    assert.deepEqual(await resolver.resolve4("a.example"), ["192.0.2.3"]);
  });

  it("tells a name that does not exist from a name without the type, empty names in between too", async () => {
    dns.set("deep.below.test", "A", ["192.0.2.1"]);
    await assert.rejects(resolver.resolve4("nothing.test"), { code: "ENOTFOUND" });
    await assert.rejects(resolver.resolve6("deep.below.test"), { code: "ENODATA" });
    await assert.rejects(resolver.resolve4("below.test"), { code: "ENODATA" });
    dns.remove("deep.below.test", "A");
    await assert.rejects(resolver.resolve4("deep.below.test"), { code: "ENOTFOUND" });
  });

  it("follows CNAMEs for other types, ends loops with SERVFAIL, and gives the CNAME itself when asked", async () => {
    dns.set("www.shop.test", "CNAME", ["Edge.platform.test"]);
    dns.set("edge.platform.test", "A", ["192.0.2.9"]);
    assert.deepEqual(await resolver.resolve4("www.shop.test"), ["192.0.2.9"]);
    assert.deepEqual(await resolver.resolveCname("www.shop.test"), ["Edge.platform.test"]);
    dns.remove("edge.platform.test");
    await assert.rejects(resolver.resolve4("www.shop.test"), { code: "ENOTFOUND" });
    dns.set("edge.platform.test", "CNAME", ["www.shop.test"]);
    await assert.rejects(resolver.resolve4("www.shop.test"), { code: "ESERVFAIL" });
  });

  it("answers by wildcard only for names that do not exist", async () => {
    dns.set("*.wild.test", "A", ["192.0.2.7"]);
    dns.set("known.wild.test", "TXT", ["here"]);
    assert.deepEqual(await resolver.resolve4("any.thing.wild.test"), ["192.0.2.7"]);
    await assert.rejects(resolver.resolve4("known.wild.test"), { code: "ENODATA" });
  });

  it("fails as configured: by name, by type, and through a CNAME, until it is healed", async () => {
    dns.set("faulty.test", "A", ["192.0.2.1"]);
    dns.set("alias.test", "CNAME", ["faulty.test"]);
    for (const [fault, code] of [
      ["servfail", "ESERVFAIL"],
      ["refused", "EREFUSED"],
      ["timeout", "ETIMEOUT"],
      ["malformed", "EBADRESP"],
    ] as const) {
      dns.fail("faulty.test", fault);
      await assert.rejects((fault === "timeout" ? hasty : resolver).resolve4("faulty.test"), { code }, fault);
    }
    dns.fail("faulty.test", "servfail", ["CAA"]);
    assert.deepEqual(await resolver.resolve4("alias.test"), ["192.0.2.1"]);
    await assert.rejects(resolver.resolveCaa("alias.test"), { code: "ESERVFAIL" });
    dns.heal("faulty.test");
    assert.deepEqual(await resolver.resolveCaa("alias.test"), []);
  });

  it("sends a client to TCP when an answer is truncated or does not fit", async () => {
    dns.set(
      "big.test",
      "TXT",
      Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(100, "x")),
    );
    dns.set("cut.test", "A", ["192.0.2.1"]);
    dns.fail("cut.test", "truncation");
    assert.equal((await resolver.resolveTxt("big.test")).length, 40);
    assert.deepEqual(await resolver.resolve4("cut.test"), ["192.0.2.1"]);
    assert.deepEqual(
      dns.asked.filter((query) => query.name === "cut.test").map((query) => query.transport),
      ["udp", "tcp"],
    );
  });
});
