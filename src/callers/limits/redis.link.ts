import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "iovalkey";
import type { ScriptRun } from "./redis.batch.ts";
import {
  fenceKeys,
  fenceScript,
  generationKey,
  heartbeatKeys,
  heartbeatScript,
  reportsChannel,
  runsKey,
  unbansChannel,
} from "./redis.generation.ts";
import { readInfo, tryCounting } from "./redis.probe.ts";
import { isForbidden, isLoss, noteEviction, noteReading, type ShardLog, textOf, withoutArguments } from "./redis.refusals.ts";
import { type Script, scriptOf } from "./redis.script.ts";
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
/** The most heartbeats that it sends while no other node progresses, about five seconds, and in all. */
const [idleHeartbeatsMax, heartbeatsMax] = [100, 2_000];
/** The longest time (ms) that a process which starts waits until it counts together with the others and knows their counts. */
const joinMs = 30_000;
/** How long (ms) reading all counts may keep a process that starts from deciding, and a node that joins again from counting without its share. */
const [firstReadMs, readMs] = [10_000, 1_000];

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
  /** Called with each message about a deleted ban. */
  onUnban: (message: string) => void;
  /** Learns the counts in Redis, once they include those of all nodes. `isCurrent` returns false once the connection is given up. */
  read: (client: Redis, isCurrent: () => boolean) => Promise<void>;
  /** Whether this process has just started, and neither counts with the others nor has found that Redis cannot be reached. It then decides nothing. */
  isNew: boolean;
  /** Whether Redis may refuse part of what the limiter does. The next connection then tries all of it before it counts. */
  isDoubtful: boolean;
  /** Called when `isNew` ends. */
  onJoined: () => void;
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
  /** The run id of the server. */
  runId: string;
  runs: number;
  answered: number;
  dropped?: Promise<void>;
};

/** What each link begins with. */
const initial = {
  connection: undefined,
  stage: "away",
  wasAway: false,
  generation: "",
  attempts: 0,
  last: { number: 0, answered: 0 },
  retry: undefined,
  closed: false,
  eviction: undefined,
  isNew: true,
  isDoubtful: true,
  onJoined: () => undefined,
} satisfies Partial<Link>;

/** Creates a link. `openLink` opens it. */
export function createLink(options: Omit<Link, keyof typeof initial>): Link {
  return { ...options, ...initial };
}

/** Opens a link. Resolves once it counts together with the other nodes and knows their counts, or once it is clear that Redis cannot be reached. */
export async function openLink(link: Link): Promise<void> {
  const joined = new Promise<void>((resolve) => (link.onJoined = resolve));
  void connect(link);
  await Promise.race([joined, sleep(joinMs, undefined, { ref: false })]);
  link.isNew = false;
}

/**
 * Tries to connect once. If that fails, retries in the background until the link is closed. A connection counts as established
 * only after a script has written through it, so a Redis that refuses writes counts as away.
 */
async function connect(link: Link): Promise<void> {
  const number = ++link.attempts;
  let clients: [redis: Redis, reports: Redis];
  try {
    const newClient = await link.findServer();
    clients = [newClient(), newClient()];
  } catch (error) {
    return retryLater(link, error);
  }
  const [redis, reports] = clients;
  let reason: Error | undefined;
  for (const one of clients) one.on("error", (error: Error) => (reason = error));
  let prepared: Awaited<ReturnType<typeof prepare>>;
  try {
    prepared = await prepare(link, number, redis, reports);
  } catch (error) {
    disconnect({ redis, reports });
    return retryLater(link, reason ?? error);
  }
  if (link.closed) return disconnect({ redis, reports });
  if (link.eviction !== prepared.eviction) noteEviction(link.log, (link.eviction = prepared.eviction));
  const { generation, ran, runId, isSettled } = prepared;
  const connection: Connection = { redis, reports, number, generation, runId, runs: 1, answered: 1 };
  link.connection = connection;
  for (const one of clients)
    one.once("close", () => void dropConnection(link, connection, reason ?? new Error("the connection was closed")));
  const unbans = unbansChannel(link.prefix);
  reports.on("message", (channel: string, message: string) => (channel === unbans ? link.onUnban(message) : link.onReport(message)));
  link.last = connection;
  link.onConnected(ran);
  if (link.wasAway) link.stage = "reporting";
  // A process that has just started knows no counts and has admitted nothing.
  else [link.generation, link.stage] = [generation, "joining"];
  void join(link, connection, link.isNew && isSettled);
}

/** Connects both clients, subscribes to the channels, loads the scripts, tries all of them if Redis may refuse some, and runs `fenceScript`. */
async function prepare(link: Link, number: number, redis: Redis, reports: Redis) {
  const { prefix, node, answerMs, scripts, last, generation } = link;
  await withTimeout(connectMs, Promise.all([redis.connect(), reports.connect()]));
  const info = redis.info().catch(() => ""); // a user may lack the permission
  const loaded = [heartbeat, ...scripts].map(({ text }) => redis.script("LOAD", text));
  const subscribed = reports.subscribe(reportsChannel(prefix), unbansChannel(prefix));
  const { runId, eviction } = readInfo((await withTimeout(answerMs, Promise.all([info, subscribed, ...loaded])))[0]);
  if (link.isDoubtful) await withTimeout(answerMs, tryCounting(redis, prefix));
  link.isDoubtful = false;
  const keys = fenceKeys(prefix, node, last.number, number);
  const fenced = redis.eval(fenceScript, keys.length, ...keys, generation, last.answered, randomUUID(), runId);
  const [ran, found, isSettled] = (await withTimeout(answerMs, fenced)) as [ran: string | null, generation: string, isSettled: number];
  return { ran: Number(ran ?? 0), generation: found, isSettled: isSettled === 1, runId, eviction };
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

/** Runs a script that counts nothing, in whichever stage the link is. Resolves to undefined if Redis cannot be reached. Never rejects. */
export function runApart(link: Link, script: string, keys: string[], args: (string | number)[]): Promise<unknown> {
  if (link.connection === undefined) return Promise.resolve(undefined);
  return awaitAnswer(link, link.connection, link.connection.redis.eval(script, keys.length, ...keys, ...args));
}

/** Closes the link. This node then decides the requests that wait for an answer. */
export function closeLink(link: Link): void {
  link.closed = true;
  clearTimeout(link.retry);
  const { connection } = link;
  link.connection = undefined;
  link.stage = "away";
  link.onJoined();
  if (connection) disconnect(connection);
}

/** The heartbeats of a connection: the numbers of the first one of this stage and of the last one, and how many were sent, also without progress of another node. */
type Heartbeats = { first: number | undefined; previous: number; sent: number; idle: number };

/**
 * Takes a connection from stage to stage, and sends heartbeats as long as it lasts. A node sends the first of a stage once it has done its own part,
 * and goes on once every live node has sent one since this connection was established. Without any progress it does so after about five seconds,
 * because a node may be unable to reach Redis.
 *
 * @param isWhole whether the counts in Redis are known to be complete
 */
async function join(link: Link, connection: Connection, isWhole: boolean): Promise<void> {
  const { liveNodes } = link;
  const beats: Heartbeats = { first: undefined, previous: 0, sent: 0, idle: 0 };
  const isCurrent = (): boolean => link.connection === connection;
  if (link.generation !== connection.generation) await showingProgress(link, connection, beats, link.restore());
  if (!isCurrent()) return;
  link.generation = connection.generation;
  let reading: Reading | undefined;
  while (isCurrent()) {
    if (link.stage === "joining") reading ??= startReading(link, connection);
    const answer = await sendHeartbeat(link, connection, beats, stageNumbers[link.stage]);
    if (answer === undefined || !isCurrent()) return;
    const { reported, added } = answer;
    const isLast = isWhole || liveNodes() === 1 || beats.idle > idleHeartbeatsMax || beats.sent > heartbeatsMax;
    const isShared = link.stage === "joining" && (isLast || added >= liveNodes()) && reading?.isEnough() === true;
    if (link.stage === "reporting" && (isLast || reported >= liveNodes())) {
      await showingProgress(link, connection, beats, link.add());
      if (!isCurrent()) return;
      link.addRest();
      link.stage = "joining";
      continue;
    }
    if (isShared) becomeShared(link);
    else await pause(link, reading);
  }
}

/** Waits until the next heartbeat is due. One that shows the other nodes that counts are complete is due at once. */
async function pause({ stage }: Link, reading: Reading | undefined): Promise<void> {
  const time = sleep(stage === "shared" ? heartbeatMs : joiningHeartbeatMs, undefined, { ref: false });
  await (stage === "joining" && reading && !reading.isEnough() ? Promise.race([time, reading.done]) : time);
}

/** The reading of the counts in Redis. `isEnough`: whether it is done or takes long. */
type Reading = { done: Promise<void>; isEnough(): boolean };

function startReading(link: Link, connection: Connection): Reading {
  const start = performance.now();
  let isDone = false;
  const read = link
    .read(connection.redis, () => link.connection === connection)
    .catch((error: unknown) => {
      noteReading(link.log, error);
    });
  return {
    done: read.finally(() => (isDone = true)),
    isEnough: () => isDone || performance.now() - start > (link.isNew ? firstReadMs : readMs),
  };
}

/** Sends a heartbeat and finds out whether the connection for reports works. Resolves to undefined if the connection is lost. */
async function sendHeartbeat(link: Link, connection: Connection, beats: Heartbeats, stage: number) {
  const args = [link.node, beats.previous, beats.first ?? "+inf", stage, connection.runId];
  const sent = run(link, heartbeat, heartbeatKeys(link.prefix), args).answer;
  const [answer, isHeard] = await Promise.all([sent as Promise<unknown>, awaitAnswer(link, connection, connection.reports.ping())]);
  if (answer === undefined || isHeard === undefined) return undefined;
  const [number, reported, added, busy] = answer as [number, number, number, number];
  beats.idle = busy > beats.previous ? 0 : beats.idle + 1;
  beats.sent += 1;
  beats.previous = number;
  if (stage > 0) beats.first ??= number;
  return { reported, added };
}

/** Waits for work of this node, and meanwhile sends heartbeats that let the other nodes wait for it. */
async function showingProgress(link: Link, connection: Connection, beats: Heartbeats, work: Promise<void>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  for (;;) {
    await Promise.race([done, sleep(joiningHeartbeatMs, undefined, { ref: false })]);
    if (isDone || (await sendHeartbeat(link, connection, beats, 0)) === undefined) break;
  }
  await done;
}

function becomeShared(link: Link): void {
  link.stage = "shared";
  link.isNew = false;
  if (link.wasAway) link.log.info({}, "Redis answers again: limits are counted together");
  link.wasAway = false;
  link.onJoined();
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
  if (!isLoss(error)) {
    link.isNew = false;
    link.onJoined();
  }
  if (isForbidden(error)) link.isDoubtful = true;
  link.log.warn({ reason: withoutArguments(String(error)) }, textOf(error));
  const longestMs = link.wasAway ? retryMaxMs : retryFirstMs;
  link.wasAway = true;
  link.retry = setTimeout(() => void connect(link), longestMs * (0.5 + Math.random() / 2)).unref();
}
