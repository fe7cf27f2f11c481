import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bar, showProgress } from "./progress.ts";

test("the bar fits on the terminal's line", () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.nat(1_000_000), fc.nat(1e9), fc.integer({ min: 1, max: 300 }), (some, more, elapsedMs, columns) => {
      assert.ok(bar(some, some + more, elapsedMs, columns).length < Math.max(2, columns));
    }),
  );
});

test("the bar shows the time left at the pace so far", () => {
  assert.match(bar(250, 1_000, 2_000, 100), /250 of 1,000 animals, 6 s left$/);
});

test("without a terminal there are plain lines, one for each tenth at most", () => {
  let text = "";
  const progress = showProgress({ write: (more) => (text += more) }, 1_000, () => 0);
  for (let done = 0; done < 1_000; done += 10) progress.advance(10);
  progress.end();
  assert.equal(text.split("\n").length - 1, 10);
  assert.ok(text.endsWith("1,000 of 1,000 animals\n") && !text.includes("\r"));
});

test("on a terminal one line is redrawn, and cleared at the end", () => {
  let text = "";
  let now = 0;
  const progress = showProgress({ write: (more) => (text += more), isTTY: true, columns: 60 }, 10, () => now);
  now += 1_000;
  progress.advance(5);
  progress.note("Waiting 1 s: the plan's limit is reached.");
  progress.advance(5);
  progress.end();
  const lines = text.split("\n");
  assert.deepEqual(
    lines.map((line) => line.split("\r\x1b[K").at(-1)),
    ["Waiting 1 s: the plan's limit is reached.", ""],
  );
  assert.match(text, /5 of 10 animals, 1 s left/);
});
