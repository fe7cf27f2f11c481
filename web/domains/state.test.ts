import assert from "node:assert/strict";
import { test } from "node:test";
import { hostnameIn, isUnsettled, partnerOf, pollMs, relativeTo, stateOf, stepsOf, visitUrl, zoneOf, type Domain } from "./state.ts";

const certificate = { status: "none" as const, issuedAt: null, expiresAt: null, problem: null, retryAt: null };
const pending: Domain = {
  hostname: "www.shop.example",
  projectId: 1,
  kind: "subdomain",
  status: "pending",
  primary: false,
  redirect: null,
  record: { type: "CNAME", name: "www", value: "sites.example", ttl: 3600 },
  challenge: null,
  problems: [],
  serving: { what: "nothing", to: null, reason: "" },
  certificate,
  attention: null,
  nextCheckAt: null,
  createdAt: "2026-12-24T10:00:00Z",
  verifiedAt: null,
};
const problem = { code: "wrong_target" as const, message: "", expected: "", found: "", fix: "" };
const verified: Domain = { ...pending, status: "verified", certificate: { ...certificate, status: "issuing" } };
const issued = { ...certificate, status: "issued" as const, issuedAt: "2026-12-24T10:05:00Z", expiresAt: "2027-03-24T10:05:00Z" };
const attention = { since: "2026-12-24T11:00:00Z", message: "", checks: [] };

test("a domain with a certificate is active; before that, its state says what it is waiting for", () => {
  assert.equal(stateOf(pending), "pending");
  assert.equal(stateOf(verified), "certificate");
  assert.equal(stateOf({ ...verified, certificate: { ...certificate, status: "failing" } }), "certificateFailed");
  assert.equal(stateOf({ ...verified, attention }), "attention");
  assert.equal(stateOf({ ...verified, certificate: issued }), "active");
});

test("a lost, suspended or failing domain shows that state first", () => {
  assert.equal(stateOf({ ...verified, status: "failing", certificate: issued }), "failing");
  const problems = [{ ...problem, code: "plan_required" as const }];
  for (const domain of [pending, verified, { ...verified, certificate: issued }])
    assert.equal(stateOf({ ...domain, problems }), "suspended");
  assert.equal(stateOf({ ...verified, problems: [...problems, { ...problem, code: "proved_elsewhere" as const }] }), "lost");
});

test("a domain whose redirect waits is not active, and a problem of the domain itself comes first", () => {
  const problems = [{ ...problem, code: "redirect_target_not_ready" as const }];
  assert.equal(stateOf({ ...verified, certificate: issued, problems }), "redirectWaits");
  assert.equal(stateOf({ ...pending, problems }), "pending");
  assert.equal(stateOf({ ...verified, certificate: issued, problems: [{ ...problem, code: "caa_blocks" }] }), "active");
});

test("where the service issues no certificates, a verified domain is active and waits for nothing", () => {
  const plain: Domain = { ...verified, certificate };
  assert.equal(stateOf(plain), "active");
  assert.equal(isUnsettled(plain), false);
  assert.deepEqual(stepsOf(plain), { added: "done", dns: "done", certificate: "ahead" });
});

test("the URL of a domain with a certificate uses HTTPS, or HTTP at a non-standard HTTP port", () => {
  const secure = { ...verified, certificate: issued };
  assert.equal(visitUrl(secure, "http://shop.sites.example"), "https://www.shop.example");
  assert.equal(visitUrl(secure, "https://shop.sites.example:8443"), "https://www.shop.example:8443");
  assert.equal(visitUrl(secure, "http://shop.sites.example:8081"), "http://www.shop.example:8081");
});

test("the URL of a domain without a certificate uses HTTP, and is undefined at a non-standard HTTPS port", () => {
  assert.equal(visitUrl(verified, "https://shop.sites.example"), "http://www.shop.example");
  assert.equal(visitUrl(verified, "http://shop.sites.example:8081"), "http://www.shop.example:8081");
  assert.equal(visitUrl(verified, "https://shop.sites.example:8443"), undefined);
});

test("a domain stays active while its certificate is renewed", () => {
  const renewing: Domain = { ...verified, certificate: { ...issued, status: "issuing" } };
  assert.equal(stateOf(renewing), "active");
  assert.equal(isUnsettled(renewing), true);
  assert.equal(isUnsettled({ ...verified, certificate: issued }), false);
});

test("each step starts when the one before it is done, and the step with a problem is marked", () => {
  assert.deepEqual(stepsOf(pending), { added: "done", dns: "current", certificate: "ahead" });
  assert.deepEqual(stepsOf({ ...pending, problems: [{ ...problem, code: "record_missing" as const }] }), stepsOf(pending));
  assert.deepEqual(stepsOf({ ...pending, problems: [problem] }), { added: "done", dns: "trouble", certificate: "ahead" });
  assert.deepEqual(stepsOf(verified), { added: "done", dns: "done", certificate: "current" });
  assert.deepEqual(stepsOf({ ...verified, attention }), { added: "done", dns: "done", certificate: "trouble" });
  assert.deepEqual(stepsOf({ ...verified, certificate: issued }), { added: "done", dns: "done", certificate: "done" });
});

test("the page polls often at first, then rarely, then not at all; a list of more pages is polled less often", () => {
  assert.deepEqual(
    [0, 3 * 60_000, 3_600_000, 49 * 3_600_000].map((quiet) => pollMs(quiet, 1)),
    [2_000, 10_000, 60_000, false],
  );
  assert.equal(pollMs(0, 5), 10_000);
});

test("record names are shown in the form that DNS providers ask for", () => {
  assert.equal(zoneOf(pending), "shop.example");
  assert.equal(zoneOf({ hostname: "shop.example", record: { ...pending.record, name: "@" } }), "shop.example");
  assert.equal(zoneOf({ hostname: "a.b.shop.co.uk", record: { ...pending.record, name: "a.b" } }), "shop.co.uk");
  assert.equal(relativeTo("shop.example", "_petstore-challenge.www.shop.example"), "_petstore-challenge.www");
  assert.equal(relativeTo("shop.example", "shop.example"), "@");
});

test("a pasted URL is reduced to its host name, and any other text is left for the service to check", () => {
  for (const text of ["https://www.example.com/", "http://www.example.com:8080/a?b#c", " HTTPS://www.example.com", "www.example.com"])
    assert.equal(hostnameIn(text), "www.example.com", text);
  for (const text of ["https://a@b.example/", "ftp://www.example.com", "https://", "a b"]) assert.equal(hostnameIn(text), text);
});

test("www is offered for an apex and the apex for www, and nothing for any other name or text", () => {
  for (const [typed, hostname, isWww] of [
    ["example.com", "www.example.com", true],
    [" https://Example.co.uk/shop ", "www.example.co.uk", true],
    ["www.example.com.", "example.com", false],
    ["www.shop.example.com", "shop.example.com", false],
  ] as const)
    assert.deepEqual(partnerOf(typed), { hostname, isWww }, typed);
  for (const typed of [
    "",
    "shop.example.com",
    "com",
    "www.com",
    "a..b",
    "192.0.2.7",
    "10.2",
    "*.example.com",
    "a@b.example",
    "example.com:80",
    "a b.com",
  ])
    assert.equal(partnerOf(typed), undefined, typed);
});
