import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromField, toField } from "./ship-date.ts";

const minuteMs = 60_000;

test("a date that is shown and sent again is the same, to the minute", () => {
  const minutes = fc.integer({ min: Date.UTC(1971, 0) / minuteMs, max: Date.UTC(2200, 0) / minuteMs });
  fc.assert(
    fc.property(minutes, (minute) => {
      const date = new Date(minute * minuteMs).toISOString();
      const shown = toField(date);
      assert.match(shown, /^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
      // an hour that occurs twice when clocks change stands for the first one
      assert.equal(toField(fromField(shown)), shown);
    }),
  );
});

test("no date is an empty field and is not sent; what is no date is left to the service to refuse", () => {
  assert.equal(toField(undefined), "");
  assert.equal(fromField(""), undefined);
  assert.equal(fromField("soon"), "soon");
});
