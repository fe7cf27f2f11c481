import assert from "node:assert/strict";
import { test } from "node:test";
import { parseList } from "structured-headers";
import { noon } from "../../../test/support/limits-contract.ts";
import { limitHeaders } from "./headers.ts";
import type { Decision } from "./windows.ts";
import { banned, passed, refused } from "./windows.ts";

const now = noon + 12_345;

test("a pass shows the three X-RateLimit headers, and both windows in RateLimit and RateLimit-Policy", () => {
  assert.deepEqual(headersOf(passed(now, 60, 1, 1_000, 1)), {
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "59",
    "x-ratelimit-reset": `${(noon + 60_000) / 1_000}`,
    ratelimit: '"minute";r=59;t=48, "day";r=999;t=43188',
    "ratelimit-policy": '"minute";q=60;w=60, "day";q=1000;w=86400',
  });
});

test("RateLimit and RateLimit-Policy are structured-field lists (RFC 9651) with one item for each window", () => {
  const headers = headersOf(passed(now, 60, 1, 1_000, 1));
  const windows = (field: string | undefined): [unknown, unknown][] =>
    parseList(field ?? "").map(([name, fields]) => [name, Object.fromEntries(fields)]);
  assert.deepEqual(windows(headers["ratelimit"]), [
    ["minute", { r: 59, t: 48 }],
    ["day", { r: 999, t: 43_188 }],
  ]);
  assert.deepEqual(windows(headers["ratelimit-policy"]), [
    ["minute", { q: 60, w: 60 }],
    ["day", { q: 1_000, w: 86_400 }],
  ]);
});

test("a refusal adds Retry-After and the strikes left", () => {
  const overMinute = headersOf(refused(passed(now, 60, 60, 1_000, 60), 19));
  assert.deepEqual(
    [overMinute["retry-after"], overMinute["x-ratelimit-strikes-remaining"], overMinute["x-ratelimit-remaining"]],
    ["48", "19", "0"],
  );
  const inBan = headersOf(banned(passed(now, 60, 60, 1_000, 60), 299_001));
  assert.deepEqual([inBan["retry-after"], inBan["x-ratelimit-strikes-remaining"]], ["300", "0"]);
});

test("a quota without a day shows only the minute", () => {
  const headers = headersOf(passed(now, 300, 1, Infinity, 1));
  assert.deepEqual([headers.ratelimit, headers["ratelimit-policy"]], ['"minute";r=299;t=48', '"minute";q=300;w=60']);
});

test("plans that differ only in their quota per day keep their own policies", () => {
  const policyOf = (perDay: number) => headersOf(passed(now, 60, 1, perDay, 1))["ratelimit-policy"];
  assert.deepEqual(
    [1_000, 2_000, 1_000].map(policyOf).map((text) => text?.match(/q=(\d+);w=86400/)?.[1]),
    ["1000", "2000", "1000"],
  );
});

/** By lower-case name, as a client sees them. */
function headersOf(decision: Decision): Record<string, string> {
  const lines = limitHeaders(decision).split("\r\n");
  assert.equal(lines.pop(), "");
  return Object.fromEntries(lines.map((line) => line.split(": ")).map(([name = "", value = ""]) => [name.toLowerCase(), value]));
}
