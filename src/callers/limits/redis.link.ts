import { connect as connectTcp } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { AbstractConnector, Redis, type RedisOptions } from "iovalkey";
import type { ScriptRun } from "./redis.batch.ts";
import { fenceScript, heartbeatKeys, heartbeatScript, reportsChannel, runsKey } from "./redis.script.ts";

/** The longest time (ms) that connecting may take. */
const connectMs = 1_000;
/** The longest pause (ms) before the next attempt. Each pause is 50 to 100 % of it, at random, so that nodes do not all connect at once. */
const retryMaxMs = 400;
/** The time (ms) between heartbeats. They also detect an outage while there are no requests. */
const heartbeatMs = 200;
/** The most heartbeats that a node sends while it waits for the other nodes: about five seconds. */
const heartbeatsMax = 25;

export type LinkLog = { info(fields: object, text: string): void; warn(fields: object, text: string): void };
type Script = { text: string; sha: string };

/** A connection to Redis that reconnects when it is lost. Use it through the functions below. */
export type Link = {
  url: string;
  ca: string | undefined;
  /** The name of this node: random, and different for each process. */
  node: string;
  scripts: Script[];
  liveNodes: () => number;
  log: LinkLog;
  /** The longest time (ms) that Redis may take to answer. After it, Redis counts as unreachable. */
  answerMs: number;
  /** Called when an outage begins in the state `shared`, before the waiting requests are decided. */
  onLost: () => void;
  /**
   * Called when a connection is established, before anything else is sent on it.
   *
   * @param ran number of scripts that Redis ran on the previous connection; undefined if Redis has lost its data
   */
  onJoined: (ran: number | undefined) => void;
  /** Called with each report of another node's figures. */
  onReport: (message: string) => void;
  connection: Connection | undefined;
  isShared: boolean;
  wasAway: boolean;
  /** The number of attempts to connect so far; each connection has the number of its attempt. */
  attempts: number;
  /** The number of the last connection; 0 before the first. */
  lastNumber: number;
  retry: NodeJS.Timeout | undefined;
  closed: boolean;
};

type Connection = { redis: Redis; reports: Redis; number: number; runs: number };

const initial = { connection: undefined, isShared: false, wasAway: false, attempts: 0, lastNumber: 0, retry: undefined, closed: false };

/** Creates a link. `connect` opens it. */
export function createLink(options: Omit<Link, keyof typeof initial>): Link {
  return { ...options, ...initial };
}

/**
 * `away`: no connection. `joining`: Redis answers, but its counts may lack requests that other nodes admitted alone. `shared`:
 * Redis alone decides.
 */
export function stateOf({ isShared, connection }: Link): "away" | "joining" | "shared" {
  return isShared ? "shared" : connection ? "joining" : "away";
}

/**
 * Tries to connect once. If that fails, retries in the background until the link is closed. A connection counts as established
 * only after a script has written through it, so a Redis that refuses writes counts as away.
 */
export async function connect(link: Link): Promise<void> {
  const { url, ca, node, answerMs, scripts } = link;
  const number = ++link.attempts;
  const options = { ...connectionOptions, ...(ca !== undefined && { tls: { ca } }) };
  const [redis, reports] = [new Redis(url, options), new Redis(url, options)];
  let reason: Error | undefined;
  for (const one of [redis, reports]) one.on("error", (error: Error) => (reason = error));
  let ran: unknown;
  try {
    await withTimeout(connectMs, Promise.all([redis.connect(), reports.connect()]));
    await withTimeout(answerMs, reports.subscribe(reportsChannel));
    await withTimeout(answerMs, Promise.all(scripts.map(({ text }) => redis.script("LOAD", text))));
    ran = await withTimeout(answerMs, redis.eval(fenceScript, 2, runsKey(node, link.lastNumber), runsKey(node, number)));
  } catch (error) {
    disconnect({ redis, reports });
    return retryLater(link, reason ?? error);
  }
  if (link.closed) return disconnect({ redis, reports });
  link.connection = { redis, reports, number, runs: 0 };
  for (const one of [redis, reports])
    one.once("close", () => dropConnection(link, redis, reason ?? new Error("the connection was closed")));
  reports.on("message", (_channel: string, message: string) => link.onReport(message));
  const isFirst = link.lastNumber === 0;
  link.lastNumber = number;
  link.onJoined(isFirst ? 0 : ran === null ? undefined : Number(ran));
  if (!link.wasAway) link.isShared = true;
  void sendHeartbeats(link, redis);
}

/** Runs a script. Its first key is the connection's count of scripts. The promise of the answer never rejects. */
export function run(link: Link, { text, sha }: Script, keys: string[], args: (string | number)[]): ScriptRun {
  const { connection, node } = link;
  if (connection === undefined) return { run: 0, answer: Promise.resolve(undefined) };
  const { redis } = connection;
  const allKeys = [runsKey(node, connection.number), ...keys];
  const answer = redis.callBuffer("EVALSHA", [sha, allKeys.length, ...allKeys, ...args]).catch((error: Error) => {
    if (!error.message.startsWith("NOSCRIPT")) throw error;
    return redis.callBuffer("EVAL", [text, allKeys.length, ...allKeys, ...args]);
  }) as Promise<Buffer>;
  return { run: ++connection.runs, answer: awaitAnswer(link, redis, answer) };
}

/** Deletes keys. Returns how many existed, or undefined if Redis cannot be reached. Never rejects. */
export function remove(link: Link, keys: string[]): Promise<number | undefined> {
  if (link.connection === undefined) return Promise.resolve(undefined);
  const { redis } = link.connection;
  return awaitAnswer(link, redis, redis.del(...keys));
}

/** Closes the link. This node then decides the requests that wait for an answer. */
export function closeLink(link: Link): void {
  link.closed = true;
  clearTimeout(link.retry);
  const { connection } = link;
  link.connection = undefined;
  link.isShared = false;
  if (connection) disconnect(connection);
}

/**
 * Sends heartbeats while there is a connection. A node sends its first heartbeat after it has added the requests that it admitted
 * alone. So once every live node has sent one since this connection was established, the counts in Redis are complete, and the
 * state becomes `shared`. It does so after about five seconds in any case, because a node may be unable to reach Redis.
 */
async function sendHeartbeats(link: Link, redis: Redis): Promise<void> {
  const { node, liveNodes } = link;
  const keys = [...heartbeatKeys, runsKey(node, link.lastNumber)];
  const isCurrent = (): boolean => link.connection?.redis === redis;
  let [first, previous]: (number | undefined)[] = [];
  for (let sent = 1; ; sent++) {
    const heartbeat = redis.eval(heartbeatScript, keys.length, ...keys, node, previous ?? 0, first ?? "+inf") as Promise<[number, number]>;
    const answer = await awaitAnswer(link, redis, heartbeat);
    if (answer === undefined || !isCurrent()) return;
    const [number, nodes] = answer;
    previous = number;
    first ??= number;
    if (!link.isShared && (nodes >= liveNodes() || liveNodes() === 1 || sent > heartbeatsMax)) becomeShared(link);
    await sleep(heartbeatMs, undefined, { ref: false });
    if (!isCurrent()) return;
  }
}

function becomeShared(link: Link): void {
  link.isShared = true;
  link.wasAway = false;
  link.log.info({}, "Redis answers again: limits are counted together");
}

/** Resolves to the answer. If Redis answers with an error, too late or not at all, drops the connection and resolves to undefined. */
async function awaitAnswer<T>(link: Link, redis: Redis, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await withTimeout(link.answerMs, answer);
  } catch (error) {
    dropConnection(link, redis, error);
    return undefined;
  }
}

function dropConnection(link: Link, lost: Redis, error: unknown): void {
  const { connection, isShared } = link;
  if (lost !== connection?.redis) return;
  link.connection = undefined;
  link.isShared = false;
  if (isShared) link.onLost();
  disconnect(connection);
  retryLater(link, error);
}

/** Closes both connections. The client then rejects the commands that wait for an answer. */
function disconnect({ redis, reports }: Pick<Connection, "redis" | "reports">): void {
  redis.disconnect();
  reports.disconnect();
}

function retryLater(link: Link, error: unknown): void {
  if (link.closed) return;
  if (!link.wasAway)
    link.log.warn({ reason: String(error) }, "Redis cannot be reached: until it can, this node admits its share of each limit");
  link.wasAway = true;
  link.retry = setTimeout(() => void connect(link), retryMaxMs * (0.5 + Math.random() / 2)).unref();
}

/**
 * Connects to Redis, with TLS if the URL is `rediss://`. Replaces the client's own connector for two reasons. That one handles
 * only the first error of a socket: a second one, which TLS may raise while it closes, would end the process. And when it
 * disconnects, it waits until Redis closes the connection too, so commands to a Redis that hangs would never be rejected.
 */
export class RedisConnector extends AbstractConnector {
  readonly #options: RedisOptions;

  constructor(options: unknown) {
    super(0);
    this.#options = options as RedisOptions;
  }

  async connect() {
    const { host, port, tls } = this.#options;
    const to = { host: host ?? "localhost", port: Number(port) };
    // `tls` is `true` if only the URL asks for TLS, and an object if there is a `ca`.
    const stream = tls ? connectTls({ ...to, ...tls }) : connectTcp(to);
    stream.on("error", (error) => (this.firstError ??= error));
    this.stream = stream;
    return stream;
  }

  override disconnect(): void {
    this.connecting = false;
    this.stream?.destroy();
  }
}

/** Each attempt is a new connection. The client neither queues commands nor sends them again. */
const connectionOptions = {
  Connector: RedisConnector,
  lazyConnect: true,
  connectTimeout: connectMs,
  retryStrategy: () => null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
};

/** Rejects after `ms`. An answer that arrived while this process was busy still counts, because it is read before `setImmediate` runs. */
async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timeUp = (): void => late.reject(new Error(`no answer within ${ms} ms`));
  const timer = setTimeout(() => setImmediate(timeUp), ms).unref();
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
