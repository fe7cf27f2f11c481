export type TurnLimits = { runningMax: number; runningMaxEach: number; waitingMax: number; waitingMaxEach: number };

type Own = { running: number; waiting: (() => void)[] };

/**
 * Runs at most `runningMax` pieces of work at once, `runningMaxEach` of them for one asker. Those that wait come in turn by who asked, so
 * that what is slow for one holds up nobody else's; within an asker's own, in the order of asking. Answers null instead of letting more
 * than `waitingMax` wait, or more than `waitingMaxEach` of one asker.
 */
export function createTurns({ runningMax, runningMaxEach, waitingMax, waitingMaxEach }: TurnLimits) {
  /** Whose turn is next is first. */
  const askers = new Map<unknown, Own>();
  let running = 0;
  let waiting = 0;

  return async function take<Result>(asker: unknown, work: () => Promise<Result>): Promise<Result | null> {
    const own = askers.get(asker) ?? { running: 0, waiting: [] };
    const isFree = running < runningMax && own.running < runningMaxEach;
    if (!isFree && (waiting >= waitingMax || own.waiting.length >= waitingMaxEach)) return null;
    askers.set(asker, own);
    if (isFree) begin(own);
    else await stand(own);
    try {
      return await work();
    } finally {
      end(asker, own);
    }
  };

  function begin(own: Own): void {
    running += 1;
    own.running += 1;
  }

  function stand(own: Own): Promise<void> {
    waiting += 1;
    return new Promise((enter) => own.waiting.push(enter));
  }

  function end(asker: unknown, own: Own): void {
    running -= 1;
    own.running -= 1;
    if (own.running === 0 && own.waiting.length === 0) askers.delete(asker);
    for (const [next, its] of askers) {
      if (its.waiting.length === 0 || its.running >= runningMaxEach) continue;
      askers.delete(next);
      askers.set(next, its);
      waiting -= 1;
      begin(its);
      return its.waiting.shift()!();
    }
  }
}
