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

/** Work that never runs twice at once. */
export type Coalesced = {
  /** Runs the work. Calls during a run share one more run after it, which sees what they saw. Rejects with the last error of the runs. */
  run: () => Promise<void>;
  /** Resolves or rejects when the runs have ended; undefined if none is under way. */
  running: () => Promise<void> | undefined;
};

export function coalesced(work: () => Promise<void>): Coalesced {
  let running: Promise<void> | undefined;
  let again = false;

  async function runAll(): Promise<void> {
    let failure: { error: unknown } | undefined;
    try {
      while (again) {
        again = false;
        await work().catch((error: unknown) => (failure = { error }));
      }
    } finally {
      running = undefined;
    }
    if (failure) throw failure.error;
  }

  return {
    run() {
      again = true;
      return (running ??= runAll());
    },
    running: () => running,
  };
}

/** Runs of work by key, which calls during a run share. Nothing is kept after a run. */
export type SharedRuns<K, V> = {
  /** The run that is under way. */
  get(key: K): Promise<V> | undefined;
  run(key: K, work: () => Promise<V>): Promise<V>;
};

export function openSharedRuns<K, V>(): SharedRuns<K, V> {
  const running = new Map<K, Promise<V>>();
  return {
    get: (key) => running.get(key),
    run(key, work) {
      const found = running.get(key);
      if (found) return found;
      const started = work().finally(() => running.delete(key));
      running.set(key, started);
      return started;
    },
  };
}
