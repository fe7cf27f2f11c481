import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { watchEventLoop } from "./event-loop.ts";

/** Holds up the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("a blocked event loop shows in the delay, and no longer two windows later", async (t) => {
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
