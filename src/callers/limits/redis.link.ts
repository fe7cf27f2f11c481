import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "iovalkey";
import type { Sent } from "./redis.batch.ts";
import { RedisConnector } from "./redis.connector.ts";
import { fenceScript, heartbeatKeys, heartbeatScript, runsKey } from "./redis.join.ts";
import { reportsChannel } from "./redis.script.ts";

/** The time to connect. */
const joinMs = 1_000;
/** The longest pause before the next try. Half of it is random, so that the nodes do not all connect at once. */
const pauseMs = 400;
/** How often (ms) a node sends a heartbeat. Heartbeats also show that Redis is lost while there are no requests. */
const heartbeatMs = 200;
/** Heartbeats after which a node no longer waits for the other nodes. */
const othersHeartbeatsMax = 25;

export type LinkLog = { info(fields: object, text: string): void; warn(fields: object, text: string): void };
type Script = { text: string; sha: string };

type LinkOptions = {
  url: string;
  ca: string | undefined;
  /** The name of this node: random, and different for each process. */
  node: string;
  scripts: Script[];
  liveNodes: () => number;
  log: LinkLog;
  /** The time (ms) that Redis has for an answer. After that it counts as unreachable. */
  answerMs: number;
  /** Called when Redis is lost in the state `shared`, before the waiting requests are decided. */
  onLost: () => void;
  /**
   * Called when a connection is established, before anything else is sent on it.
   *
   * @param ran number of scripts that Redis has run on the last connection; undefined if Redis has lost its data
   */
  onJoined: (ran: number | undefined) => void;
  /** Called with each report of another node's figures. */
  onReport: (message: string) => void;
};

type Connection = { redis: Redis; reports: Redis; number: number; runs: number };

/** A connection to Redis that is opened again whenever it is lost. Use it through the functions below. */
export type Link = LinkOptions & {
  connection: Connection | undefined;
  isShared: boolean;
  wasAway: boolean;
  /** The number of the last try to connect, and of the last connection. */
  tries: number;
  last: number;
  retry: NodeJS.Timeout | undefined;
  closed: boolean;
};

/** Makes a link. `connect` opens it. */
export function createLink(options: LinkOptions): Link {
  const initial = { connection: undefined, isShared: false, wasAway: false, tries: 0, last: 0, retry: undefined, closed: false };
  return { ...options, ...initial };
}

/**
 * `away`: no connection. `joining`: Redis answers, but other nodes may not have added the requests that they admitted without
 * it. `shared`: Redis' answer alone decides.
 */
export function stateOf({ isShared, connection }: Link): "away" | "joining" | "shared" {
  return isShared ? "shared" : connection ? "joining" : "away";
}

/**
 * Tries once to connect, and keeps trying in the background if that fails, until the link is closed. A connection counts as
 * established only after a script has written through it, so a Redis that refuses writes counts as away.
 */
export async function connect(link: Link): Promise<void> {
  const { url, ca, node, answerMs, scripts } = link;
  const number = ++link.tries;
  const options = { ...connectionOptions, ...(ca !== undefined && { tls: { ca } }) };
  const [redis, reports] = [new Redis(url, options), new Redis(url, options)];
  let reason: Error | undefined;
  for (const one of [redis, reports]) one.on("error", (error: Error) => (reason = error));
  let ran: unknown;
  try {
    await within(joinMs, Promise.all([redis.connect(), reports.connect()]));
    await within(answerMs, reports.subscribe(reportsChannel));
    await within(answerMs, Promise.all(scripts.map(({ text }) => redis.script("LOAD", text))));
    ran = await within(answerMs, redis.eval(fenceScript, 2, runsKey(node, link.last), runsKey(node, number)));
  } catch (error) {
    disconnect({ redis, reports });
    return retryLater(link, reason ?? error);
  }
  if (link.closed) return disconnect({ redis, reports });
  link.connection = { redis, reports, number, runs: 0 };
  for (const one of [redis, reports]) one.once("close", () => lose(link, redis, reason ?? new Error("the connection was closed")));
  reports.on("message", (_channel: string, message: string) => link.onReport(message));
  const isFirst = link.last === 0;
  link.last = number;
  link.onJoined(isFirst ? 0 : ran === null ? undefined : Number(ran));
  if (!link.wasAway) link.isShared = true;
  void sendHeartbeats(link, redis);
}

/** Runs a script, with the count of this connection's runs as its first key. The promise of the answer never rejects. */
export function run(link: Link, { text, sha }: Script, keys: string[], args: (string | number)[]): Sent {
  const { connection, node } = link;
  if (connection === undefined) return { run: 0, answer: Promise.resolve(undefined) };
  const { redis } = connection;
  const all = [runsKey(node, connection.number), ...keys];
  const answer = redis.evalsha(sha, all.length, ...all, ...args).catch((error: Error) => {
    if (!error.message.startsWith("NOSCRIPT")) throw error;
    return redis.eval(text, all.length, ...all, ...args);
  }) as Promise<number[]>;
  return { run: ++connection.runs, answer: answerOf(link, redis, answer) };
}

/** Deletes keys. Returns how many there were, or undefined if Redis cannot be reached. Never rejects. */
export function remove(link: Link, keys: string[]): Promise<number | undefined> {
  if (link.connection === undefined) return Promise.resolve(undefined);
  const { redis } = link.connection;
  return answerOf(link, redis, redis.del(...keys));
}

/** Closes the link. This node decides the requests that wait for an answer. */
export function closeLink(link: Link): void {
  link.closed = true;
  clearTimeout(link.retry);
  const { connection } = link;
  link.connection = undefined;
  link.isShared = false;
  if (connection) disconnect(connection);
}

/**
 * Sends heartbeats while there is a connection. The state becomes `shared` once every live node has sent one since the
 * connection was established: each of them has then added the requests that it admitted without Redis. Waits only a few
 * seconds for a node that cannot reach Redis.
 */
async function sendHeartbeats(link: Link, redis: Redis): Promise<void> {
  const { node, liveNodes } = link;
  const keys = [...heartbeatKeys, runsKey(node, link.last)];
  const isCurrent = (): boolean => link.connection?.redis === redis;
  let [first, known]: (number | undefined)[] = [];
  for (let sent = 1; ; sent++) {
    const heartbeat = redis.eval(heartbeatScript, keys.length, ...keys, node, known ?? 0, first ?? "+inf") as Promise<[number, number]>;
    const answer = await answerOf(link, redis, heartbeat);
    if (answer === undefined || !isCurrent()) return;
    const [number, nodes] = answer;
    known = number;
    first ??= number;
    if (!link.isShared && (nodes >= liveNodes() || liveNodes() === 1 || sent > othersHeartbeatsMax)) becomeShared(link);
    await sleep(heartbeatMs, undefined, { ref: false });
    if (!isCurrent()) return;
  }
}

function becomeShared(link: Link): void {
  link.isShared = true;
  link.wasAway = false;
  link.log.info({}, "Redis answers again: limits are counted together");
}

/** Resolves to the answer. If Redis fails, answers too late or is lost, gives up the connection and resolves to undefined. */
async function answerOf<T>(link: Link, redis: Redis, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await within(link.answerMs, answer);
  } catch (error) {
    lose(link, redis, error);
    return undefined;
  }
}

function lose(link: Link, lost: Redis, error: unknown): void {
  const { connection, isShared } = link;
  if (lost !== connection?.redis) return;
  link.connection = undefined;
  link.isShared = false;
  if (isShared) link.onLost();
  disconnect(connection);
  retryLater(link, error);
}

/** Ends both connections; the client then rejects the commands that wait for an answer. */
function disconnect({ redis, reports }: Pick<Connection, "redis" | "reports">): void {
  redis.disconnect();
  reports.disconnect();
}

function retryLater(link: Link, error: unknown): void {
  if (link.closed) return;
  if (!link.wasAway)
    link.log.warn({ reason: String(error) }, "Redis cannot be reached: until it can, this node admits its share of each limit");
  link.wasAway = true;
  link.retry = setTimeout(() => void connect(link), pauseMs * (0.5 + Math.random() / 2)).unref();
}

/** Each try is a new connection. The client neither queues commands nor sends them a second time. */
const connectionOptions = {
  Connector: RedisConnector,
  lazyConnect: true,
  connectTimeout: joinMs,
  retryStrategy: () => null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
};

/** Rejects when time is up. An answer that arrived while this process was busy still counts: it is read before `setImmediate` runs. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timeUp = (): void => late.reject(new Error(`no answer within ${ms} ms`));
  const timer = setTimeout(() => setImmediate(timeUp), ms).unref();
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
