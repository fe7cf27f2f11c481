import type { Clock } from "../platform/clock.ts";
import type { Io } from "./command.ts";

const everyMs = 500;

/** Returns a function that shows how far a backup or a restore is, on a terminal only, at most twice a second. */
export function progressTo({ stderr }: Io, clock: Clock): (part: string, done: number) => void {
  if (!stderr.isTTY) return () => undefined;
  let shownAt = 0;
  return (part, done) => {
    if (clock() - shownAt < everyMs) return;
    shownAt = clock();
    stderr.write(`\r\u001b[K${part}: ${done}\r`);
  };
}
