import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "iovalkey";
import type { Sent } from "./redis.batch.ts";
import { RedisConnector } from "./redis.connector.ts";
import { beatKeys, beatScript, fenceScript, runsKey } from "./redis.join.ts";
import { reportsChannel } from "./redis.script.ts";
import { openWaiting } from "./redis.waiting.ts";

/** Time that connecting may take, and the pause before the next try (half of it at random, so that nodes do not come all at once). */
const joinMs = 1_000;
const pauseMs = 400;
/** How often (ms) a node beats. A beat also notices that Redis is lost while there are no requests. */
const beatMs = 200;
/** Beats after which a node no longer waits for the others. */
const othersBeatsMax = 25;

export type LinkLog = { info(fields: object, text: string): void; warn(fields: object, text: string): void };
type Script = { text: string; sha: string };

/**
 * `away`: Redis is not asked. `joining`: Redis answers, but other nodes may not have added yet what they admitted without it.
 * `shared`: Redis' answer alone decides.
 */
type LinkState = "away" | "joining" | "shared";

export type Link = {
  state(): LinkState;
  /** Runs a script, with the count of this connection's runs as its first key. The promise of the answer never rejects. */
  run(script: Script, keys: string[], args: (string | number)[]): Sent;
  remove(keys: string[]): Promise<number | undefined>;
  close(): void;
};

export type LinkOptions = {
  url: string;
  ca: string | undefined;
  /** The name of this node: random, and different for each process. */
  node: string;
  scripts: Script[];
  liveNodes: () => number;
  log: LinkLog;
  /** How long Redis may take for one answer; after that it counts as unreachable. */
  answerMs: number;
  /** Called when a `shared` Redis is lost, before the waiting requests are answered. */
  onLost: () => void;
  /**
   * Called when a connection is established, before anything else is sent on it.
   *
   * @param ran number of scripts that the last connection has run; undefined if Redis has lost its data
   */
  onJoined: (ran: number | undefined) => void;
  /** Called with each answer that Redis gave to another node. */
  onReport: (message: string) => void;
};

/**
 * Keeps a connection to Redis. Tries to connect once before it returns, and keeps trying until it is closed. A
 * connection counts as established only after scripts have written on it, so a Redis that refuses writes counts as away.
 */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { url, ca, node, scripts, liveNodes, log, answerMs, onLost, onJoined, onReport } = options;
  const waiting = openWaiting({ answerMs, onLate: (error) => connection && lose(connection.redis, error) });
  let connection: { redis: Redis; reports: Redis; number: number; runs: number } | undefined;
  let isShared = false;
  let wasAway = false;
  let tries = 0;
  let last = 0;
  let retry: NodeJS.Timeout | undefined;
  const redisOptions = { ...connectionOptions, ...(ca !== undefined && { tls: { ca } }) };
  let closed = false;

  async function join(): Promise<void> {
    const number = ++tries;
    const [redis, reports] = [new Redis(url, redisOptions), new Redis(url, redisOptions)];
    let reason: Error | undefined;
    for (const one of [redis, reports]) one.on("error", (error: Error) => (reason = error));
    let ran: unknown;
    try {
      await within(joinMs, Promise.all([redis.connect(), reports.connect()]));
      await within(answerMs, reports.subscribe(reportsChannel));
      await within(answerMs, Promise.all(scripts.map(({ text }) => redis.script("LOAD", text))));
      ran = await within(answerMs, redis.eval(fenceScript, 2, runsKey(node, last), runsKey(node, number)));
    } catch (error) {
      redis.disconnect();
      reports.disconnect();
      return away(reason ?? error);
    }
    if (closed) return (redis.disconnect(), reports.disconnect());
    connection = { redis, reports, number, runs: 0 };
    for (const one of [redis, reports]) one.once("close", () => lose(redis, reason ?? new Error("the connection was closed")));
    reports.on("message", (_channel: string, message: string) => onReport(message));
    const isFirst = last === 0;
    last = number;
    onJoined(isFirst ? 0 : ran === null ? undefined : Number(ran));
    if (!wasAway) isShared = true;
    void beatOn(redis);
  }

  /**
   * Beats while there is a connection. The state becomes `shared` once every live node has beaten since the connection
   * was established: each of them has then added what it admitted without Redis. It waits only a few seconds for a node
   * that cannot reach Redis.
   */
  async function beatOn(redis: Redis): Promise<void> {
    let [first, known]: (number | undefined)[] = [];
    for (let beats = 1; ; beats++) {
      const answer = await beat(redis, [node, known ?? 0, first ?? "+inf"]);
      if (answer === undefined || !isCurrent(redis)) return;
      const [number, nodes] = answer;
      known = number;
      first ??= number;
      if (!isShared && (nodes >= liveNodes() || liveNodes() === 1 || beats > othersBeatsMax)) share();
      await sleep(beatMs, undefined, { ref: false });
      if (!isCurrent(redis)) return;
    }
  }

  const isCurrent = (redis: Redis): boolean => connection?.redis === redis;

  function beat(redis: Redis, args: (string | number)[]): Promise<[number, number] | undefined> {
    const keys = [...beatKeys, runsKey(node, last)];
    const send = () => redis.eval(beatScript, keys.length, ...keys, ...args) as Promise<[number, number]>;
    return waiting.ask(send, (error) => lose(redis, error));
  }

  function share(): void {
    isShared = true;
    wasAway = false;
    log.info({}, "Redis answers again: limits are counted together");
  }

  function lose(lost: Redis, error: unknown): void {
    if (lost !== connection?.redis) return;
    const { redis, reports } = connection;
    connection = undefined;
    if (isShared) onLost();
    isShared = false;
    redis.disconnect();
    reports.disconnect();
    waiting.dropAll();
    away(error);
  }

  function away(error: unknown): void {
    if (closed) return;
    if (!wasAway) log.warn({ reason: String(error) }, "Redis cannot be reached: until it can, this node admits its share of each limit");
    wasAway = true;
    retry = setTimeout(() => void join(), pauseMs * (0.5 + Math.random() / 2)).unref();
  }

  function run({ text, sha }: Script, keys: string[], args: (string | number)[]): Sent {
    if (connection === undefined) return { run: 0, answer: Promise.resolve(undefined) };
    const { redis } = connection;
    const all = [runsKey(node, connection.number), ...keys];
    const send = () =>
      redis.evalsha(sha, all.length, ...all, ...args).catch((error: Error) => {
        if (!error.message.startsWith("NOSCRIPT")) throw error;
        return redis.eval(text, all.length, ...all, ...args);
      }) as Promise<number[]>;
    return { run: ++connection.runs, answer: waiting.ask(send, (error) => lose(redis, error)) };
  }

  function remove(keys: string[]): Promise<number | undefined> {
    if (connection === undefined) return Promise.resolve(undefined);
    const { redis } = connection;
    return waiting.ask(
      () => redis.del(...keys),
      (error) => lose(redis, error),
    );
  }

  await join();
  return {
    state: () => (isShared ? "shared" : connection ? "joining" : "away"),
    run,
    remove,
    close() {
      closed = true;
      clearTimeout(retry);
      const standing = connection;
      connection = undefined;
      isShared = false;
      waiting.dropAll();
      standing?.redis.disconnect();
      standing?.reports.disconnect();
    },
  };
}

/** Each try is a connection of its own; nothing is queued or sent a second time by the client. */
const connectionOptions = {
  Connector: RedisConnector,
  lazyConnect: true,
  connectTimeout: joinMs,
  disconnectTimeout: joinMs,
  retryStrategy: () => null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
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
