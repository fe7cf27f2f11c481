import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** Five minutes: enough for a slow machine, and a failing test still says what it waited for before its own time limit of ten. */
const waitMsMax = 5 * 60_000;
const pollEveryMs = 50;

/** Waits for a state of a process whose clock the test does not move. The state must last: one that passes between two polls is missed. */
export async function until(so: () => boolean | Promise<boolean>): Promise<void> {
  for (const since = performance.now(); performance.now() < since + waitMsMax; await pause(pollEveryMs)) if (await so()) return;
  assert.fail(`gave up waiting after five minutes for ${so.toString()}`);
}

/** Waits for a state, and returns when (ms) it was found to be so: the latest time at which it can have begun. */
export async function when(so: () => boolean | Promise<boolean>): Promise<number> {
  await until(so);
  return Date.now();
}

/** Waits for a state, and returns when (ms) the last check began that found it not to be so: the earliest time at which it can have begun. */
export async function whenAtEarliest(so: () => Promise<boolean>): Promise<number> {
  let earliest = Date.now();
  await until(async () => {
    const start = Date.now();
    const isSo = await so();
    if (!isSo) earliest = start;
    return isSo;
  });
  return earliest;
}
