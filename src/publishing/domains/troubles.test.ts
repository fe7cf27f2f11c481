import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { attentionOf, certificateDueMs, nextTroubleAt, recordedTroubles, servingReason, troublesOf } from "./troubles.ts";

const now = Date.UTC(2027, 0, 1);
const dayMs = 86_400_000;
const wantedSince = now - 10 * dayMs;
const none = { id: null, issuedAt: null, expiresAt: null, wantedSince, problem: null };
/** Valid for 90 days from `wantedSince`. Renewals begin when 30 days are left, and should have succeeded when 15 are left. */
const issued = { ...none, id: 1, issuedAt: wantedSince, expiresAt: wantedSince + 90 * dayMs };
const lateAt = issued.expiresAt - 15 * dayMs;
type Certificate = Parameters<typeof troublesOf>[0]["certificate"];
const name = (status: "pending" | "verified" | "failing", certificate: Certificate) => ({ status, isLost: false, certificate });
const verified = (certificate: Certificate) => name("verified", certificate);

/** What the events of a name say, and when to look again. */
const recorded = (of: Parameters<typeof troublesOf>[0], isPaid: boolean, at: number) => ({
  troubles: recordedTroubles(troublesOf(of, { isPaid, waitsFor: null }, at)),
  nextAt: nextTroubleAt(of, at),
});

test("a name that was never verified, or that needs no certificate, has no troubles and is never reviewed again", () => {
  const quiet = { troubles: [], nextAt: null };
  assert.deepEqual(recorded(name("pending", none), false, now).troubles, []);
  assert.deepEqual(recorded(verified({ ...none, wantedSince: null }), true, now), quiet);
});

test("a plan without domains is the only trouble of a name, until the plan changes", () => {
  assert.deepEqual(recorded(name("failing", none), false, now).troubles, ["plan_required"]);
});

test("a certificate is missing once it is late, and not a millisecond before", () => {
  const dueAt = wantedSince + certificateDueMs;
  assert.deepEqual(recorded(verified(none), true, dueAt - 1), { troubles: [], nextAt: dueAt });
  assert.deepEqual(recorded(verified(none), true, dueAt), { troubles: ["certificate_missing"], nextAt: null });
});

test("a failing renewal is a trouble when a sixth of the lifetime is left, and the certificate is missing once it has expired", () => {
  const failing = { ...issued, problem: "the authority refuses" };
  assert.deepEqual(recorded(verified(issued), true, lateAt), { troubles: [], nextAt: issued.expiresAt }, "it renews without a problem");
  assert.deepEqual(recorded(verified(failing), true, lateAt - 1), { troubles: [], nextAt: lateAt });
  assert.deepEqual(recorded(verified(failing), true, lateAt), { troubles: ["certificate_not_renewed"], nextAt: issued.expiresAt });
  assert.deepEqual(recorded(verified(failing), true, issued.expiresAt), { troubles: ["certificate_missing"], nextAt: null });
});

test("wrong DNS of a verified name is a trouble besides that of its certificate", () => {
  assert.deepEqual(recorded(name("failing", issued), true, now), { troubles: ["dns_wrong"], nextAt: issued.expiresAt });
  const both = recorded(name("failing", none), true, wantedSince + certificateDueMs);
  assert.deepEqual(both.troubles, ["dns_wrong", "certificate_missing"]);
});

const due = wantedSince + certificateDueMs;
const waiting: Parameters<typeof attentionAt>[0] = { ...verified(none), hostname: "www.example.com", caa: "allowed" };

function attentionAt(domain: Parameters<typeof attentionOf>[0], at: number) {
  return attentionOf(domain, troublesOf({ ...domain, isLost: false }, { isPaid: true, waitsFor: null }, at));
}

describe("attention to a certificate that is late", () => {
  it("begins 30 minutes after the name was verified, not before", () => {
    assert.equal(attentionAt(waiting, due - 1), null);
    assert.equal(attentionAt(waiting, due)?.since, due);
  });

  it("begins at once when a certificate expires", () => {
    const expiredAt = wantedSince + 5 * 60_000;
    const attention = attentionAt({ ...waiting, certificate: { ...none, id: 1, issuedAt: wantedSince, expiresAt: expiredAt } }, expiredAt);
    assert.equal(attention?.since, expiredAt);
    assert.match(attention.message, /has expired/);
  });

  it("is not needed with a certificate, without an authority, or for a name that was never verified", () => {
    assert.equal(attentionAt({ ...waiting, certificate: issued }, due), null);
    assert.equal(attentionAt({ ...waiting, certificate: { ...none, wantedSince: null } }, due), null);
    assert.equal(attentionAt({ ...waiting, status: "pending" }, due), null);
  });

  it("lists the three checks: whether the name still verifies, whether a CAA record blocks, and Re-verify", () => {
    const attention = attentionAt({ ...waiting, certificate: { ...none, problem: "connection refused" } }, due)!;
    assert.deepEqual(
      attention.checks.map(({ check, passed }) => [check, passed]),
      [
        ["still_verifies", true],
        ["caa_allows", true],
        ["re_verify", null],
      ],
    );
    assert.match(attention.message, /still verifies.*CAA records.*allow.*Re-verify.*connection refused/);
  });

  it("says which check failed, and which could not be made", () => {
    const failing = attentionAt({ ...waiting, status: "failing", caa: "blocked" }, due)!;
    assert.deepEqual(
      failing.checks.map(({ passed }) => passed),
      [false, false, null],
    );
    assert.match(failing.message, /no longer verifies.*block the certificate authority/);
    assert.equal(attentionAt({ ...waiting, caa: "unknown" }, due)!.checks[1]!.passed, null);
  });
});

test("of several troubles, the reason for what a name serves is the one that decides it", () => {
  const redirect = { to: "b.example.com" };
  const waitsFor = { ...redirect, target: undefined };
  const reason = (isLost: boolean, isPaid: boolean, status: "pending" | "verified" | "failing", waits: typeof waitsFor | null) => {
    const troubles = troublesOf({ status, isLost, certificate: issued }, { isPaid, waitsFor: waits }, now);
    return servingReason({ hostname: "a.example.com", redirect }, { what: "site", canonical: null }, troubles);
  };
  assert.match(reason(true, false, "failing", null), /taken a.example.com over/);
  assert.match(reason(false, false, "pending", waitsFor), /plan has no custom domains/);
  assert.match(reason(false, true, "pending", waitsFor), /not been verified yet/);
  assert.match(reason(false, true, "failing", waitsFor), /as soon as that name is ready/);
  assert.match(reason(false, true, "failing", null), /DNS of a.example.com has changed/);
  assert.equal(reason(false, true, "verified", null), "a.example.com is verified.");
});
