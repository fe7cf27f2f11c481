/**
 * Runs jobs in their order, one in each turn of the event loop, so that however many come at once, what else has arrived waits
 * for one of them at most. The caller bounds how many can wait.
 */
export function oneEachTurn(): (job: () => void) => void {
  const waiting: (() => void)[] = [];

  function runNext(): void {
    if (waiting.length > 1) setImmediate(runNext);
    waiting.shift()?.();
  }

  return (job) => {
    if (waiting.push(job) === 1) setImmediate(runNext);
  };
}
