/** The pause before a worker that ended is started again: doubles with each end in a row. */
const pauseMs = 500;
const pauseMsMax = 30_000;
/** After a run of this length the pause begins again at its shortest. */
const steadyMs = 60_000;
/** Failed starts in a row after which all workers end. */
const startsMax = 5;

/** How a worker ended. `code` is null if a signal ended it. */
export type Ending = {
  code: number | null;
  signal: string | null;
  /** Whether this run took requests. */
  wasReady: boolean;
  /** Whether a wrong setting or schema ended it. */
  isLasting: boolean;
  ranMs: number;
};

/** How often one worker has ended in a row: in all, before it was ready, and before it was ready because of a wrong setting or schema. */
export type Ends = { inRow: number; failedInRow: number; lastingInRow: number; hasBeenReady: boolean };

export const noEnds: Ends = { inRow: 0, failedInRow: 0, lastingInRow: 0, hasBeenReady: false };

/** The next step: another start after a pause, or the end of all workers. `reason` is the line for an end that the worker did not explain. */
type Next = { nextMs: number } | { exitCode: number; reason?: string };

/**
 * Decides what the supervisor does after a worker has ended. All workers end if one fails at its first start, if it fails five times in a
 * row because a setting or the schema is wrong, or if signals end it five times in a row before it was ever ready. Any other end, such
 * as that of a full disk, ends one worker only, however often.
 */
export function afterEnd(before: Ends, ending: Ending): { ends: Ends; next: Next } {
  const { code, signal, wasReady, isLasting, ranMs } = ending;
  const ends: Ends = {
    inRow: ranMs > steadyMs ? 1 : before.inRow + 1,
    failedInRow: wasReady ? 0 : before.failedInRow + 1,
    lastingInRow: !wasReady && isLasting ? before.lastingInRow + 1 : 0,
    hasBeenReady: before.hasBeenReady || wasReady,
  };
  if (code !== null && !ends.hasBeenReady) return { ends, next: { exitCode: code || 1 } };
  if (ends.lastingInRow >= startsMax) return { ends, next: { exitCode: code || 1 } };
  if (!ends.hasBeenReady && ends.failedInRow >= startsMax) {
    return { ends, next: { exitCode: 1, reason: `a worker was ended by ${signal} ${startsMax} times before it was ready` } };
  }
  return { ends, next: { nextMs: Math.min(pauseMsMax, pauseMs * 2 ** Math.min(ends.inRow - 1, 10)) } };
}
