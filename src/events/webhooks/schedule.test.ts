import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { disabledAfterMs, errorOf, hasRecovered, healthAfter, isDelivered, nextAttemptAt, retriedMs, type Health } from "./schedule.ts";
import type { Outcome } from "./sender.ts";

const answered = (status: number, retryAfter?: string): Outcome => ({ status, answer: "", retryAfter });
const start: Health = {
  failures: 0,
  failingSince: null,
  deliveredAt: null,
  deliveredPosition: null,
  pausedUntil: null,
  disabledBecause: null,
};
const now = Date.UTC(2027, 0, 1);

test("the first retry comes after five seconds, the pauses grow, and the last retry is three days after the first attempt", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 20, maxLength: 20 }), (randoms) => {
      const times = [0];
      for (const random of randoms) {
        const next = nextAttemptAt(times.length, retriedMs, times.at(-1)!, random);
        if (next === null) break;
        times.push(next);
      }
      const pauses = times.slice(1).map((time, i) => time - times[i]!);
      assert.ok(pauses[0]! >= 5_000 && pauses[0]! <= 5_500);
      assert.equal(times.at(-1), retriedMs);
      assert.ok(times.length >= 12 && times.length <= 15);
      for (const [i, pause] of pauses.slice(1, -1).entries()) assert.ok(pause > pauses[i]!, pauses.join(" "));
    }),
  );
});

test("every 2xx status delivers, and the error of any other status says what the endpoint answered", () => {
  assert.deepEqual(
    [200, 201, 204, 299].map((status) => isDelivered(answered(status))),
    [true, true, true, true],
  );
  assert.equal(errorOf(answered(204)), null);
  assert.equal(errorOf(answered(302)), "The endpoint answered 302, and redirects are not followed.");
  assert.equal(errorOf(answered(500)), "The endpoint answered 500.");
  assert.equal(errorOf({ status: null, error: "The connection was refused." }), "The connection was refused.");
});

test("five days without a success, counted from the first failure after the last one, disable an endpoint; a 410 does so at once", () => {
  let health = healthAfter(start, answered(500), 1, now);
  health = healthAfter(health, answered(500), 1, now + disabledAfterMs - 1);
  assert.equal(health.disabledBecause, null);
  const delivered = healthAfter(health, answered(200), 7, now + disabledAfterMs - 1);
  assert.equal(healthAfter(delivered, answered(500), 8, now + disabledAfterMs).disabledBecause, null);
  assert.equal(healthAfter(health, answered(500), 1, now + disabledAfterMs).disabledBecause, "failing");
  assert.equal(healthAfter(start, answered(410), 1, now).disabledBecause, "gone");
});

test("Retry-After is respected in seconds and as a date, up to a day; any other value, or a past date, asks for no pause", () => {
  const pauseOf = (text: string) => {
    const { pausedUntil } = healthAfter(start, answered(503, text), 1, now);
    return pausedUntil === null ? null : (pausedUntil - now) / 1_000;
  };
  assert.equal(pauseOf("120"), 120);
  assert.equal(pauseOf(new Date(now + 60_000).toUTCString()), 60);
  assert.equal(pauseOf("99999999999999999999"), 86_400);
  assert.equal(pauseOf("Fri, 31 Dec 9999 23:59:59 GMT"), 86_400);
  assert.equal(pauseOf("9".repeat(5_000)), 86_400);
  assert.equal(pauseOf("Friday, 01-Jan-27 00:01:00 GMT"), 60);
  assert.equal(pauseOf("Fri Jan  1 00:02:00 2027"), 120);
  for (const text of [
    "",
    "-5",
    "0",
    "soon",
    "soon 2030",
    "2030-01-01",
    "1e9",
    "1.5",
    "0x99",
    "5 minutes",
    "120, 240",
    new Date(now - 60_000).toUTCString(),
  ])
    assert.equal(pauseOf(text), null, text);
  assert.equal(healthAfter({ ...start, pausedUntil: now + 5 }, answered(200), 1, now).pausedUntil, null);
});

test("a success after many failures shows that the endpoint has recovered, and remembers the highest position delivered", () => {
  let health = { ...start, deliveredPosition: 9 };
  for (let i = 0; i < 10; i++) health = healthAfter(health, answered(500), 10, now) as typeof health;
  const after = healthAfter(health, answered(200), 4, now);
  assert.deepEqual([hasRecovered(health, after), hasRecovered(start, after), after.deliveredPosition], [true, false, 9]);
});
