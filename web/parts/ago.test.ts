import assert from "node:assert/strict";
import { test } from "node:test";
import { agoOf } from "./ago.ts";

test("a time is shown in its largest whole unit, and one that is not past as now", () => {
  const now = Date.UTC(2026, 0, 31, 12);
  const ago = (seconds: number): string => agoOf(now - seconds * 1_000, now);
  const day = 86_400;
  assert.deepEqual([-5, 0, 59, 60, 3_599, 3_600, day - 1, day, 2 * day, 7 * day, 29 * day, 30 * day, 364 * day, 800 * day].map(ago), [
    "now",
    "now",
    "now",
    "1 minute ago",
    "59 minutes ago",
    "1 hour ago",
    "23 hours ago",
    "yesterday",
    "2 days ago",
    "last week",
    "4 weeks ago",
    "last month",
    "12 months ago",
    "2 years ago",
  ]);
});
