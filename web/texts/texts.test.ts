import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAgo } from "./texts.ts";

test("what happened in the last week is so many minutes, hours or days ago; older and later times have no such form", () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  const texts = [-minute, 0, minute - 1, minute, 59 * minute, hour, 23 * hour, day, 7 * day - 1].map(formatAgo);
  const words = ["now", "now", "now", "1 minute ago", "59 minutes ago", "1 hour ago", "23 hours ago", "1 day ago", "6 days ago"];
  assert.deepEqual(texts, words);
  assert.deepEqual([formatAgo(7 * day), formatAgo(-minute - 1)], [undefined, undefined]);
});
