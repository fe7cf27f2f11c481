import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { limitReached, letsEncryptBudget, parseBudget, type Limit, type LimitName, type LimitUses } from "./budget.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = 100 * dayMs;

const nothing: LimitUses = { failures: [], duplicates: [], domain: [], orders: [] };
const used = (limit: LimitName, count: number, at: number): LimitUses => ({ ...nothing, [limit]: Array<number>(count).fill(at) });

describe("the local budget", () => {
  it("delays an order at each of the authority's limits until the oldest use has left the window", () => {
    for (const [limit, count, perMs] of [
      ["failures", 5, hourMs],
      ["duplicates", 5, 7 * dayMs],
      ["domain", 50, 7 * dayMs],
      ["orders", 300, 3 * hourMs],
    ] as const) {
      const at = now - 60_000;
      assert.equal(limitReached(letsEncryptBudget, used(limit, count - 1, at), "new", now), null);
      assert.deepEqual(limitReached(letsEncryptBudget, used(limit, count, at), "new", now), { retryAt: at + perMs, limit });
      assert.equal(limitReached(letsEncryptBudget, used(limit, count, at), "new", at + perMs), null);
    }
  });

  it("names the limit that delays the order longest", () => {
    const spent = { ...used("failures", 5, now), duplicates: Array<number>(5).fill(now) };
    assert.equal(limitReached(letsEncryptBudget, spent, "new", now)?.limit, "duplicates");
  });

  it("exempts a renewal from the limits of orders and of the domain, and one within the authority's window from all", () => {
    const all = {
      failures: Array<number>(5).fill(now),
      duplicates: [],
      domain: Array<number>(50).fill(now),
      orders: Array<number>(300).fill(now),
    };
    assert.equal(limitReached(letsEncryptBudget, { ...all, failures: [] }, "renewal", now), null);
    assert.equal(limitReached(letsEncryptBudget, all, "renewal", now)?.limit, "failures");
    assert.equal(limitReached(letsEncryptBudget, all, "ari", now), null);
  });

  it("never allows more than a limit within any window, whenever the tries are made", () => {
    const limit: Limit = { count: 3, perMs: 1000 };
    const budget = { failures: limit, duplicates: null, domain: null, orders: null };
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 100 }), (gaps) => {
        let at = 0;
        const passed: number[] = [];
        for (const gap of gaps) {
          at += gap;
          if (limitReached(budget, { ...nothing, failures: passed }, "new", at) !== null) continue;
          passed.push(at);
          assert.ok(passed.filter((one) => at - one < limit.perMs).length <= limit.count);
        }
      }),
    );
  });
});

describe("ACME_BUDGET", () => {
  it("left empty means Let's Encrypt's limits", () => {
    assert.deepEqual(parseBudget(""), letsEncryptBudget);
    assert.deepEqual(parseBudget("failures=5/1h,duplicates=5/7d,domain=50/7d,orders=300/3h"), letsEncryptBudget);
  });

  it("changes some limits and removes others", () => {
    const budget = parseBudget(" failures=10/30m, orders=off ");
    assert.deepEqual(budget, { ...letsEncryptBudget, failures: { count: 10, perMs: 30 * 60_000 }, orders: null });
    assert.equal(limitReached(budget, used("orders", 1000, now), "new", now), null);
  });

  it("names the part that is wrong", () => {
    for (const part of [
      "certificates=5/1h",
      "failures",
      "failures=5",
      "failures=0/1h",
      "failures=5/0h",
      "failures=5/1w",
      "failures=-1/1h",
      "failures=1e3/1h",
      "orders=5/31d",
      "toString=5/1h",
    ]) {
      assert.throws(
        () => parseBudget(`domain=1/1d,${part}`),
        (error: Error) => error.message.includes(`"${part}"`),
        part,
      );
    }
    assert.throws(() => parseBudget("orders=1/1d,orders=2/1d"), /twice/);
  });
});
