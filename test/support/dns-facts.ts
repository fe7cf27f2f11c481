import assert from "node:assert/strict";
import { it } from "node:test";
import { type Hints, type Records, verify, type DnsFacts, type ExpectedDns } from "../../src/publishing/dns/dns.ts";
import type { Lookup } from "../../src/publishing/dns/lookup.ts";

export const subdomain: ExpectedDns = {
  hostname: "www.example.com",
  registrableDomain: "example.com",
  kind: "subdomain",
  platformDomain: "petstore.app",
  challenge: null,
  authority: { identities: ["ca.example.net"], accountUrl: null },
};
export const apex: ExpectedDns = { ...subdomain, hostname: "example.com", kind: "apex" };
export const none = { outcome: "none" as const, nameExists: false };
export const failed = { outcome: "failed" as const, reason: "SERVFAIL" as const, server: "192.0.2.53" };
export const timeout = { ...failed, reason: "timeout" as const };
export const at = (owner: string, ...values: string[]): Lookup<string> => ({
  outcome: "records",
  records: values.map((value) => ({ owner, value })),
});
export const here = {
  cname: at("www.example.com", "petstore.app"),
  a: at("petstore.app", "198.51.100.1"),
  aaaa: at("petstore.app", "2001:db8::1"),
};
export const nothing: Records = { cname: none, a: none, aaaa: none };
export const noHints: Hints = { sibling: nothing, doubled: none, nameservers: none };
export const target = { a: at("petstore.app", "198.51.100.1", "198.51.100.2"), aaaa: at("petstore.app", "2001:db8::1") };

export const facts = (records: Partial<Records>, more: Partial<DnsFacts> = {}): DnsFacts => ({
  records: { ...nothing, ...records },
  target,
  hints: noHints,
  proof: null,
  caa: [],
  ...more,
});

/** One case of a verdict. `code`: its only problem; null if it has none. */
export type Row = {
  title: string;
  expected?: ExpectedDns;
  facts: DnsFacts;
  code: string | null;
  outcome?: string;
  found?: RegExp;
  fix?: RegExp;
  message?: RegExp;
};

/** Declares a test that these facts lead to this verdict, with a problem in these words. */
export function judges({ title, expected = subdomain, facts: seen, code, outcome, found = /./, fix = /./, message = /./ }: Row): void {
  it(title, () => {
    const verdict = verify(expected, seen);
    assert.equal(verdict.outcome, outcome ?? (code === null ? "verified" : "not_verified"));
    assert.deepEqual(
      verdict.problems.map((problem) => problem.code),
      code === null ? [] : [code],
    );
    const [problem] = verdict.problems;
    if (problem === undefined) return;
    assert.match(problem.found, found);
    assert.match(problem.fix, fix);
    assert.match(problem.message, message);
    assert.ok(problem.expected !== "");
  });
}
