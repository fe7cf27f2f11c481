/** Work that waits as rows in the database. */
export type Work<T> = {
  /** Takes up to `count` due rows for this process alone, by one conditional UPDATE with a lease. */
  claim: (count: number) => Promise<T[]>;
  /** Works on one row and saves the outcome. `onError` gets the error that it throws; the row comes back when its lease ends. */
  run: (item: T, signal: AbortSignal) => Promise<void>;
  /** How many run at once. */
  atOnceMax: number;
  /** How often to look for rows that have become due by time alone. */
  everyMs: number;
  onError: (error: unknown) => void;
};

export type Worker = {
  /** Looks for due rows now: something has just made one. */
  wake(): void;
  /** Resolves when no row is due and none is being worked on. */
  idle(): Promise<void>;
  /** Takes no more rows, aborts the signal of those under way, and resolves when they have ended. */
  stop(): Promise<void>;
};

/**
 * Works off due rows, `atOnceMax` at a time. All that is to be done is in the database: a restart loses nothing, and any
 * number of nodes may share it.
 */
export function openWorker<T>({ claim, run, atOnceMax, everyMs, onError }: Work<T>): Worker {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let looking: Promise<void> | undefined;
  let again = false;

  function wake(): void {
    if (stopping.signal.aborted) return;
    if (looking) {
      again = true;
      return;
    }
    looking = look()
      .catch(onError)
      .finally(() => {
        looking = undefined;
        if (again) wake();
      });
  }

  async function look(): Promise<void> {
    again = false;
    const free = atOnceMax - running.size;
    if (free <= 0) return; // the next one that ends looks again
    const items = await claim(free);
    for (const item of items) start(item);
    if (items.length === free) again = true;
  }

  function start(item: T): void {
    const work = run(item, stopping.signal)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) onError(error);
      })
      .finally(() => {
        running.delete(work);
        wake();
      });
    running.add(work);
  }

  async function idle(): Promise<void> {
    const busy = (): boolean => looking !== undefined || running.size > 0;
    wake();
    while (busy()) await Promise.all([looking, ...running]);
  }

  const timer = setInterval(wake, everyMs).unref();
  return {
    wake,
    idle,
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await Promise.all([looking, ...running]);
    },
  };
}
