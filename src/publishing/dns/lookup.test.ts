import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { after, before, beforeEach, describe, it, type TestContext } from "node:test";
import { decode, encode } from "dns-packet";
import { startDnsServer, type DnsServer } from "../../../test/support/dns-server.ts";
import { openBounds } from "../../platform/bounds.ts";
import { parseNameserver, createDns, type Dns, type LookupType } from "./lookup.ts";

const turns = () => openBounds().queue<number>("dns");

describe("a DNS look-up", () => {
  let server: DnsServer;
  let dns: Dns;
  let impatient: Dns;
  before(async () => {
    server = await startDnsServer();
    dns = createDns({ servers: [server.address], timeoutMs: 10_000, tries: 1 }, turns());
    impatient = createDns({ servers: [server.address], timeoutMs: 100, tries: 1 }, turns());
  });
  after(() => server.close());
  beforeEach(() => void (server.asked.length = 0));

  const values = async (name: string, type: LookupType): Promise<unknown[]> => {
    const lookup = await dns.lookUp(name, type);
    assert.equal(lookup.outcome, "records");
    return lookup.outcome === "records" ? lookup.records.map(({ value }) => value) : [];
  };

  it("returns the records of each type in their plain form", async () => {
    server.set("plain.test", "A", ["192.0.2.1", "192.0.2.2"]);
    server.set("plain.test", "AAAA", ["2001:0db8:0:0:0:0:0:1"]);
    server.set("plain.test", "TXT", ["one", ["two ", "parts"]]);
    server.set("plain.test", "NS", ["NS1.Example."]);
    server.set("alias.test", "CNAME", ["Edge.Platform.Test"]);
    assert.deepEqual(await values("PLAIN.test", "A"), ["192.0.2.1", "192.0.2.2"]);
    assert.deepEqual(await values("plain.test", "AAAA"), ["2001:db8::1"]);
    assert.deepEqual(await values("plain.test", "TXT"), ["one", "two parts"]);
    assert.deepEqual(await values("plain.test", "NS"), ["ns1.example"]);
    assert.deepEqual(await values("alias.test", "CNAME"), ["edge.platform.test"]);
  });

  it("reads unusual CAA records: an empty issue, odd tags, the critical flag", async () => {
    const odd = { flags: 128, tag: "x-odd", value: "\u00fc; a=b" };
    server.set("caa.test", "CAA", ['0 issue ""', '0 issue ";"', '0 IssueWild "ca.example; policy=ev"', odd]);
    assert.deepEqual(await values("caa.test", "CAA"), [
      { flags: 0, tag: "issue", value: "" },
      { flags: 0, tag: "issue", value: ";" },
      { flags: 0, tag: "IssueWild", value: "ca.example; policy=ev" },
      odd,
    ]);
  });

  it("says which name of a CNAME chain holds the records", async () => {
    server.set("www.chain.test", "CNAME", ["middle.chain.test"]);
    server.set("middle.chain.test", "CNAME", ["end.chain.test"]);
    server.set("end.chain.test", "A", ["192.0.2.9"]);
    assert.deepEqual(await dns.lookUp("www.chain.test", "A"), {
      outcome: "records",
      records: [{ owner: "end.chain.test", value: "192.0.2.9" }],
    });
    assert.deepEqual(await dns.lookUp("www.chain.test", "AAAA"), { outcome: "none", nameExists: true });
    assert.deepEqual(await dns.lookUp("www.chain.test", "CNAME"), {
      outcome: "records",
      records: [{ owner: "www.chain.test", value: "middle.chain.test" }],
    });
  });

  it("distinguishes a name that does not exist from one without the type", async () => {
    assert.deepEqual(await dns.lookUp("nothing.test", "A"), { outcome: "none", nameExists: false });
    server.set("some.test", "A", ["192.0.2.1"]);
    assert.deepEqual(await dns.lookUp("some.test", "CAA"), { outcome: "none", nameExists: true });
  });

  it("knows without asking that a name too long for DNS does not exist", async () => {
    assert.deepEqual(await dns.lookUp(`${"a.".repeat(130)}test`, "TXT"), { outcome: "none", nameExists: false });
    assert.deepEqual(await dns.lookUp(`${"a".repeat(64)}.test`, "TXT"), { outcome: "none", nameExists: false });
    assert.deepEqual(server.asked, []);
  });

  for (const [fault, reason] of [
    ["servfail", "SERVFAIL"],
    ["refused", "REFUSED"],
    ["timeout", "timeout"],
    ["malformed", "malformed"],
  ] as const)
    it(`that ends in ${reason} is a failure of that server, not an answer`, async () => {
      const name = `${fault}.test`;
      server.set(name, "A", ["192.0.2.1"]);
      server.fail(name, fault);
      const asker = fault === "timeout" ? impatient : dns;
      assert.deepEqual(await asker.lookUp(name, "A"), { outcome: "failed", reason, server: server.address });
      server.heal(name);
      assert.equal((await dns.lookUp(name, "A")).outcome, "records");
    });

  it("at a closed port is unreachable", async () => {
    const gone = await startDnsServer();
    await gone.close();
    const nobody = createDns({ servers: [gone.address], timeoutMs: 10_000, tries: 1 }, turns());
    assert.deepEqual(await nobody.lookUp("a.test", "A"), { outcome: "failed", reason: "unreachable", server: gone.address });
  });

  it("asks again over TCP if the answer does not fit, and gets all of it", async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `${index} ${"x".repeat(100)}`);
    server.set("large.test", "TXT", texts);
    assert.deepEqual(await values("large.test", "TXT"), texts);
    assert.deepEqual(
      server.asked.map(({ transport }) => transport),
      ["udp", "tcp"],
    );
    server.set("cut.test", "A", ["192.0.2.1"]);
    server.fail("cut.test", "truncation");
    assert.deepEqual(await values("cut.test", "A"), ["192.0.2.1"]);
  });

  it("gets more than 512 bytes over UDP by EDNS", async () => {
    server.set("medium.test", "TXT", ["x".repeat(200), "y".repeat(200), "z".repeat(200)]);
    assert.equal((await values("medium.test", "TXT")).length, 3);
    assert.deepEqual(
      server.asked.map(({ transport }) => transport),
      ["udp"],
    );
  });

  it("tries the next server after a failure, and reports a refusal rather than silence", async (test) => {
    const broken = await startDnsServer();
    test.after(() => broken.close());
    broken.fail("both.test", "servfail");
    broken.fail("mixed.test", "timeout");
    server.set("both.test", "A", ["192.0.2.1"]);
    server.fail("mixed.test", "servfail");
    const either = createDns({ servers: [broken.address, server.address], timeoutMs: 1000, tries: 2 }, turns());
    assert.equal((await either.lookUp("both.test", "A")).outcome, "records");
    assert.deepEqual(await either.lookUp("mixed.test", "A"), { outcome: "failed", reason: "SERVFAIL", server: server.address });
    assert.equal(broken.asked.filter(({ name }) => name === "mixed.test").length, 2);
  });

  it("runs a bounded number at once, lets a bounded number wait, and refuses the rest", async (test) => {
    const slow = await startDnsServer();
    test.after(() => slow.close());
    slow.fail("slow.test", "timeout");
    const bounded = createDns({ servers: [slow.address], timeoutMs: 500, tries: 1 }, openBounds().queue("dns", { max: 2, waitingMax: 3 }));
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => bounded.lookUp("slow.test", "A")));
    const reasons = outcomes.map((one) => (one.outcome === "failed" ? one.reason : one.outcome));
    assert.deepEqual(reasons, ["timeout", "timeout", "timeout", "timeout", "timeout", "busy", "busy", "busy"]);
    assert.equal(slow.asked.length, 5);
    slow.heal("slow.test");
    assert.equal((await bounded.lookUp("slow.test", "A")).outcome, "none");
  });
});

describe("look-ups of several accounts", () => {
  it("take turns: names that never answer delay no other account, and a look-up of none goes first", async (test) => {
    const slow = await startDnsServer();
    test.after(() => slow.close());
    slow.fail("slow.test", "timeout");
    slow.set("quick.test", "A", ["192.0.2.1"]);
    const dns = createDns({ servers: [slow.address], timeoutMs: 300, tries: 1 }, openBounds().queue("dns", { max: 3, maxPerKey: 2 }));
    const ended: string[] = [];
    const look = (name: string, asker?: number) =>
      dns.lookUp(`${name}.test`, "A", asker).then(() => ended.push(`${name} ${asker ?? "none"}`));
    const hanging = Array.from({ length: 6 }, () => look("slow", 1));
    await Promise.all([look("quick", 2), look("quick")]);
    assert.deepEqual(ended.toSorted(), ["quick 2", "quick none"]);
    await Promise.all(hanging);
  });
});

describe("an answer that was not asked for", () => {
  /** A server that answers with what `forge` makes of each query. */
  async function forger(test: TestContext, forge: (query: ReturnType<typeof decode>) => Buffer[]) {
    const socket = createSocket("udp4");
    socket.on("message", (message, client) => {
      for (const reply of forge(decode(message))) socket.send(reply, client.port, client.address);
    });
    await new Promise<void>((listening) => socket.bind(0, "127.0.0.1", listening));
    test.after(() => void socket.close());
    return createDns({ servers: [`127.0.0.1:${socket.address().port}`], timeoutMs: 10_000, tries: 1 }, turns());
  }
  const answer = (owner: string, data: string) => ({ type: "A" as const, name: owner, ttl: 1, data });

  it("is ignored if its id or question differs, and the right answer is awaited", async (test) => {
    const dns = await forger(test, ({ id = 0, questions = [] }) => [
      Buffer.from("x"),
      encode({ type: "response", id: id ^ 1, questions, answers: [answer("a.test", "192.0.2.66")] }),
      encode({ type: "response", id, questions: [{ type: "A", name: "b.test" }], answers: [answer("a.test", "192.0.2.66")] }),
      encode({ type: "response", id, questions: [], answers: [answer("a.test", "192.0.2.66")] }),
      encode({ type: "query", id, questions, answers: [answer("a.test", "192.0.2.66")] }),
      encode({ type: "response", id, questions, answers: [answer("a.test", "192.0.2.1")] }),
    ]);
    assert.deepEqual(await dns.lookUp("a.test", "A"), { outcome: "records", records: [{ owner: "a.test", value: "192.0.2.1" }] });
  });

  it("is ignored for names outside the CNAME chain, and a loop ends", async (test) => {
    const alias = (name: string, data: string) => ({ type: "CNAME" as const, name, ttl: 1, data });
    const dns = await forger(test, ({ id = 0, questions = [] }) => [
      encode({
        type: "response",
        id,
        questions,
        answers: [alias("a.test", "b.test"), alias("b.test", "a.test"), answer("c.test", "192.0.2.66")],
      }),
    ]);
    assert.deepEqual(await dns.lookUp("a.test", "A"), { outcome: "none", nameExists: true });
  });

  it("with an unusual code is a failure", async (test) => {
    const dns = await forger(test, ({ id = 0, questions = [] }) => [encode({ type: "response", id, flags: 9, questions })]);
    const lookup = await dns.lookUp("a.test", "A");
    assert.ok(lookup.outcome === "failed" && lookup.reason === "unexpected answer");
  });
});

describe("the address of a DNS server", () => {
  const addresses: [text: string, host: string, port: number][] = [
    ["192.0.2.1", "192.0.2.1", 53],
    ["127.0.0.1:5353", "127.0.0.1", 5353],
    ["2001:db8::1", "2001:db8::1", 53],
    ["[2001:db8::1]:5353", "2001:db8::1", 5353],
    ["[::1]", "::1", 53],
  ];
  for (const [text, host, port] of addresses) it(`may be ${text}`, () => assert.deepEqual(parseNameserver(text), { host, port }));
  for (const text of ["", "dns.example", "192.0.2.1:0", "192.0.2.1:70000", "192.0.2.1:", "[192.0.2.1]:53", "192.0.2.1:53x", "300.1.1.1"])
    it(`may not be "${text}"`, () => assert.throws(() => parseNameserver(text), TypeError));
  it("is needed", () => assert.throws(() => createDns({ servers: [] }, turns()), TypeError));
});
