import assert from "node:assert/strict";
import { test } from "node:test";
import { openNowRange, systemClock, systemTimer } from "./clock.ts";

test("the two bounds are whole milliseconds around the current time", () => {
  const { earliest, latest } = openNowRange(systemClock, systemTimer)();
  assert.ok(Number.isSafeInteger(earliest) && Number.isSafeInteger(latest));
  assert.ok(earliest <= latest);
});

test("a clock that is set forward moves only the later bound, one that is set back only the earlier bound", () => {
  const time = { set: 10_000, passed: 7 };
  const nowRange = openNowRange(
    () => time.set,
    () => time.passed,
  );
  time.passed += 5;
  time.set += 1_000;
  assert.deepEqual(nowRange(), { earliest: 10_005, latest: 11_000 });
  time.set = 9_000;
  assert.deepEqual(nowRange(), { earliest: 9_000, latest: 10_005 });
});
