import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../platform/problem.ts";
import { accountName, planTerms, quotaOf, type Plan } from "./accounts.ts";

const without = (plan: Plan) => quotaOf({ plan, perMinute: null, perDay: null });
const invalid = (error: unknown) => error instanceof Problem && error.code === "invalid_request";

test("each plan has the figures of the specification", () => {
  assert.deepEqual(without("free"), { perMinute: 60, perDay: 1_000 });
  assert.deepEqual(without("pro"), { perMinute: 300, perDay: 10_000 });
  assert.deepEqual(without("business"), { perMinute: 1_000, perDay: 100_000 });
});

test("an enterprise account has its agreed figures, and those of Business for figures that are not set", () => {
  assert.deepEqual(without("enterprise"), without("business"));
  assert.deepEqual(quotaOf({ plan: "enterprise", perMinute: 5_000, perDay: 2_000_000 }), { perMinute: 5_000, perDay: 2_000_000 });
  assert.deepEqual(quotaOf({ plan: "enterprise", perMinute: 5_000, perDay: null }), { perMinute: 5_000, perDay: 100_000 });
});

test("setting figures is refused for a plan with fixed ones", () => {
  assert.throws(() => planTerms({ plan: "pro", perMinute: 5 }), invalid);
  assert.throws(() => planTerms({ plan: "free", perDay: 5 }), invalid);
  assert.deepEqual(planTerms({ plan: "pro" }), { plan: "pro", perMinute: null, perDay: null });
  assert.deepEqual(planTerms({ plan: "enterprise", perDay: 5 }), { plan: "enterprise", perMinute: null, perDay: 5 });
});

test("a name is trimmed and has 1 to 200 characters of any script", () => {
  assert.equal(accountName("  Paws & Co \n"), "Paws & Co");
  assert.equal(accountName("🐕".repeat(200)), "🐕".repeat(200));
  for (const name of ["", "   ", "a".repeat(201), "a\u0000b", "a\u001b[31mb", "\ud800"]) assert.throws(() => accountName(name), invalid);
});
