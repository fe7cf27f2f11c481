import { Redis } from "iovalkey";

/** Time that connecting may take, and the pause before the next try (half of it at random, so that nodes do not come all at once). */
const joinMs = 1_000;
const pauseMs = 400;
/** Questions that may wait for Redis; beyond them each is decided without it. */
const waitingMax = 1_000;

export type LinkLog = { info(fields: object, text: string): void; warn(fields: object, text: string): void };
export type Script = { text: string; sha: string };

/** A connection to Redis that answers in time or not at all, and comes back by itself. */
export type Link = {
  isUp(): boolean;
  /** The script's answer, or undefined if Redis fails or is late. Never rejects. A script that was late may still have run. */
  run(keys: string[], args: (string | number)[]): Promise<number[] | undefined>;
  remove(keys: string[]): Promise<number | undefined>;
  close(): void;
};

/** `decide` answers the asker without Redis; the entry stays until Redis has answered, since only then is it known to live. */
type Waiting = { since: number; decided: boolean; decide(): void };

/**
 * Tries to connect once before it returns, and goes on trying until it is closed. The link is up only after the script
 * has run on the probe's keys, so a Redis that takes no writes counts as away.
 *
 * @param options.answerMs time that Redis has for one answer
 * @param options.silentMs time that it may answer nothing at all while it is asked, before it counts as lost
 * @param options.onJoined called whenever the link comes up
 */
export async function openLink(options: {
  url: string;
  script: Script;
  probe: { keys: string[]; args: (string | number)[] };
  log: LinkLog;
  answerMs: number;
  silentMs: number;
  onJoined: () => void;
}): Promise<Link> {
  const { url, script, probe, log, answerMs, silentMs, onJoined } = options;
  const waiting = new Set<Waiting>();
  let heardAt = 0;
  let connection: Redis | undefined;
  let watching = false;
  let retry: NodeJS.Timeout | undefined;
  let told = false;
  let closed = false;

  async function join(): Promise<void> {
    const redis = new Redis(url, connectionOptions);
    let reason: Error | undefined;
    redis.on("error", (error: Error) => (reason = error));
    try {
      await within(joinMs, redis.connect());
      await within(joinMs, redis.eval(script.text, probe.keys.length, ...probe.keys, ...probe.args));
      await within(answerMs, redis.ping());
    } catch (error) {
      redis.disconnect();
      return away(reason ?? error);
    }
    if (closed) return redis.disconnect();
    connection = redis;
    onJoined();
    redis.once("close", () => lose(redis, reason ?? new Error("the connection was closed")));
    if (told) log.info({}, "Redis answers again: limits are counted together");
    told = false;
  }

  function lose(lost: Redis, error: unknown): void {
    if (lost !== connection) return;
    connection = undefined;
    lost.disconnect();
    decideAll();
    away(error);
  }

  function away(error: unknown): void {
    if (closed) return;
    if (!told) log.warn({ reason: String(error) }, "Redis cannot be reached: this node counts its limits alone until it can");
    told = true;
    retry = setTimeout(() => void join(), pauseMs * (0.5 + Math.random() / 2)).unref();
  }

  function decideAll(): void {
    for (const one of waiting) one.decide();
    waiting.clear();
  }

  /** One timer for all that wait. An answer may lie unread because this process was busy: what has arrived by now is read before `setImmediate` runs. */
  function watch(afterMs: number): void {
    watching = true;
    setTimeout(() => setImmediate(look), Math.max(1, Math.ceil(afterMs))).unref();
  }

  function look(): void {
    watching = false;
    const now = performance.now();
    let nextMs = Infinity;
    for (const one of waiting) {
      if (one.decided) continue;
      nextMs = one.since + answerMs - now;
      if (nextMs > 0) break;
      one.decide();
    }
    const [oldest] = waiting;
    if (oldest === undefined || connection === undefined) return;
    const leftMs = Math.max(oldest.since, heardAt) + silentMs - now;
    if (leftMs <= 0) lose(connection, new Error(`no answer within ${silentMs} ms`));
    else watch(Math.min(leftMs, nextMs));
  }

  /** Gives undefined if Redis fails or is late. */
  function ask<T>(redis: Redis, send: (whole: boolean) => Promise<T>): Promise<T | undefined> {
    if (waiting.size >= waitingMax) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const one: Waiting = {
        since: performance.now(),
        decided: false,
        decide() {
          one.decided = true;
          resolve(undefined);
        },
      };
      const settle = (answer: T) => {
        heardAt = performance.now();
        waiting.delete(one);
        resolve(answer);
      };
      const fail = (error: unknown) => lose(redis, error);
      waiting.add(one);
      if (!watching) watch(answerMs);
      send(false).then(settle, (error: Error) => (error.message.startsWith("NOSCRIPT") ? send(true).then(settle, fail) : fail(error)));
    });
  }

  function run(keys: string[], args: (string | number)[]): Promise<number[] | undefined> {
    const redis = connection;
    if (redis === undefined) return Promise.resolve(undefined);
    const send = (whole: boolean) =>
      whole ? redis.eval(script.text, keys.length, ...keys, ...args) : redis.evalsha(script.sha, keys.length, ...keys, ...args);
    return ask(redis, send as (whole: boolean) => Promise<number[]>);
  }

  function remove(keys: string[]): Promise<number | undefined> {
    const redis = connection;
    return redis === undefined ? Promise.resolve(undefined) : ask(redis, () => redis.del(...keys));
  }

  await join();
  return {
    isUp: () => connection !== undefined,
    run,
    remove,
    close() {
      closed = true;
      clearTimeout(retry);
      decideAll();
      connection?.disconnect();
      connection = undefined;
    },
  };
}

/** Each try is a connection of its own; nothing is queued or sent a second time by the client. */
const connectionOptions = {
  lazyConnect: true,
  connectTimeout: joinMs,
  disconnectTimeout: joinMs,
  retryStrategy: () => null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => (timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
