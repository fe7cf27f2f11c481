import { type Clock } from "../../platform/clock.ts";
import type { Awaitable } from "../../platform/db/database.ts";
import { banScript, knownBans, recordUnban, unbanCall, unbanScript } from "./redis.bans.ts";
import { type Batches, openBatches, type Waiting } from "./redis.batch.ts";
import { readCounts } from "./redis.counts.ts";
import * as ledgers from "./redis.ledger.ts";
import * as links from "./redis.link.ts";
import type { LinkLog, ShardLog } from "./redis.refusals.ts";
import { addScript, limitScript, type Rule, scriptOf } from "./redis.script.ts";
import type { FindServer } from "./redis.server.ts";
import type { Quota } from "./windows.ts";

/** The most keys that one run of `addScript` or `banScript` changes. */
const keysPerScript = 500;
const decideScript = scriptOf(limitScript);
const addFiguresScript = scriptOf(addScript);
const restoreBansScript = scriptOf(banScript);

/** What counts in keys that are on one server: everything, or a sixteenth of the accounts and addresses on a cluster. */
export type Shard = {
  /** The prefix of all keys. */
  prefix: string;
  link: links.Link;
  ledger: ledgers.Ledger;
  batches: Batches;
  /** The rules of requests with secret and with publishable keys. Accounts of a plan share its quota, and so its rules. */
  secretRules: WeakMap<Quota, Rule>;
  publishableRules: WeakMap<Quota, Rule>;
  decidedAlone: number;
  redisClock: Clock | undefined;
};

type ShardOptions = {
  prefix: string;
  findServer: FindServer;
  node: string;
  clock: Clock;
  redisClock: Clock | undefined;
  liveNodes: () => number;
  log: ShardLog;
  answerMs: number;
  /** Shared by the shards of a node. */
  waiting: Waiting;
  /** How many shards a node has. */
  shards: number;
};

export function openShard({ prefix, findServer, node, clock, redisClock, liveNodes, log, answerMs, waiting, shards }: ShardOptions): Shard {
  const reporter = () => (liveNodes() > 1 ? node : "");
  const ledger = ledgers.openLedger(prefix, clock, liveNodes, shards);
  const firstArgs = () => [redisClock?.() ?? "", reporter()];
  const link: links.Link = links.createLink({
    findServer,
    prefix,
    node,
    scripts: [decideScript, addFiguresScript, restoreBansScript],
    liveNodes,
    log,
    answerMs,
    onLost: (wasComplete) => ledgers.beginOutage(ledger, { wasComplete }),
    onConnected: (ran) => ledgers.resolveUnanswered(ledger, ran),
    async restore() {
      for (const group of groupsOf(ledgers.knownFigures(ledger))) if (!(await sendFigures(link, ledger, group, firstArgs()))) return;
      for (const group of groupsOf(knownBans(ledger.bans, ledgers.timeOf(ledger)))) if (!(await sendBans(link, group))) return;
    },
    async add() {
      for (const group of groupsOf(ledgers.takePending(ledger))) if (!(await sendFigures(link, ledger, group, firstArgs()))) return;
    },
    addRest() {
      for (const group of groupsOf(ledgers.takePending(ledger))) void sendFigures(link, ledger, group, firstArgs());
    },
    onReport: (message) => message.startsWith(`${node} `) || ledgers.recordReport(ledger, message),
    onUnban: (message) => recordUnban(ledger.bans, message),
    read: (client, isCurrent) => readCounts(client, ledger, isCurrent),
  });
  const isKnown = (request: ledgers.LimitRequest) => ledgers.hasKnownMeters(ledger, request);
  const batches = openBatches((keys, args) => links.run(link, decideScript, keys, args), isKnown, waiting, redisClock, reporter);
  return { prefix, link, ledger, batches, secretRules: new WeakMap(), publishableRules: new WeakMap(), decidedAlone: 0, redisClock };
}

/**
 * Makes the logs of a node's shards. Together they write one line when a kind of fault begins on the first shard, and one when all shards count together
 * again.
 */
export function shardLogs(log: LinkLog): () => ShardLog {
  const noted = new Set<string>();
  const logged = new Set<string>();
  let away = 0;
  return () => {
    let isAway = false;
    return {
      warn(fields, text) {
        if (!isAway) away += 1;
        isAway = true;
        if (!logged.has(text)) log.warn(fields, text);
        logged.add(text);
      },
      info(fields, text) {
        if (isAway) away -= 1;
        isAway = false;
        if (away > 0) return;
        logged.clear();
        log.info(fields, text);
      },
      note(fields, text) {
        if (!noted.has(text)) log.warn(fields, text);
        noted.add(text);
      },
    };
  };
}

function* groupsOf<T>(items: Iterable<T>): Generator<T[]> {
  let group: T[] = [];
  for (const item of items) {
    if (group.push(item) < keysPerScript) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** Raises counts in Redis, and adds the requests that this node admitted alone. Resolves once Redis has done so or is lost, to whether it has. */
async function sendFigures(
  link: links.Link,
  ledger: ledgers.Ledger,
  group: ledgers.MeterFigures[],
  firstArgs: (string | number)[],
): Promise<boolean> {
  const keys = group.map(({ meter }) => meter.name);
  const { run, answer } = links.run(link, addFiguresScript, keys, [...firstArgs, ...group.flatMap(({ args }) => args)]);
  const putBack = () => group.forEach((one) => one.putBack());
  if ((await answer) !== undefined) return true;
  if (run === 0) putBack();
  else ledgers.addUnanswered(ledger, { run, onNotRun: putBack });
  return false;
}

async function sendBans(link: links.Link, bans: [name: string, since: number, lengthMs: number][]): Promise<boolean> {
  const keys = bans.map(([name]) => name);
  const args = bans.flatMap(([, since, lengthMs]) => [since, lengthMs]);
  return (await links.run(link, restoreBansScript, keys, args).answer) !== undefined;
}

/** Deletes a ban and the strikes of its key, in Redis and in the memory of all nodes. Returns whether there were any; undefined if Redis cannot be reached. */
export async function unbanIn({ link, ledger, prefix, redisClock }: Shard, keyId: number): Promise<boolean | undefined> {
  const { keys, args } = unbanCall(prefix, keyId, redisClock?.());
  const count = await links.runApart(link, unbanScript, keys, args);
  if (count === undefined) return undefined;
  ledger.bans.known.delete(keys[0]!); // the message may arrive later
  return Number(count) > 0;
}

/**
 * Asks Redis to decide a request, or decides alone while Redis cannot be reached.
 *
 * @param read makes the result from the script's answer, in which the figures of this request begin at `offset`
 * @param whenFull makes the result if too many requests wait for Redis, or if this node has just started; `known` is the result from this node's own figures
 */
export function ask<T>(
  shard: Shard,
  request: ledgers.LimitRequest,
  read: (answer: number[], offset: number) => T,
  whenFull: (known: T) => T = (known) => known,
): Awaitable<T> {
  const { link, ledger, batches } = shard;
  const { stage } = link;
  if (link.isNew) return whenFull(read(ledgers.peek(ledger, request), 1));
  if (stage === "away" || stage === "reporting") return read(decideAlone(shard, request, 0), 1);
  if (batches.isFull() && request.rule.kind !== "give-back") return whenFull(read(ledgers.peek(ledger, request), 1));
  if (stage === "joining" && request.rule.isCounting && !ledgers.reserve(ledger, request)) return read(decideAlone(shard, request, 0), 1);
  return batches.ask(request, (answer, offset, run) => {
    if (answer === undefined) return read(decideAlone(shard, request, run), 1);
    ledgers.recordAnswer(ledger, request, answer, offset);
    return read(answer, offset);
  });
}

function decideAlone(shard: Shard, request: ledgers.LimitRequest, run: number): number[] {
  if (request.rule.kind === "give-back") return ledgers.giveBackAlone(shard.ledger, request, run);
  if (request.rule.isCounting) shard.decidedAlone += 1;
  return ledgers.decideAlone(shard.ledger, request, run);
}
