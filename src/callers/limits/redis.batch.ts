import type { Clock } from "../../platform/clock.ts";
import type { LimitRequest } from "./redis.ledger.ts";
import { knownMeters, type Rule } from "./redis.script.ts";

/**
 * The most requests in one run of the script: enough to share its fixed costs, and few enough that Redis decides one batch while
 * the node makes the next. Below 64, because the index of a rule is sent as a character of one byte, of which one bit is `knownMeters`.
 */
const requestsMax = 32;
/** The script is sent once it has this many keys, because Lua passes at most 8,000 arguments to a command. */
const keysMax = 1_000;
/** The most requests that wait for Redis at once. */
const waitingMax = 10_000;

/**
 * Makes the result of a request from the answer of the script that decided it. `answer[0]` is the time, and the request's
 * figures begin at `offset`. `answer` is undefined if the connection was lost. `run` is the script's number: see `ScriptRun`.
 */
type ReadResult<T> = (answer: number[] | undefined, offset: number, run: number) => T;
/** `run`: the script's number on its connection, from 1; 0 if there was no connection. `answer`: undefined if the connection is lost. */
export type ScriptRun = { run: number; answer: Promise<Buffer | undefined> };
type SendScript = (keys: string[], args: (string | number)[]) => ScriptRun;
/** The requests of a node that wait for Redis. */
export type Waiting = { count: number };

export type Batches = {
  ask<T>(request: LimitRequest, read: ReadResult<T>): Promise<T>;
  /** Whether no further request may wait. */
  isFull(): boolean;
};

/** The requests that one run of the script decides. The order of keys and arguments is that of `limitScript`. */
type Batch = {
  keys: string[];
  /** The index of each request's rule and its flag, as a character. */
  indexes: string;
  /** The rules, each with its index. */
  rules: Map<Rule, number>;
  resolvers: ((answer: number[] | undefined, run: number) => void)[];
  /** Where the figures of the next request will begin in the answer. */
  nextOffset: number;
};

/**
 * Asks Redis to decide requests. Up to 32 requests of one turn of the event loop go into one run of the script, which
 * decides them in order: they share the cost of one round trip.
 *
 * @param isKnown returns whether Redis certainly has all meters of a request
 * @param redisClock the clock that the script uses instead of Redis' own
 * @param reporter returns the name under which this node reports figures to other nodes; "" if there are none
 */
export function openBatches(
  send: SendScript,
  isKnown: (request: LimitRequest) => boolean,
  waiting: Waiting,
  redisClock: Clock | undefined,
  reporter: () => string,
): Batches {
  let open: Batch | undefined;

  async function flush(batch: Batch): Promise<void> {
    const { keys, indexes, rules, resolvers } = batch;
    open = undefined;
    const texts = Array.from(rules.keys(), ({ text }) => text);
    const { run, answer } = send(keys, [redisClock?.() ?? "", reporter(), indexes, ...texts]);
    const bytes = await answer;
    const figures = bytes && figuresOf(bytes);
    waiting.count -= resolvers.length;
    for (const resolve of resolvers) resolve(figures, run);
  }

  function begin(): Batch {
    const batch: Batch = { keys: [], indexes: "", rules: new Map(), resolvers: [], nextOffset: 1 };
    setImmediate(() => void (open === batch && flush(batch)));
    return (open = batch);
  }

  return {
    ask: (request, read) =>
      new Promise((resolve) => {
        waiting.count += 1;
        const batch = open ?? begin();
        const offset = batch.nextOffset;
        batch.resolvers.push((answer, run) => resolve(read(answer, offset, run)));
        add(batch, request, isKnown(request) ? knownMeters : 0);
        if (batch.resolvers.length >= requestsMax || batch.keys.length >= keysMax) void flush(batch);
      }),
    isFull: () => waiting.count >= waitingMax,
  };
}

function add(batch: Batch, { rule, meters, bans }: LimitRequest, flag: number): void {
  let index = batch.rules.get(rule);
  if (index === undefined) batch.rules.set(rule, (index = batch.rules.size));
  batch.indexes += String.fromCharCode(index + flag);
  for (const { name } of meters) batch.keys.push(name);
  for (const ban of bans) batch.keys.push(ban);
  batch.nextOffset += 3 + rule.limits.length;
}

/** Unpacks the answer of `limitScript`. */
function figuresOf(bytes: Buffer): number[] {
  const figures = [bytes.readDoubleLE(0)];
  for (let at = 8; at < bytes.length; at += 4) figures.push(bytes.readUInt32LE(at));
  return figures;
}
