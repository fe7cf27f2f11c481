import { Redis } from "iovalkey";

/** Time that connecting may take, and the pause before the next try (half of it at random, so that nodes do not come all at once). */
const joinMs = 1_000;
const pauseMs = 400;

export type LinkLog = { info(fields: object, text: string): void; warn(fields: object, text: string): void };
export type Script = { text: string; sha: string };

/** A connection to Redis that answers in time or not at all, and comes back by itself. */
export type Link = {
  isUp(): boolean;
  /**
   * What `read` makes of the script's answer, or of undefined if Redis fails or is late; from then on the link is down.
   * Never rejects. A script that was late may still have run.
   */
  run<T>(keys: string[], args: (string | number)[], read: (answer: number[] | undefined) => T): Promise<T>;
  remove(keys: string[]): Promise<number | undefined>;
  close(): void;
};

type Waiting = { since: number; giveUp(): void };

/**
 * Tries to connect once before it returns, and goes on trying until it is closed. The link is up only after the script
 * has run on the probe's keys, so a Redis that takes no writes counts as away.
 *
 * @param options.answerMs time that Redis has for one answer
 * @param options.onLost called whenever the link goes down
 */
export async function openLink(options: {
  url: string;
  script: Script;
  probe: { keys: string[]; args: (string | number)[] };
  log: LinkLog;
  answerMs: number;
  onLost: () => void;
}): Promise<Link> {
  const { url, script, probe, log, answerMs, onLost } = options;
  const waiting = new Set<Waiting>();
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
    redis.once("close", () => lose(redis, reason ?? new Error("the connection was closed")));
    if (told) log.info({}, "Redis answers again: limits are counted together");
    told = false;
  }

  function lose(lost: Redis, error: unknown): void {
    if (lost !== connection) return;
    connection = undefined;
    lost.disconnect();
    onLost();
    for (const one of waiting) one.giveUp();
    waiting.clear();
    away(error);
  }

  function away(error: unknown): void {
    if (closed) return;
    if (!told) log.warn({ reason: String(error) }, "Redis cannot be reached: this node counts its limits alone until it can");
    told = true;
    retry = setTimeout(() => void join(), pauseMs * (0.5 + Math.random() / 2)).unref();
  }

  /** One timer for all that wait: Redis answers in order, so the first is the oldest. */
  function watchOldest(): void {
    const [oldest] = waiting;
    watching = oldest !== undefined;
    if (oldest === undefined) return;
    const leftMs = oldest.since + answerMs - performance.now();
    // An answer may lie unread because this process was busy: what has arrived by now is read before `setImmediate` runs.
    if (leftMs > 0) setTimeout(watchOldest, Math.ceil(leftMs)).unref();
    else setImmediate(giveUp, oldest);
  }

  function giveUp(oldest: Waiting): void {
    if (waiting.has(oldest) && connection !== undefined) lose(connection, new Error(`no answer within ${answerMs} ms`));
    watchOldest();
  }

  function ask<T>(redis: Redis, send: (whole: boolean) => Promise<unknown>, read: (answer: unknown) => T): Promise<T> {
    return new Promise((resolve) => {
      const one: Waiting = { since: performance.now(), giveUp: () => resolve(read(undefined)) };
      const settle = (answer: unknown) => waiting.delete(one) && resolve(read(answer));
      const fail = (error: unknown) => lose(redis, error);
      waiting.add(one);
      if (!watching) setTimeout(watchOldest, answerMs).unref();
      watching = true;
      send(false).then(settle, (error: Error) => (error.message.startsWith("NOSCRIPT") ? send(true).then(settle, fail) : fail(error)));
    });
  }

  function run<T>(keys: string[], args: (string | number)[], read: (answer: number[] | undefined) => T): Promise<T> {
    const redis = connection;
    if (redis === undefined) return Promise.resolve(read(undefined));
    const send = (whole: boolean) =>
      whole ? redis.eval(script.text, keys.length, ...keys, ...args) : redis.evalsha(script.sha, keys.length, ...keys, ...args);
    return ask(redis, send, (answer) => read(answer as number[] | undefined));
  }

  function remove(keys: string[]): Promise<number | undefined> {
    const redis = connection;
    if (redis === undefined) return Promise.resolve(undefined);
    return ask(
      redis,
      () => redis.del(...keys),
      (count) => count as number | undefined,
    );
  }

  await join();
  return {
    isUp: () => connection !== undefined,
    run,
    remove,
    close() {
      closed = true;
      clearTimeout(retry);
      for (const one of waiting) one.giveUp();
      waiting.clear();
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
