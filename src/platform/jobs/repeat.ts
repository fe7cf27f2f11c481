/**
 * Does a piece of work again and again, never two at once, until it is stopped. Work that fails is told of and done
 * again next time. `stop` resolves when the last run is over.
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
