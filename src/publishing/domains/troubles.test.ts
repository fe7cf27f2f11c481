import assert from "node:assert/strict";
import { test } from "node:test";
import { certificateDueMs } from "./attention.ts";
import { troublesOf } from "./troubles.ts";

const now = Date.UTC(2027, 0, 1);
const dayMs = 86_400_000;
const wantedSince = now - 10 * dayMs;
const none = { id: null, issuedAt: null, expiresAt: null, wantedSince, problem: null };
/** Valid for 90 days from `wantedSince`. Renewals begin when 30 days are left, and should have succeeded when 15 are left. */
const issued = { ...none, id: 1, issuedAt: wantedSince, expiresAt: wantedSince + 90 * dayMs };
const lateAt = issued.expiresAt - 15 * dayMs;
const verified = (certificate: typeof none | typeof issued) => ({ status: "verified" as const, certificate });

test("a name that was never verified, or that needs no certificate, has no troubles and is never reviewed again", () => {
  const quiet = { troubles: [], nextAt: null };
  assert.deepEqual(troublesOf({ status: "pending", certificate: none }, false, now), quiet);
  assert.deepEqual(troublesOf(verified({ ...none, wantedSince: null as never }), true, now), quiet);
});

test("a plan without domains is the only trouble of a name, until the plan changes", () => {
  const expected = { troubles: ["plan_required"], nextAt: null };
  assert.deepEqual(troublesOf({ status: "failing", certificate: none }, false, now), expected);
});

test("a certificate is missing once it is late, and not a millisecond before", () => {
  const dueAt = wantedSince + certificateDueMs;
  assert.deepEqual(troublesOf(verified(none), true, dueAt - 1), { troubles: [], nextAt: dueAt });
  assert.deepEqual(troublesOf(verified(none), true, dueAt), { troubles: ["certificate_missing"], nextAt: null });
});

test("a failing renewal is a trouble when a sixth of the lifetime is left, and the certificate is missing once it has expired", () => {
  const failing = { ...issued, problem: "the authority refuses" as never };
  assert.deepEqual(troublesOf(verified(issued), true, lateAt), { troubles: [], nextAt: issued.expiresAt }, "it renews without a problem");
  assert.deepEqual(troublesOf(verified(failing), true, lateAt - 1), { troubles: [], nextAt: lateAt });
  assert.deepEqual(troublesOf(verified(failing), true, lateAt), { troubles: ["certificate_not_renewed"], nextAt: issued.expiresAt });
  assert.deepEqual(troublesOf(verified(failing), true, issued.expiresAt), { troubles: ["certificate_missing"], nextAt: null });
});

test("wrong DNS of a verified name is a trouble besides that of its certificate", () => {
  const status = "failing" as const;
  assert.deepEqual(troublesOf({ status, certificate: issued }, true, now), { troubles: ["dns_wrong"], nextAt: issued.expiresAt });
  const both = troublesOf({ status, certificate: none }, true, wantedSince + certificateDueMs);
  assert.deepEqual(both.troubles, ["dns_wrong", "certificate_missing"]);
});
