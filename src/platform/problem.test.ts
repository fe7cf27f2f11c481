import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "./problem.ts";

test("a refusal takes no stack trace, and leaves those of other errors alone", () => {
  const { stackTraceLimit } = Error;
  const cause = new Error("the disk is full");
  const refusal = new Problem("unavailable", "Try again.", { cause });
  assert.equal(refusal.stack, "Problem: Try again.");
  assert.equal(refusal.cause, cause);
  assert.match(cause.stack ?? "", /problem\.test\.ts/);
  assert.equal(Error.stackTraceLimit, stackTraceLimit);
});

test("an internal error has a stack trace", () => {
  assert.match(new Problem("internal", "Something went wrong.").stack ?? "", /problem\.test\.ts/);
});
