import assert from "node:assert/strict";
import { test } from "node:test";
import { openAllowance } from "./allowance.ts";

const now = 1_000_000;

test("uses count in a window that begins with the first, and setting the clock back extends no window", () => {
  const allowance = openAllowance(3, 300, 10);
  for (let used = 0; used < 3; used++) assert.equal(allowance.take("a", now + used), true);
  assert.deepEqual([allowance.waitMs("a", now + 100), allowance.take("a", now + 100)], [200, false]);
  assert.equal(allowance.waitMs("b", now + 100), 0, "another name");
  assert.equal(allowance.waitMs("a", now - 1), 0, "the clock was set back");
  assert.equal(allowance.waitMs("a", now + 300), 0);
  assert.equal(allowance.take("a", now + 300), true);
  assert.equal(allowance.waitMs("a", now + 599), 0, "a new window, with one use");
});

test("a refused use does not count, and a forgotten name has all its uses", () => {
  const allowance = openAllowance(1, 300, 10);
  assert.equal(allowance.take("a", now), true);
  for (let tries = 0; tries < 100; tries++) assert.equal(allowance.take("a", now + 1), false);
  assert.equal(allowance.waitMs("a", now + 1), 299);
  allowance.forget("a");
  assert.equal(allowance.take("a", now + 2), true);
});

test("names beyond the most are forgotten, the least recently used first", () => {
  const allowance = openAllowance(1, 300, 2);
  for (const name of ["a", "b", "c"]) assert.equal(allowance.take(name, now), true);
  assert.deepEqual([allowance.take("a", now), allowance.take("c", now)], [true, false]);
});
