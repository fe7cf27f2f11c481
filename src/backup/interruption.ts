import { constants } from "node:os";

/** Signals that end a command. Unhandled, each would leave behind what the command has made so far. */
const ending = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
export type Ending = (typeof ending)[number];

const undos = new Set<() => void>();

/**
 * Registers a step that an interrupted command runs before it ends, such as removing a temporary copy. `undo` blocks, because nothing runs after it.
 *
 * @returns a function that ends the registration
 */
export function onInterruption(undo: () => void): () => void {
  undos.add(undo);
  return () => void undos.delete(undo);
}

/**
 * Runs a command. A signal that ends it first undoes what is registered; the exit code is 128 and the number of the signal.
 *
 * @param report prints that the command was stopped
 */
export async function interruptible<T>(report: (signal: Ending) => void, run: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals): never => {
    undoAll();
    report(signal as Ending);
    return process.exit(128 + constants.signals[signal]);
  };
  for (const signal of ending) process.on(signal, end);
  try {
    return await run();
  } finally {
    for (const signal of ending) process.off(signal, end);
  }
}

function undoAll(): void {
  for (const undo of undos) {
    try {
      undo();
    } catch {
      // the others run all the same, and the next command removes what is left
    }
  }
}
