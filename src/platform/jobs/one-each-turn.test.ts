import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { oneEachTurn } from "./one-each-turn.ts";

test("jobs that come at once are run in their order, one in a turn, and others have every turn between", async () => {
  const run = oneEachTurn();
  const seen: string[] = [];
  for (const name of ["a", "b", "c"]) run(() => void seen.push(name));
  assert.equal(seen.length, 0);
  for (let turn = 1; seen.length < 6; turn++) {
    await nextTurn();
    seen.push(String(turn));
  }
  assert.deepEqual(seen, ["a", "1", "b", "2", "c", "3"]);
});

test("a job that comes from another one waits for a later turn", async () => {
  const run = oneEachTurn();
  const seen: string[] = [];
  run(() => {
    seen.push("a");
    run(() => void seen.push("b"));
    run(() => void seen.push("c"));
  });
  await nextTurn();
  assert.deepEqual(seen, ["a"]);
  await nextTurn();
  assert.deepEqual(seen, ["a", "b"]);
  await nextTurn();
  assert.deepEqual(seen, ["a", "b", "c"]);
});
