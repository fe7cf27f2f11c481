import sql, { empty, join, type Sql } from "sql-template-tag";
import { runInTurn, type FairShare } from "./fair-share.ts";
import { coalesced } from "./runs.ts";
import { createTally } from "./tally.ts";

/**
 * How many rows to claim: up to `count`, and of one account up to `maxPerAccount`, which counts those that this process already works on
 * (`running`).
 */
export type ClaimShare = { count: number; maxPerAccount: number; running: ReadonlyMap<number, number> };

/** An SQL condition to append to others. It excludes the accounts that have `maxPerAccount` rows already. */
export function andUncrowded(accountId: Sql, counts: ReadonlyMap<number, number>, maxPerAccount: number): Sql {
  const crowded = [...counts].filter(([, own]) => own >= maxPerAccount).map(([account]) => account);
  return crowded.length === 0 ? empty : sql`AND ${accountId} NOT IN (${join(crowded)})`;
}

/**
 * Claims rows so that accounts that hold fewer get theirs first: one for each account that holds none, then up to two for each, four, and so on to
 * its share. Each step claims so few rows that no account exceeds what the step allows.
 *
 * @param claim claims up to `room` rows for which the SQL condition holds
 */
export async function claimByAccount<T extends { accountId: number }>(
  { count, maxPerAccount, running }: ClaimShare,
  accountId: Sql,
  claim: (uncrowded: Sql, room: number) => Promise<T[]>,
): Promise<T[]> {
  const held = createTally(running);
  const claimed: T[] = [];
  let most = 1;
  for (let left = count; left > 0; left = count - claimed.length) {
    const owned = [...held.counts.values()];
    const room = Math.min(left, most, ...owned.filter((own) => own < most).map((own) => most - own));
    const some = await claim(andUncrowded(accountId, held.counts, most), room);
    for (const one of some) held.add(one.accountId);
    claimed.push(...some);
    if (some.length === room) continue;
    if (most >= maxPerAccount || owned.every((own) => own < most)) break; // no other row is due
    most = Math.min(2 * most, maxPerAccount);
  }
  return claimed;
}

/** Work that waits as rows in the database. */
export type Work<T> = {
  /** Claims up to `count` due rows for this process alone, by one conditional UPDATE with a lease. */
  claim: (count: number) => Promise<T[]>;
  /** Works on one row and saves the outcome. If it throws, `onError` gets the error, and the row becomes due again when its lease ends. */
  run: (item: T, signal: AbortSignal) => Promise<void>;
  /** Rows worked on at once. */
  atOnceMax: number;
  /** Rows claimed at once. Default: as many as may be worked on. */
  claimMax?: number;
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
export function openWorker<T>({ claim, run, atOnceMax, claimMax = atOnceMax, everyMs, onError }: Work<T>): Worker {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const polling = coalesced(() => poll().catch(onError));

  function wake(): void {
    if (!stopping.signal.aborted) void polling.run();
  }

  async function poll(): Promise<void> {
    if (stopping.signal.aborted) return;
    const free = Math.min(claimMax, atOnceMax - running.size);
    if (free <= 0) return; // looks again when the next one ends
    const items = await claim(free);
    for (const item of items) start(item);
    if (items.length === free) wake();
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
    wake();
    while (polling.running() || running.size > 0) await Promise.all([polling.running(), ...running]);
  }

  const timer = setInterval(wake, everyMs).unref();
  return {
    wake,
    idle,
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await polling.running(); // may still begin work, whose signal is aborted
      await Promise.all(running);
    },
  };
}

/**
 * Opens a worker whose accounts take turns: `turns` has its places. An account that has many rows leases no more than its share of the places.
 * Each claim is for a part of them, so that the next one sees which accounts have got some.
 */
export function openWorkerInTurns<T extends { accountId: number }>({
  turns,
  claim,
  run,
  ...work
}: Omit<Work<T>, "claim" | "atOnceMax" | "claimMax"> & {
  turns: FairShare<number>;
  /** Like the claim of `Work`, with the share of each account. */
  claim: (share: ClaimShare) => Promise<T[]>;
}): Worker {
  const { counts } = turns.held;
  const shareOfEach = (): number => Math.max(1, Math.floor(turns.max / Math.max(2, counts.size + 1)));
  return openWorker({
    ...work,
    atOnceMax: turns.max,
    claimMax: Math.ceil(turns.max / 4),
    claim: (count) => claim({ count, maxPerAccount: shareOfEach(), running: counts }),
    run: (item, signal) => runInTurn(turns, item.accountId, () => run(item, signal)),
  });
}
