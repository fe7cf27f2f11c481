import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromField, toField } from "./ship-date.ts";

const minuteMs = 60_000;

test("a date that is shown in the field and sent back is the same, to the minute", () => {
  const minutes = fc.integer({ min: Date.UTC(1971, 0) / minuteMs, max: Date.UTC(2200, 0) / minuteMs });
  fc.assert(
    fc.property(minutes, (minute) => {
      const date = new Date(minute * minuteMs).toISOString();
      const shown = toField(date);
      assert.match(shown, /^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
      // when clocks go back an hour occurs twice, and the field's value means the first
      assert.equal(toField(fromField(shown)), shown);
    }),
  );
});

test("an empty field sends no date, and text that is not a date is sent for the service to refuse", () => {
  assert.equal(toField(undefined), "");
  assert.equal(fromField(""), undefined);
  assert.equal(fromField("soon"), "soon");
});
