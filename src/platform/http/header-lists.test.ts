import assert from "node:assert/strict";
import { test } from "node:test";
import { listItems, qualities } from "./header-lists.ts";

test("a weighted list is read whatever its spacing and case; the first of two equal names counts, and a quality that is no number counts as 1", () => {
  const read = qualities("Text/HTML;level=1 ; Q = 0.5,\tapplication/json , a/b;q=x, c/d;q=, text/html;q=0, ;q=1");
  assert.deepEqual(Object.fromEntries(read), { "text/html": 0.5, "application/json": 1, "a/b": 1, "c/d": 1 });
});

test("a list is read up to its 500th item", () => {
  assert.equal(listItems("a,".repeat(10_000)).length, 500);
  assert.equal(qualities(Array.from({ length: 1_000 }, (_, i) => `t/${i}`).join()).size, 500);
});
