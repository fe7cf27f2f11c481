import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, heightOf } from "./series.ts";

test("an interval without requests gets a bar of zero", () => {
  const points = [{ start: "2026-12-24T10:01:00Z", requests: 3, refused: 2, banned: 1 }];
  const bars = barsOf(points, { interval: "minute", from: "2026-12-24T10:00:00Z", to: "2026-12-24T10:03:00Z" });
  assert.deepEqual(
    bars.map(({ requests, refused, banned }) => [requests, refused, banned]),
    [
      [0, 0, 0],
      [3, 2, 1],
      [0, 0, 0],
    ],
  );
  assert.equal(bars[1]?.start, Date.UTC(2026, 11, 24, 10, 1));
});

test("an hour has 60 bars, 7 days have 168, and 90 days have 90", () => {
  const to = "2026-12-24T00:00:00Z";
  const count = (interval: "minute" | "hour" | "day", from: string) => barsOf([], { interval, from, to }).length;
  assert.equal(count("minute", "2026-12-23T23:00:00Z"), 60);
  assert.equal(count("hour", "2026-12-17T00:00:00Z"), 168);
  assert.equal(count("day", "2026-09-25T00:00:00Z"), 90);
});

test("the limit is drawn only when the bars come near it, so that it never makes them too small to read", () => {
  const bars = (requests: number) => [{ start: 0, requests, refused: 0, banned: 0 }];
  assert.deepEqual(heightOf(bars(60), 60).hasLimit, true);
  assert.ok(heightOf(bars(30), 60).top > 60);
  assert.deepEqual(heightOf(bars(10), 1_000_000).hasLimit, false);
  assert.ok(heightOf(bars(10), 1_000_000).top < 20);
  assert.equal(heightOf(bars(10), undefined).hasLimit, false);
  assert.ok(heightOf([], undefined).top > 0);
});
