import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";

/**
 * Gives this process a lower priority, so that a backup hardly slows a service on the same machine. Not the lowest priority, with which a backup
 * would hardly progress while other processes keep every core busy. Linux keeps a priority for each thread, and Node has started some by now.
 */
export function yieldProcessor(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // it has ended, or the system forbids it
    }
  }
}

/** The ids of this process' threads; where the system does not list them 0, which stands for the process. */
function threads(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    return [0];
  }
}
