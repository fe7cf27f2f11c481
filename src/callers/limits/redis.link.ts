import { Redis } from "iovalkey";
import { openWaiting } from "./redis.waiting.ts";

/** Time that connecting may take, and the pause before the next try (half of it at random, so that nodes do not come all at once). */
const joinMs = 1_000;
const pauseMs = 400;
export type LinkLog = { info(fields: object, text: string): void; warn(fields: object, text: string): void };
type Script = { text: string; sha: string };

/** A connection to Redis that answers in time or not at all, and comes back by itself. */
export type Link = {
  isUp(): boolean;
  /** The script's answer, or undefined if Redis fails or is late. Never rejects. A script that was late may still have run. */
  run(keys: string[], args: (string | number)[]): Promise<number[] | undefined>;
  remove(keys: string[]): Promise<number | undefined>;
  close(): void;
};

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
  const waiting = openWaiting({ answerMs, silentMs, onSilent: (error) => connection && lose(connection, error) });
  let connection: Redis | undefined;
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
    waiting.decideAll();
    away(error);
  }

  function away(error: unknown): void {
    if (closed) return;
    if (!told) log.warn({ reason: String(error) }, "Redis cannot be reached: this node counts its limits alone until it can");
    told = true;
    retry = setTimeout(() => void join(), pauseMs * (0.5 + Math.random() / 2)).unref();
  }

  function ask<T>(send: (redis: Redis) => Promise<T>): Promise<T | undefined> {
    const redis = connection;
    if (redis === undefined) return Promise.resolve(undefined);
    return waiting.ask(
      () => send(redis),
      (error) => lose(redis, error),
    );
  }

  function run(keys: string[], args: (string | number)[]): Promise<number[] | undefined> {
    return ask((redis) =>
      redis.evalsha(script.sha, keys.length, ...keys, ...args).catch((error: Error) => {
        if (!error.message.startsWith("NOSCRIPT")) throw error;
        return redis.eval(script.text, keys.length, ...keys, ...args);
      }),
    ) as Promise<number[] | undefined>;
  }

  await join();
  return {
    isUp: () => connection !== undefined,
    run,
    remove: (keys) => ask((redis) => redis.del(...keys)),
    close() {
      closed = true;
      clearTimeout(retry);
      waiting.decideAll();
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
