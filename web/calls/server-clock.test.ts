import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { noteServerTime, serverNow } from "./server-clock.ts";

const date = "Thu, 24 Dec 2026 10:00:07 GMT";
const second = Date.parse(date);

/** How far the service is ahead of a clock that stands at `now`. */
const offsetAt = (t: TestContext, now: number) => {
  t.mock.timers.enable({ apis: ["Date"], now });
  return serverNow() - now;
};

test("a reader's clock that is right stays as it is, whatever part of the second an answer came in", (t) => {
  for (const part of [0, 400, 999]) noteServerTime(date, second + part - 30, second + part);
  assert.equal(offsetAt(t, second), 0);
});

test("a clock that is wrong is put right by an answer, to the second", (t) => {
  for (const wrongBy of [-3_600_000, 7_200_000]) {
    noteServerTime(date, second + wrongBy - 40, second + wrongBy);
    const offset = offsetAt(t, second + wrongBy);
    assert.ok(Math.abs(offset + wrongBy) <= 1_040, String(offset));
    t.mock.timers.reset();
  }
});

test("an answer without a Date, or with another one than RFC 9110's, changes nothing", (t) => {
  noteServerTime(date, second, second);
  for (const odd of [null, "", "soon"]) noteServerTime(odd, 0, 0);
  assert.ok(Math.abs(offsetAt(t, second)) <= 1_000);
});
