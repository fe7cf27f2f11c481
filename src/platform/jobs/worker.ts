import sql, { empty, join, type Sql } from "sql-template-tag";

/** How many rows to claim: at most `count`, and of one account at most `each`, which includes its rows that are `running` in this process. */
export type ClaimShare = { count: number; each: number; running: ReadonlyMap<number, number> };

/** An SQL condition to append to others. It excludes the accounts that hold `each` rows already. */
export function andUncrowded(accountId: Sql, held: ReadonlyMap<number, number>, each: number): Sql {
  const crowded = [...held].filter(([, own]) => own >= each).map(([account]) => account);
  return crowded.length === 0 ? empty : sql`AND ${accountId} NOT IN (${join(crowded)})`;
}

/** Work that waits as rows in the database. */
export type Work<T> = {
  /** Claims up to `count` due rows for this process alone, by one conditional UPDATE with a lease. */
  claim: (count: number) => Promise<T[]>;
  /** Works on one row and saves the outcome. If it throws, `onError` gets the error, and the row becomes due again when its lease ends. */
  run: (item: T, signal: AbortSignal) => Promise<void>;
  /** Rows worked on at once. */
  atOnceMax: number;
  /** How often (ms) to look for rows that became due as time passed. */
  everyMs: number;
  onError: (error: unknown) => void;
};

export type Worker = {
  /** Looks for due rows now. Called when a row has just become due. */
  wake(): void;
  /** Resolves when no row is due and none is being worked on. */
  idle(): Promise<void>;
  /** Claims no more rows, aborts the signal of the running work, and resolves when it has ended. */
  stop(): Promise<void>;
};

/** Works through due rows, `atOnceMax` at a time. The rows are the only queue: a restart loses nothing, and any number of nodes may share them. */
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
    if (free <= 0) return; // looks again when the next one ends
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
