import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { firstAskAt, holdAfterFailure, lookAgainAt, renewAt, retryAfterFailure, type Lifetime } from "./renewal.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

describe("renewal", () => {
  it("comes when a third of the lifetime is left, be it 90 days or 60 seconds", () => {
    assert.equal(renewAt({ notBefore: 0, notAfter: 90 * dayMs }, null, "any"), 60 * dayMs);
    assert.equal(renewAt({ notBefore: 0, notAfter: 60_000 }, null, "any"), 40_000);
  });

  it("comes within the authority's window, always at the same moment", () => {
    const lifetime = { notBefore: 0, notAfter: 90 * dayMs };
    const window = fc.record({ start: fc.integer({ min: -dayMs, max: 80 * dayMs }), length: fc.integer({ min: 1, max: 9 * dayMs }) });
    fc.assert(
      fc.property(window, fc.string(), ({ start, length }, identifier) => {
        const moment = renewAt(lifetime, { start, end: start + length }, identifier);
        assert.ok(moment >= start && moment < start + length);
        assert.equal(renewAt(lifetime, { start, end: start + length }, identifier), moment);
      }),
    );
  });

  it("is spread over the window: each tenth of it gets some of 1,000 certificates", () => {
    const lifetime = { notBefore: 0, notAfter: 90 * dayMs };
    const tenths = Array.from({ length: 1000 }, (_, index) =>
      Math.floor(renewAt(lifetime, { start: 0, end: 10_000 }, `certificate ${index}`) / 1000),
    );
    const counts = Array.from({ length: 10 }, (_, tenth) => tenths.filter((one) => one === tenth).length);
    assert.ok(
      counts.every((count) => count > 60 && count < 140),
      counts.join(" "),
    );
  });

  it("does not wait for a window that opens when the certificate is no longer valid", () => {
    assert.equal(renewAt({ notBefore: 0, notAfter: 90 * dayMs }, { start: 200 * dayMs, end: 201 * dayMs }, "any"), 60 * dayMs);
  });

  it("is retried after 1, 10 and 100 minutes, then daily", () => {
    const waits = [1, 2, 3, 4, 5, 50].map((failures) => retryAfterFailure(failures, 1000, null, null) - 1000);
    assert.deepEqual(waits, [minuteMs, 10 * minuteMs, 100 * minuteMs, dayMs, dayMs, dayMs]);
  });

  it("is retried at least ten times in the life of the certificate, be it 5 minutes or 6, 45 and 90 days", () => {
    const fiveMinutes = { notBefore: 0, notAfter: 5 * minuteMs };
    assert.deepEqual(
      [1, 2, 9].map((failures) => retryAfterFailure(failures, 0, null, fiveMinutes)),
      [30_000, 30_000, 30_000],
    );
    assert.equal(holdAfterFailure(0, null, fiveMinutes), 30_000);
    assert.equal(holdAfterFailure(0, null, null), minuteMs);
    for (const days of [6, 45, 90])
      assert.ok(retryAfterFailure(9, 0, null, { notBefore: 0, notAfter: days * dayMs }) <= Math.min(dayMs, (days * dayMs) / 10));
  });

  it("is thought about an hour after the issue, or when a third of a short life is left", () => {
    const [short, long] = [5 * minuteMs, 90 * dayMs].map((notAfter) => ({ notBefore: 0, notAfter })) as [Lifetime, Lifetime];
    assert.equal(firstAskAt(0, 60 * dayMs, long), 60 * minuteMs);
    assert.equal(firstAskAt(0, renewAt(short, null, "any"), short), 200_000);
    assert.equal(firstAskAt(dayMs, renewAt(short, null, "any"), short), dayMs + 30_000, "with a clock that is a day ahead");
  });

  it("is looked at again within a day, or a tenth of a short life, if another authority is configured", () => {
    assert.equal(lookAgainAt(0, { notBefore: 0, notAfter: 90 * dayMs }), dayMs);
    assert.equal(lookAgainAt(0, { notBefore: 0, notAfter: 5 * minuteMs }), 30_000);
    assert.equal(lookAgainAt(89.5 * dayMs, { notBefore: 0, notAfter: 90 * dayMs }), 90 * dayMs);
  });

  it("is never retried before the time that the authority named, nor before the backoff ends", () => {
    assert.equal(retryAfterFailure(1, 0, 5 * dayMs, null), 5 * dayMs);
    assert.equal(retryAfterFailure(1, 0, 1, null), minuteMs);
  });
});
