import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

const pollsMax = 1_200;
const pollEveryMs = 50;

/** Asks a process of its own, whose clock a test does not move, again and again until it is so; a bounded number of times. */
export async function until(so: () => boolean | Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < pollsMax; polls++) {
    if (await so()) return;
    await pause(pollEveryMs);
  }
  assert.fail("it did not come to that");
}
