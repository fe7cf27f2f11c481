import assert from "node:assert/strict";
import { test } from "node:test";
import { durationText } from "./countdown.ts";

test("the time left is shown in seconds, then in minutes, then in hours", () => {
  for (const [ms, text] of [
    [-1, undefined],
    [0, undefined],
    [1, "1 s"],
    [59_000, "59 s"],
    [60_000, "1:00"],
    [125_000, "2:05"],
    [3_600_000, "1:00:00"],
    [86_399_000, "23:59:59"],
  ] as const) {
    assert.equal(durationText(ms), text);
  }
});
