import type { Clock } from "../../platform/clock.ts";

/** The most requests in one run of the script. Redis decides that many in less than a millisecond. */
const requestsMax = 128;
/** The most requests that wait for Redis at once. */
const waitingMax = 10_000;

/** What the script does for one request; see `redis.script.ts`. */
export type LimitRequest = {
  counting: boolean;
  /** Gives back a request that passed. `limits` then has, for each meter, the numbers of the minute and the day that counted it. */
  givesBack?: boolean;
  /** Strikes allowed before a ban. 0 if refusals are no strikes; `ban` and `strikes` are then absent. */
  allowed: number;
  /** The request has a secret key, so its refusal is no strike if publishable keys caused it: see `isSpared`. */
  isSecret?: boolean;
  meters: string[];
  /** Requests per minute and per day of each meter. */
  limits: number[];
  ban?: string;
  /** The bans of other keys that count too. Only with `ban`. */
  moreBans?: string[];
  strikes?: string;
};

/**
 * Makes the result of a request from the answer of the script that decided it. `answer[0]` is the time, and the request's
 * figures begin at `offset`. `answer` is undefined if the connection was lost. `run` is the script's number: see `ScriptRun`.
 */
type ReadResult<T> = (answer: number[] | undefined, offset: number, run: number) => T;
/** `run`: the script's number on its connection, from 1; 0 if there was none to send it on. `answer`: undefined if the connection is lost. */
export type ScriptRun = { run: number; answer: Promise<number[] | undefined> };
type SendScript = (keys: string[], args: (string | number)[]) => ScriptRun;

export type Batches = {
  ask<T>(request: LimitRequest, read: ReadResult<T>): Promise<T>;
  /** Whether no further request may wait. */
  isFull(): boolean;
  waiting(): number;
};

/** The requests that one run of the script decides. The order of keys and arguments is that of `limitScript`. */
type Batch = {
  /** The keys of meters and bans. */
  stringKeys: string[];
  /** The keys of lists of strikes. */
  listKeys: string[];
  args: (string | number)[];
  resolvers: ((answer: number[] | undefined, run: number) => void)[];
  /** Where the figures of the next request will begin in the answer. */
  nextOffset: number;
};

/**
 * Asks Redis to decide requests. All requests of one turn of the event loop go into one run of the script, which decides them in
 * order: they share the cost of one round trip.
 *
 * @param redisClock the clock that the script uses instead of Redis' own
 * @param reporter returns the name under which this node reports figures to other nodes; "" if there are none
 */
export function openBatches(send: SendScript, redisClock: Clock | undefined, reporter: () => string): Batches {
  let open: Batch | undefined;
  let waiting = 0;

  async function flush(batch: Batch): Promise<void> {
    if (open === batch) open = undefined;
    const { stringKeys, listKeys, args, resolvers } = batch;
    const { run, answer } = send([...stringKeys, ...listKeys], [redisClock?.() ?? "", reporter(), stringKeys.length, ...args]);
    const figures = await answer;
    waiting -= resolvers.length;
    for (const resolve of resolvers) resolve(figures, run);
  }

  function begin(): Batch {
    const batch: Batch = { stringKeys: [], listKeys: [], args: [], resolvers: [], nextOffset: 1 };
    setImmediate(() => void (open === batch && flush(batch)));
    return batch;
  }

  return {
    ask: (request, read) =>
      new Promise((resolve) => {
        waiting += 1;
        const batch = (open ??= begin());
        const offset = batch.nextOffset;
        batch.resolvers.push((answer, run) => resolve(read(answer, offset, run)));
        add(batch, request);
        if (batch.resolvers.length >= requestsMax) void flush(batch);
      }),
    isFull: () => waiting >= waitingMax,
    waiting: () => waiting,
  };
}

function add(batch: Batch, { counting, givesBack, allowed, isSecret, meters, limits, ban, moreBans = [], strikes }: LimitRequest): void {
  batch.args.push(counting ? (isSecret ? "2" : "1") : givesBack ? "-1" : "0", allowed, meters.length, moreBans.length, ...limits);
  batch.stringKeys.push(...meters);
  if (ban !== undefined) batch.stringKeys.push(ban, ...moreBans);
  if (strikes !== undefined) batch.listKeys.push(strikes);
  batch.nextOffset += 3 + limits.length;
}
