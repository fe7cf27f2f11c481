import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { nextCheckAt, statusAfter } from "./checks.ts";
import { hasLapsed } from "./ownership.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const createdAt = Date.UTC(2026, 0, 1);
const pending = { status: "pending" as const, createdAt };

/** The ages in minutes at which a claim that never verifies is checked automatically. */
function agesOfChecks(): number[] {
  const ages: number[] = [];
  for (let at = nextCheckAt(pending, createdAt); at !== null; at = nextCheckAt(pending, at)) ages.push((at - createdAt) / minuteMs);
  return ages;
}

describe("the checks of a pending claim", () => {
  it("come every minute for 10 minutes, every 10 minutes for 6 hours, then hourly up to 48 hours", () => {
    const minutes = Array.from({ length: 10 }, (_, index) => index + 1);
    const tens = Array.from({ length: 35 }, (_, index) => 20 + 10 * index);
    const hours = Array.from({ length: 42 }, (_, index) => 60 * (7 + index));
    assert.deepEqual(agesOfChecks(), [...minutes, ...tens, ...hours]);
  });

  it("end at 48 hours, when the claim lapses", () => {
    const end = createdAt + 48 * hourMs;
    assert.equal(hasLapsed(pending, end - 1), false);
    assert.equal(hasLapsed(pending, end), true);
    assert.equal(nextCheckAt(pending, end), null);
    assert.equal(nextCheckAt(pending, end - 1), end);
  });

  it("are always later, never further than an hour, and never past the end", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 48 * hourMs - 1 }), (age) => {
        const next = nextCheckAt(pending, createdAt + age)!;
        assert.ok(next > createdAt + age && next <= createdAt + age + hourMs && next <= createdAt + 48 * hourMs);
      }),
    );
  });
});

describe("a name that was verified", () => {
  it("is checked daily while it verifies and hourly while it fails, and never lapses", () => {
    const now = createdAt + 400 * 24 * hourMs;
    assert.equal(nextCheckAt({ status: "verified", createdAt }, now), now + 24 * hourMs);
    assert.equal(nextCheckAt({ status: "failing", createdAt }, now), now + hourMs);
    assert.equal(hasLapsed({ status: "failing", createdAt }, now), false);
    assert.equal(hasLapsed({ status: "verified", createdAt }, now), false);
  });
});

describe("the status after a check", () => {
  it("does not change after a failed look-up, and never returns to pending", () => {
    const after = (["pending", "verified", "failing"] as const).map((status) =>
      (["verified", "not_verified", "unknown"] as const).map((outcome) => statusAfter(status, outcome)),
    );
    assert.deepEqual(after, [
      ["verified", "pending", "pending"],
      ["verified", "failing", "verified"],
      ["verified", "failing", "failing"],
    ]);
  });
});
