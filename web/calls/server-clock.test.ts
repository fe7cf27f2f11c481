import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { noteServerTime, serverNow } from "./server-clock.ts";

const date = "Thu, 24 Dec 2026 10:00:07 GMT";
const second = Date.parse(date);

/** How far (ms) the service is ahead of a clock that shows `now`. */
const offsetAt = (t: TestContext, now: number) => {
  t.mock.timers.enable({ apis: ["Date"], now });
  return serverNow() - now;
};

test("a correct clock is not adjusted, whatever part of a second a response came in", (t) => {
  for (const part of [0, 400, 999]) noteServerTime(date, second + part - 30, second + part);
  assert.equal(offsetAt(t, second), 0);
});

test("a wrong clock is adjusted by one response, to the second", (t) => {
  for (const wrongBy of [-3_600_000, 7_200_000]) {
    noteServerTime(date, second + wrongBy - 40, second + wrongBy);
    const offset = offsetAt(t, second + wrongBy);
    assert.ok(Math.abs(offset + wrongBy) <= 1_040, String(offset));
    t.mock.timers.reset();
  }
});

test("a response without a valid Date changes nothing", (t) => {
  noteServerTime(date, second, second);
  for (const odd of [null, "", "soon"]) noteServerTime(odd, 0, 0);
  assert.ok(Math.abs(offsetAt(t, second)) <= 1_000);
});
