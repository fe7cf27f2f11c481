import type { Clock } from "../../platform/clock.ts";

/** Requests that may share one run of the script, which takes Redis less than a millisecond. */
const requestsMax = 128;

/** What the script is to do for one request; see `redis.script.ts`. */
export type Asked = {
  counting: boolean;
  /** Strikes that may be made before the ban; 0: none are made, and there are no keys for them. */
  allowed: number;
  meters: string[];
  /** Requests per minute and per day of each meter. */
  limits: number[];
  ban?: string;
  strikes?: string;
};

/** The script's answer to one request: figures begin at `at`, the time is the first of all. */
export type Read<T> = (answer: number[] | undefined, at: number) => T;
export type Send = (keys: string[], args: (string | number)[]) => Promise<number[] | undefined>;

type Batch = {
  plain: string[];
  lists: string[];
  args: (string | number)[];
  settle: ((answer: number[] | undefined) => void)[];
  figures: number;
};

/**
 * Asks for one request's decision. What is asked in one turn of the event loop goes to Redis together, in the order of
 * asking: a request still waits for one round trip, and many share the cost of it.
 *
 * @param redisClock tells the time to Redis, instead of its own clock
 */
export function openBatches(send: Send, redisClock: Clock | undefined): <T>(asked: Asked, read: Read<T>) => Promise<T> {
  let open: Batch | undefined;

  async function flush(batch: Batch): Promise<void> {
    if (open === batch) open = undefined;
    const { plain, lists, args, settle } = batch;
    const answer = await send([...plain, ...lists], [redisClock?.() ?? "", plain.length, ...args]);
    for (const one of settle) one(answer);
  }

  function begin(): Batch {
    const batch: Batch = { plain: [], lists: [], args: [], settle: [], figures: 1 };
    setImmediate(() => void (open === batch && flush(batch)));
    return batch;
  }

  return (asked, read) =>
    new Promise((resolve) => {
      const batch = (open ??= begin());
      const at = batch.figures;
      batch.settle.push((answer) => resolve(read(answer, at)));
      add(batch, asked);
      if (batch.settle.length >= requestsMax) void flush(batch);
    });
}

function add(batch: Batch, { counting, allowed, meters, limits, ban, strikes }: Asked): void {
  batch.args.push(counting ? "1" : "0", allowed, meters.length, ...limits);
  batch.plain.push(...meters);
  if (ban !== undefined) batch.plain.push(ban);
  if (strikes !== undefined) batch.lists.push(strikes);
  batch.figures += 3 + limits.length;
}
