import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "iovalkey";
import type { ScriptRun } from "./redis.batch.ts";
import {
  fenceKeys,
  fenceScript,
  generationKey,
  heartbeatKeys,
  heartbeatScript,
  lostError,
  reportsChannel,
  runsKey,
} from "./redis.generation.ts";
import { readInfo } from "./redis.probe.ts";
import { connectMs, type FindServer, withTimeout } from "./redis.server.ts";

/** The longest time (ms) that a lost connection may take to deliver the reports that Redis had sent. */
const drainMs = 100;
/** The longest pause (ms) before the first attempt to connect again. */
const retryFirstMs = 50;
/** The longest pause (ms) before the next attempt. Each pause is 50 to 100 % of it, at random, so that nodes do not all connect at once. */
const retryMaxMs = 400;
/** The time (ms) between heartbeats. They also detect an outage while there are no requests. */
const heartbeatMs = 200;
/** The time (ms) between heartbeats while a node waits for the other nodes. */
const joiningHeartbeatMs = 50;
/** The most heartbeats that it sends meanwhile: about five seconds. */
const heartbeatsMax = 100;

export type LinkLog = { info(fields: object, text: string): void; warn(fields: object, text: string): void };
/** `warn`: an outage begins or goes on. `info`: it has ended. `note`: a warning of another kind. */
export type ShardLog = LinkLog & { note: LinkLog["warn"] };
export type Script = { text: string; sha: string };
export const scriptOf = (text: string): Script => ({ text, sha: createHash("sha1").update(text).digest("hex") });
const heartbeat = scriptOf(heartbeatScript);

/**
 * How far a node has come (decision 0116).
 *   away       no connection
 *   reporting  Redis answers, but its counts may lack requests that it has answered or that other nodes know: the node decides alone
 *   joining    its counts may lack requests that other nodes admitted alone: both Redis and the node's share decide
 *   shared     Redis alone decides
 */
type Stage = "away" | "reporting" | "joining" | "shared";
/** The number of a stage in `heartbeatScript`. */
const stageNumbers = { away: 0, reporting: 1, joining: 2, shared: 3 };

/** A connection to Redis that reconnects when it is lost. Use it through the functions below. */
export type Link = {
  findServer: FindServer;
  /** The prefix of all keys and channels. */
  prefix: string;
  /** The name of this node: random, and different for each process. */
  node: string;
  scripts: Script[];
  liveNodes: () => number;
  /** Gets a line at each failed attempt. */
  log: ShardLog;
  /** The longest time (ms) that Redis may take to answer. After it, Redis counts as unreachable. */
  answerMs: number;
  /**
   * Called when Redis is lost in the stage `joining` or `shared`, before the waiting requests are decided.
   *
   * @param wasShared whether the counts in Redis were complete
   */
  onLost: (wasShared: boolean) => void;
  /** Called with each new connection. `ran`: number of scripts that Redis ran on the previous connection. */
  onConnected: (ran: number) => void;
  /** Raises the counts in Redis to those that this node knows. Called if Redis has lost counts since this was done last. */
  restore: () => Promise<void>;
  /** Adds to the counts in Redis what this node admitted alone. Called once all nodes have restored theirs. */
  add: () => Promise<void>;
  /** Sends what this node admitted alone meanwhile, before anything else is sent. */
  addRest: () => void;
  /** The policy by which Redis may evict counts, if it does. */
  eviction: string | undefined;
  /** Called with each report of another node's figures. */
  onReport: (message: string) => void;
  connection: Connection | undefined;
  stage: Stage;
  wasAway: boolean;
  /** The generation of the counts in Redis that have reached those that this node knows. */
  generation: string;
  /** The number of attempts to connect so far; each connection has the number of its attempt. */
  attempts: number;
  /** The number of the last connection and of the scripts that Redis answered on it; 0 before the first. */
  last: { number: number; answered: number };
  retry: NodeJS.Timeout | undefined;
  closed: boolean;
};

/**
 * `runs` and `answered`: the scripts that were sent on this connection and that Redis answered, `fenceScript` included. `dropped` resolves once the
 * connection is given up.
 */
type Connection = {
  redis: Redis;
  reports: Redis;
  number: number;
  generation: string;
  runs: number;
  answered: number;
  dropped?: Promise<void>;
};

type Initial = Pick<Link, "connection" | "stage" | "wasAway" | "generation" | "attempts" | "last" | "retry" | "closed" | "eviction">;

/** Creates a link. `connect` opens it. */
export function createLink(options: Omit<Link, keyof Initial>): Link {
  return {
    ...options,
    connection: undefined,
    stage: "away",
    wasAway: false,
    generation: "",
    attempts: 0,
    last: { number: 0, answered: 0 },
    retry: undefined,
    closed: false,
    eviction: undefined,
  };
}

/**
 * Tries to connect once. If that fails, retries in the background until the link is closed. A connection counts as established
 * only after a script has written through it, so a Redis that refuses writes counts as away.
 */
export async function connect(link: Link): Promise<void> {
  const { prefix, node, answerMs, scripts, last } = link;
  const number = ++link.attempts;
  let newClient: () => Redis;
  try {
    newClient = await link.findServer();
  } catch (error) {
    return retryLater(link, error);
  }
  const [redis, reports] = [newClient(), newClient()];
  let reason: Error | undefined;
  for (const one of [redis, reports]) one.on("error", (error: Error) => (reason = error));
  let [info, answer]: [string, [ran: string | null, generation: string, isSettled: number]] = ["", [null, "", 0]];
  try {
    await withTimeout(connectMs, Promise.all([redis.connect(), reports.connect()]));
    await withTimeout(answerMs, reports.subscribe(reportsChannel(prefix)));
    await withTimeout(answerMs, Promise.all([heartbeat, ...scripts].map(({ text }) => redis.script("LOAD", text))));
    const keys = fenceKeys(prefix, node, last.number, number);
    const fenced = redis.eval(fenceScript, keys.length, ...keys, link.generation, last.answered, randomUUID());
    answer = (await withTimeout(answerMs, fenced)) as typeof answer;
    info = await withTimeout(
      answerMs,
      redis.info("memory").catch(() => ""), // a user may lack the permission
    );
  } catch (error) {
    disconnect({ redis, reports });
    return retryLater(link, reason ?? error);
  }
  if (link.closed) return disconnect({ redis, reports });
  noteEviction(link, info);
  const [ran, generation, isSettled] = answer;
  const connection: Connection = { redis, reports, number, generation, runs: 1, answered: 1 };
  link.connection = connection;
  for (const one of [redis, reports])
    one.once("close", () => void dropConnection(link, connection, reason ?? new Error("the connection was closed")));
  reports.on("message", (_channel: string, message: string) => link.onReport(message));
  link.last = connection;
  link.onConnected(Number(ran ?? 0));
  if (link.wasAway) link.stage = "reporting";
  // A process that has just started knows no counts and has admitted nothing.
  else [link.generation, link.stage] = [generation, isSettled === 1 || link.liveNodes() === 1 ? "shared" : "joining"];
  void join(link, connection);
}

function noteEviction(link: Link, info: string): void {
  const before = link.eviction;
  link.eviction = readInfo(info).eviction;
  if (link.eviction !== undefined && link.eviction !== before)
    link.log.note(
      { policy: link.eviction },
      "Redis may evict counts, and limits are then counted by shares: set maxmemory-policy to noeviction",
    );
}

/** Runs a script, after its two keys of `guard`. The promise of the answer never rejects. */
export function run(link: Link, script: Script, keys: string[], args: (string | number)[]): ScriptRun {
  const { connection } = link;
  if (connection === undefined) return { run: 0, answer: Promise.resolve(undefined) };
  connection.runs += 1;
  return { run: connection.runs, answer: awaitAnswer(link, connection, evaluate(link, connection, script, keys, args)) };
}

async function evaluate(
  { node, prefix }: Link,
  connection: Connection,
  { text, sha }: Script,
  keys: string[],
  args: (string | number)[],
): Promise<Buffer> {
  const { redis, number, generation, answered } = connection;
  const rest = [keys.length + 2, runsKey(prefix, node, number), generationKey(prefix), ...keys, generation, answered, ...args];
  let answer: unknown;
  try {
    answer = await redis.callBuffer("EVALSHA", [sha, ...rest]);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    answer = await redis.callBuffer("EVAL", [text, ...rest]);
  }
  connection.answered += 1;
  return answer as Buffer;
}

/** Deletes keys. Returns how many existed, or undefined if Redis cannot be reached. Never rejects. */
export function remove(link: Link, keys: string[]): Promise<number | undefined> {
  if (link.connection === undefined) return Promise.resolve(undefined);
  return awaitAnswer(link, link.connection, link.connection.redis.del(...keys));
}

/** Closes the link. This node then decides the requests that wait for an answer. */
export function closeLink(link: Link): void {
  link.closed = true;
  clearTimeout(link.retry);
  const { connection } = link;
  link.connection = undefined;
  link.stage = "away";
  if (connection) disconnect(connection);
}

/**
 * Takes a connection from stage to stage, and sends heartbeats as long as it lasts. A node sends the first of a stage once it has done its own part,
 * and goes on once every live node has sent one since this connection was established. It does so after about five seconds in any
 * case, because a node may be unable to reach Redis.
 */
async function join(link: Link, connection: Connection): Promise<void> {
  const { node, prefix, liveNodes } = link;
  const isCurrent = (): boolean => link.connection === connection;
  if (link.generation !== connection.generation) await link.restore();
  if (!isCurrent()) return;
  link.generation = connection.generation;
  let [first, previous]: (number | undefined)[] = [];
  for (let sent = 1; ; sent++) {
    const args = [node, previous ?? 0, first ?? "+inf", stageNumbers[link.stage]];
    const answer: unknown = await run(link, heartbeat, heartbeatKeys(prefix), args).answer;
    if (answer === undefined || !isCurrent()) return;
    const [number, reported, added] = answer as [number, number, number];
    previous = number;
    first ??= number;
    const isLast = liveNodes() === 1 || sent > heartbeatsMax;
    if (link.stage === "joining" && (isLast || added >= liveNodes())) becomeShared(link);
    if (link.stage === "reporting" && (isLast || reported >= liveNodes())) {
      await link.add();
      if (!isCurrent()) return;
      link.addRest();
      link.stage = "joining";
      if (isLast) becomeShared(link);
    }
    await sleep(link.stage === "shared" ? heartbeatMs : joiningHeartbeatMs, undefined, { ref: false });
    if (!isCurrent()) return;
  }
}

function becomeShared(link: Link): void {
  link.stage = "shared";
  if (link.wasAway) link.log.info({}, "Redis answers again: limits are counted together");
  link.wasAway = false;
}

/** Resolves to the answer. If Redis answers with an error, too late or not at all, drops the connection and resolves to undefined. */
async function awaitAnswer<T>(link: Link, connection: Connection, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await withTimeout(link.answerMs, answer);
  } catch (error) {
    await dropConnection(link, connection, error);
    return undefined;
  }
}

/**
 * Gives a connection up, once the reports that Redis sent before are read: until then the other nodes may know more, and shares would be too large.
 * Requests that arrive meanwhile wait.
 */
function dropConnection(link: Link, connection: Connection, error: unknown): Promise<void> {
  connection.dropped ??= (async () => {
    await Promise.race([connection.reports.ping().catch(() => undefined), sleep(drainMs, undefined, { ref: false })]);
    if (connection !== link.connection) return;
    const { stage } = link;
    link.connection = undefined;
    link.stage = "away";
    if (stage === "shared" || stage === "joining") link.onLost(stage === "shared");
    disconnect(connection);
    retryLater(link, error);
  })();
  return connection.dropped;
}

/** Closes both connections. The client then rejects the commands that wait for an answer. */
function disconnect({ redis, reports }: Pick<Connection, "redis" | "reports">): void {
  redis.disconnect();
  reports.disconnect();
}

function retryLater(link: Link, error: unknown): void {
  if (link.closed) return;
  link.log.warn({ reason: String(error) }, `${textOf(error)}, this node admits its share of each limit`);
  const longestMs = link.wasAway ? retryMaxMs : retryFirstMs;
  link.wasAway = true;
  link.retry = setTimeout(() => void connect(link), longestMs * (0.5 + Math.random() / 2)).unref();
}

/** Returns the beginning of a log line: why Redis does not count, and until when. */
function textOf(error: unknown): string {
  if (!(error instanceof Error) || error.name !== "ReplyError") return "Redis cannot be reached: until it can";
  if (error.message.startsWith(lostError)) return "Redis has lost counts: until all nodes have restored those that they know";
  return "Redis answers, but refuses to count (`petstore doctor` says why): until it does";
}
