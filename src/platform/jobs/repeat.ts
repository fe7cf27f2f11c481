/**
 * Runs work at an interval, never twice at once, until it is stopped. Calls `onError` with each error, and runs the work again
 * at the next interval. `stop` resolves when the last run has ended.
 */
export function repeat(everyMs: number, work: () => Promise<void>, onError: (error: unknown) => void): { stop(): Promise<void> } {
  let running = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = work()
      .catch(onError)
      .finally(() => {
        busy = false;
      });
  }, everyMs).unref();
  return {
    stop() {
      clearInterval(timer);
      return running;
    },
  };
}
