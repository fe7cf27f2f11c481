import type { Clock } from "../../platform/clock.ts";

/** Requests that may share one run of the script. So many take Redis less than a millisecond. */
const requestsMax = 128;
/** Requests that may wait for Redis at once. */
const waitingMax = 10_000;

/** What the script does for one request; see `redis.script.ts`. */
export type LimitRequest = {
  counting: boolean;
  /** Gives back one request to each meter. `limits` then has the numbers of the minute and the day in which each meter counted it. */
  givesBack?: boolean;
  /** Strikes allowed before a ban. 0 if refusals are no strikes; `ban` and `strikes` are then absent. */
  allowed: number;
  /** The request has a secret key, so its refusal is no strike if publishable keys alone caused it. */
  isSecret?: boolean;
  meters: string[];
  /** Requests per minute and per day of each meter. */
  limits: number[];
  ban?: string;
  strikes?: string;
};

/**
 * Makes the result of one request from the answer of the script that decided it. The first figure of the answer is the time,
 * and those of the request begin at `at`. `answer` is undefined if Redis was lost. `run` is the script's number.
 */
type Read<T> = (answer: number[] | undefined, at: number, run: number) => T;
/** A script that was sent. `run` is its number on this connection, or 0 without one. `answer` resolves to undefined if Redis was lost. */
export type Sent = { run: number; answer: Promise<number[] | undefined> };
type Send = (keys: string[], args: (string | number)[]) => Sent;

export type Batches = {
  ask<T>(asked: LimitRequest, read: Read<T>): Promise<T>;
  /** Whether the queue is full. */
  isFull(): boolean;
  waiting(): number;
};

/** The requests that one run of the script decides. */
type Batch = {
  /** The keys of meters and bans. */
  plain: string[];
  /** The keys of lists of strikes. */
  lists: string[];
  args: (string | number)[];
  settle: ((answer: number[] | undefined, run: number) => void)[];
  /** Where the figures of the next request begin in the answer. */
  nextAt: number;
};

/**
 * Asks Redis to decide requests. The requests of one turn of the event loop share one run of the script, which decides them in
 * their order: each waits for one round trip, and all share its cost.
 *
 * @param redisClock the clock that decides, instead of Redis' own
 * @param reporter returns this node's name if there are other nodes to report the meters' figures to, else ""
 */
export function openBatches(send: Send, redisClock: Clock | undefined, reporter: () => string): Batches {
  let open: Batch | undefined;
  let waiting = 0;

  async function flush(batch: Batch): Promise<void> {
    if (open === batch) open = undefined;
    const { plain, lists, args, settle } = batch;
    const { run, answer } = send([...plain, ...lists], [redisClock?.() ?? "", reporter(), plain.length, ...args]);
    const figures = await answer;
    waiting -= settle.length;
    for (const one of settle) one(figures, run);
  }

  function begin(): Batch {
    const batch: Batch = { plain: [], lists: [], args: [], settle: [], nextAt: 1 };
    setImmediate(() => void (open === batch && flush(batch)));
    return batch;
  }

  return {
    ask: (asked, read) =>
      new Promise((resolve) => {
        waiting += 1;
        const batch = (open ??= begin());
        const at = batch.nextAt;
        batch.settle.push((answer, run) => resolve(read(answer, at, run)));
        add(batch, asked);
        if (batch.settle.length >= requestsMax) void flush(batch);
      }),
    isFull: () => waiting >= waitingMax,
    waiting: () => waiting,
  };
}

function add(batch: Batch, { counting, givesBack, allowed, isSecret, meters, limits, ban, strikes }: LimitRequest): void {
  batch.args.push(counting ? (isSecret ? "2" : "1") : givesBack ? "-1" : "0", allowed, meters.length, ...limits);
  batch.plain.push(...meters);
  if (ban !== undefined) batch.plain.push(ban);
  if (strikes !== undefined) batch.lists.push(strikes);
  batch.nextAt += 3 + limits.length;
}
