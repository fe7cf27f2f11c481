import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { onePerTurn, watchEventLoop } from "./event-loop.ts";

/** Holds up the event loop. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test("a blocked event loop shows in the delay until two windows later", async (t) => {
  const delay = watchEventLoop();
  t.after(() => delay.stop());
  const longest = (): number => delay.metrics().find(({ name }) => name === "nodejs_eventloop_delay_max_seconds")?.samples[0]?.value ?? NaN;
  await pause(50);
  block(2_000);
  while (longest() < 1.9) await pause(10); // the histogram sees the delay when its timer runs
  delay.turn();
  assert.ok(longest() >= 1.9);
  delay.turn();
  assert.ok(longest() < 1.9, `${longest()} s`);
  assert.deepEqual(
    delay.metrics().flatMap(({ samples }) => samples.map(({ labels }) => labels?.["quantile"])),
    ["0.5", "0.99", undefined],
  );
});

test("jobs that arrive at once run in their order, one per turn of the event loop, and other work runs between them", async () => {
  const run = onePerTurn();
  const seen: string[] = [];
  for (const name of ["a", "b", "c"]) run(() => void seen.push(name));
  assert.equal(seen.length, 0);
  for (let turn = 1; seen.length < 6; turn++) {
    await nextTurn();
    seen.push(String(turn));
  }
  assert.deepEqual(seen, ["a", "1", "b", "2", "c", "3"]);
});

test("a job that another job adds waits for a later turn", async () => {
  const run = onePerTurn();
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
