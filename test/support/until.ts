import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** Ten minutes: enough for a slow machine, and a failing test still reports before its file's time limit. */
const pollsMax = 12_000;
const pollEveryMs = 50;

/** Waits for a state of a process whose clock the test does not move. The state must last: one that passes between two polls is missed. */
export async function until(so: () => boolean | Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < pollsMax; polls++) {
    if (await so()) return;
    await pause(pollEveryMs);
  }
  assert.fail("gave up waiting for the condition after ten minutes");
}
