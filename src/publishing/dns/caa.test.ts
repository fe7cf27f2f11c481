import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { caaNames, judgeCaa, type CaaAuthority, type CaaStep } from "./caa.ts";
import type { CaaRecord, Lookup } from "./lookup.ts";

const accountUrl = "https://ca.example.net/acct/7";
const authority: CaaAuthority = { identities: ["ca.example.net", "ca2.example.net"], accountUrl };
const nameless: CaaAuthority = { identities: [], accountUrl };

function record(line: string): CaaRecord {
  const [, flags, tag, value] = /^(\d+) (\S+) "(.*)"$/.exec(line)!;
  return { flags: Number(flags), tag: tag!, value: value! };
}

function step(name: string, ...lines: string[]): CaaStep {
  const lookup: Lookup<CaaRecord> =
    lines.length === 0
      ? { outcome: "none", nameExists: true }
      : { outcome: "records", records: lines.map((line) => ({ owner: name, value: record(line) })) };
  return { name, lookup };
}

const failed = (name: string): CaaStep => ({ name, lookup: { outcome: "failed", reason: "SERVFAIL", server: "192.0.2.53" } });
const outcome = (lines: string[], wildcard = false): string => judgeCaa([step("example.com", ...lines)], authority, wildcard).outcome;

describe("CAA (RFC 8659)", () => {
  it("climbs from the name to the top-level domain", () => {
    assert.deepEqual(caaNames("www.shop.example.com"), ["www.shop.example.com", "shop.example.com", "example.com", "com"]);
  });

  const sets: [title: string, lines: string[], expected: string][] = [
    ["no record at all allows", [], "allowed"],
    ["the authority's own name allows", ['0 issue "ca.example.net"'], "allowed"],
    ["the second identity of the authority allows", ['0 issue "ca2.example.net"'], "allowed"],
    ["case does not matter, in the tag or in the value", ['0 ISSUE "CA.Example.NET"'], "allowed"],
    ["spaces and unknown parameters do no harm", ['0 issue " ca.example.net ; policy=ev; x"'], "allowed"],
    ["a validation method of this service allows", ['0 issue "ca.example.net; validationmethods=dns-01,http-01"'], "allowed"],
    ["its other validation method allows", ['0 issue "ca.example.net;ValidationMethods=tls-alpn-01"'], "allowed"],
    ["validation methods that it does not have block", ['0 issue "ca.example.net; validationmethods=dns-01"'], "blocked"],
    ["the account of this service allows", [`0 issue "ca.example.net; accounturi=${accountUrl}; validationmethods=http-01"`], "allowed"],
    ["another account blocks", ['0 issue "ca.example.net; accounturi=https://ca.example.net/acct/8"'], "blocked"],
    ["two accounts block everybody", [`0 issue "ca.example.net; accounturi=${accountUrl}; accounturi=${accountUrl}"`], "blocked"],
    [
      "a record without parameters beside one with them allows",
      ['0 issue "ca.example.net; validationmethods=dns-01"', '0 issue "ca2.example.net"'],
      "allowed",
    ],
    ["another authority blocks", ['0 issue "other.example"'], "blocked"],
    ["one of several records is enough", ['0 issue "other.example"', '0 issue "ca.example.net"'], "allowed"],
    ["an empty issue blocks everybody", ['0 issue ""'], "blocked"],
    ["a lone semicolon blocks everybody", ['0 issue ";"'], "blocked"],
    ["an empty issue beside the authority's name does no harm", ['0 issue ";"', '0 issue "ca.example.net"'], "allowed"],
    ["an invalid value names no authority", ['0 issue "ca.example.net other.example"'], "blocked"],
    ["a name that only ends like the authority's is another", ['0 issue "evil-ca.example.net"'], "blocked"],
    ["iodef alone restricts nothing", ['0 iodef "mailto:me@example.com"'], "allowed"],
    ["issuewild counts for wildcards only", ['0 issuewild ";"'], "allowed"],
    ["an unknown tag is ignored", ['0 tbs "x"'], "allowed"],
    ["an unknown critical tag blocks", ['128 tbs "x"', '0 issue "ca.example.net"'], "blocked"],
    ["the critical flag on a known tag changes nothing", ['128 issue "ca.example.net"', '128 iodef "mailto:me@example.com"'], "allowed"],
    ["flags of 1, a common spelling of critical, block on an unknown tag", ['1 tbs "x"'], "blocked"],
  ];
  for (const [title, lines, expected] of sets) it(title, () => assert.equal(outcome(lines), expected));

  it("issuewild replaces issue for a wildcard, and issue applies without it", () => {
    assert.equal(outcome(['0 issue "ca.example.net"', '0 issuewild ";"'], true), "blocked");
    assert.equal(outcome(['0 issue ";"', '0 issuewild "ca.example.net"'], true), "allowed");
    assert.equal(outcome(['0 issue "other.example"'], true), "blocked");
  });

  it("the nearest name with records decides, and is named in the verdict", () => {
    const parent = step("example.com", '0 issue "other.example"');
    assert.equal(judgeCaa([step("www.example.com", '0 issue "ca.example.net"'), parent], authority).outcome, "allowed");
    const verdict = judgeCaa([step("www.example.com"), parent, step("com", '0 issue "ca.example.net"')], authority);
    assert.deepEqual(verdict, {
      outcome: "blocked",
      at: "example.com",
      records: [record('0 issue "other.example"')],
      reason: "other_authority",
    });
  });

  it("records behind a CNAME are reported at their owner", () => {
    const lookup: CaaStep["lookup"] = { outcome: "records", records: [{ owner: "petstore.app", value: record('0 issue ";"') }] };
    const verdict = judgeCaa([{ name: "www.example.com", lookup }], authority);
    assert.ok(verdict.outcome === "blocked" && verdict.at === "petstore.app");
  });

  it("a failed look-up makes the verdict unknown, unless a nearer name has decided", () => {
    assert.deepEqual(judgeCaa([step("www.example.com"), failed("example.com")], authority), {
      outcome: "unknown",
      at: "example.com",
      reason: "SERVFAIL",
      server: "192.0.2.53",
    });
    assert.equal(judgeCaa([step("www.example.com", '0 issue "ca.example.net"'), failed("example.com")], authority).outcome, "allowed");
  });

  it("an authority without names is blocked only by records that block every authority", () => {
    const judged = (...lines: string[]): string => judgeCaa([step("example.com", ...lines)], nameless).outcome;
    assert.deepEqual([judged(), judged('0 issue "other.example"')], ["allowed", "allowed"]);
    assert.deepEqual([judged('0 issue ";"'), judged('128 tbs "x"', '0 issue "other.example"')], ["blocked", "blocked"]);
  });

  it("a record for another account does not block while this service's account is unknown", () => {
    const line = '0 issue "ca.example.net; accounturi=https://ca.example.net/acct/8"';
    assert.equal(judgeCaa([step("example.com", line)], { ...authority, accountUrl: null }).outcome, "allowed");
  });

  it("records that name the authority with conditions are distinguished from those that do not name it", () => {
    const verdict = judgeCaa(
      [step("example.com", '0 issue "other.example"', '0 issue "ca.example.net; validationmethods=dns-01"')],
      authority,
    );
    assert.ok(verdict.outcome === "blocked" && verdict.reason === "restricted");
  });

  it("a record that names the authority lifts every block except a critical tag's, whatever the other records and their order", () => {
    const line: fc.Arbitrary<CaaRecord> = fc.record({
      flags: fc.constantFrom(0, 1, 2, 128),
      tag: fc.constantFrom("issue", "issuewild", "iodef", "tbs", ""),
      value: fc.oneof(fc.string(), fc.constantFrom("", ";", "other.example")),
    });
    fc.assert(
      fc.property(fc.array(line), fc.nat(), (lines, at) => {
        const all = lines.toSpliced(at % (lines.length + 1), 0, record('0 issue "ca.example.net"'));
        const verdict = judgeCaa(
          [{ name: "example.com", lookup: { outcome: "records", records: all.map((value) => ({ owner: "example.com", value })) } }],
          authority,
        );
        const critical = lines.some(({ flags, tag }) => [1, 128].includes(flags) && ["tbs", ""].includes(tag));
        assert.equal(verdict.outcome, critical ? "blocked" : "allowed");
      }),
    );
  });
});
