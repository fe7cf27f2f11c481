import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { subdomain, none, failed, timeout, at, here, facts, judges, type Row } from "../../../test/support/dns-facts.ts";
import { verify } from "./dns.ts";
import type { CaaRecord } from "./lookup.ts";

const challenge = { type: "TXT" as const, name: "_petstore-challenge.www.example.com", value: "abc123" };

const nameless = { identities: [], accountUrl: null };

const caa = (...records: CaaRecord[]) => [
  { name: "www.example.com", lookup: none },
  { name: "example.com", lookup: { outcome: "records" as const, records: records.map((value) => ({ owner: "example.com", value })) } },
];

describe("the proof of ownership", () => {
  const challenged = { ...subdomain, challenge };
  const rows: Row[] = [
    {
      title: "verifies with the TXT record among others",
      facts: facts(here, { proof: at(challenge.name, "other", "abc123") }),
      code: null,
    },
    {
      title: "is asked for if there is no TXT record",
      facts: facts(here, { proof: none }),
      code: "proof_missing",
      found: /^no record$/,
      fix: /TXT record: name "_petstore-challenge\.www", value "abc123"/,
    },
    {
      title: "is asked for if there is another TXT record",
      facts: facts(here, { proof: at(challenge.name, "ABC\u001B[2J") }),
      code: "proof_missing",
      found: /^TXT ABC\uFFFD\[2J$/,
    },
    {
      title: "changes nothing while its look-up fails",
      facts: facts(here, { proof: timeout }),
      code: "lookup_failed",
      outcome: "unknown",
    },
  ];
  for (const row of rows) judges({ expected: challenged, ...row });

  it("does not replace a missing record", () => {
    const verdict = verify(challenged, facts({}, { proof: at(challenge.name, "abc123") }));
    assert.equal(verdict.outcome, "not_verified");
    assert.deepEqual(
      verdict.problems.map(({ code }) => code),
      ["record_missing"],
    );
  });
});

describe("CAA before an order", () => {
  it("blocks the certificate, not the verification, and names the record to add", () => {
    const verdict = verify(subdomain, facts(here, { caa: caa({ flags: 0, tag: "issue", value: "other.example" }) }));
    assert.equal(verdict.outcome, "verified");
    assert.equal(verdict.certificate, "blocked");
    const [problem] = verdict.problems;
    assert.equal(problem?.code, "caa_blocks");
    assert.equal(problem?.found, 'CAA 0 issue "other.example"');
    assert.match(problem?.fix ?? "", /Add a CAA record: name "@", flags 0, tag issue, value "ca\.example\.net"/);
  });

  it("reports a critical tag, which no added record can override", () => {
    const verdict = verify(subdomain, facts(here, { caa: caa({ flags: 128, tag: "tbs", value: "x" }) }));
    assert.match(verdict.problems[0]?.fix ?? "", /^Delete the CAA record "@" with the unknown tag/);
  });

  it("refers to the operator if the authority has no identity", () => {
    const verdict = verify({ ...subdomain, authority: nameless }, facts(here, { caa: caa({ flags: 0, tag: "issue", value: ";" }) }));
    assert.match(verdict.problems[0]?.fix ?? "", /ACME_CAA_IDENTITIES/);
  });

  it("reports conditions that exclude this service, and that a record without them is enough", () => {
    const value = "ca.example.net; validationmethods=dns-01";
    const [problem] = verify(subdomain, facts(here, { caa: caa({ flags: 0, tag: "issue", value }) })).problems;
    assert.match(problem?.message ?? "", /another validation method/);
    assert.match(problem?.fix ?? "", /value "ca\.example\.net"\. The others can stay\./);
  });

  it("leaves a failed look-up to an authority that has no identity", () => {
    const verdict = verify({ ...subdomain, authority: nameless }, facts(here, { caa: [{ name: "www.example.com", lookup: failed }] }));
    assert.deepEqual(verdict, { outcome: "verified", certificate: "allowed", problems: [] });
  });

  it("delays the certificate while its look-up fails, without blaming a record", () => {
    const verdict = verify(subdomain, facts(here, { caa: [{ name: "www.example.com", lookup: failed }] }));
    assert.equal(verdict.certificate, "unknown");
    assert.equal(verdict.outcome, "verified");
    assert.deepEqual(
      verdict.problems.map(({ code }) => code),
      ["lookup_failed"],
    );
  });

  it("does not matter without an authority", () => {
    const verdict = verify({ ...subdomain, authority: null }, facts(here, { caa: caa({ flags: 0, tag: "issue", value: ";" }) }));
    assert.deepEqual(verdict, { outcome: "verified", certificate: "allowed", problems: [] });
  });
});
