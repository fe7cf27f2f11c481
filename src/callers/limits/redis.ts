import { createHash, randomUUID } from "node:crypto";
import { addressName } from "../../platform/addresses.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Awaitable } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";
import { type Counted, dashboardQuota, type Limiter, type StrikeStatus } from "./limits.ts";
import { decidePublishable, publishableShare, visitorQuota } from "./publishable.ts";
import { type LimitRequest, type Batches, openBatches } from "./redis.batch.ts";
import { addScript } from "./redis.join.ts";
import * as ledgers from "./redis.ledger.ts";
import * as links from "./redis.link.ts";
import { limitScript, prefix } from "./redis.script.ts";
import { strikesAllowed } from "./strikes.ts";
import { banned, dayMs, type Decision, minuteMs, passed, type Quota, refused, unavailable } from "./windows.ts";

/** How long (ms) Redis may take for an answer before it counts as unreachable (specification 4.7). */
const redisAnswerMs = 500;
/** How many meters one script adds requests to, at most. */
const addedMax = 500;
const scriptOf = (text: string) => ({ text, sha: createHash("sha1").update(text).digest("hex") });
const deciding = scriptOf(limitScript);
const adding = scriptOf(addScript);

export type RedisLimiterOptions = {
  /** `redis://` or `rediss://`; never logged. */
  url: string;
  /** With `rediss://`, the authorities (PEM) that Redis' certificate may come from. Default: those of Node. */
  ca?: string | undefined;
  /** The quota of a caller without a valid key. */
  addressQuota: Quota;
  /** The clock while this node counts alone. */
  clock: Clock;
  /** The clock that the script uses instead of Redis' own, so that tests can move the time. */
  redisClock?: Clock;
  /** Returns the number of nodes that count in this Redis, including this one. Default: 1. */
  liveNodes?: () => number;
  log: links.LinkLog;
  /** How long (ms) Redis may take for one answer. Default: 500. */
  answerMs?: number;
};

type State = {
  link: links.Link;
  ledger: ledgers.Ledger;
  batches: Batches;
  decidedAlone: number;
};

/**
 * Counts in Redis, together with all nodes that use the same one: one round trip for each request. While Redis cannot be
 * reached, this node admits its share of the remaining requests (`redis.ledger.ts`), and adds them in Redis later
 * (`redis.join.ts`). Does not fail if Redis is absent: see `mode`.
 */
export async function openRedisLimiter(options: RedisLimiterOptions): Promise<Limiter> {
  const { addressQuota } = options;
  const state = openState(options);
  const { link, ledger, batches } = state;
  await links.connect(link);
  return {
    account: (accountId, keyId, quota) => countAccount(state, accountId, keyId, quota),
    address: (address) => countOne(state, `${prefix}address:${addressName(address)}`, addressQuota),
    publishable: (accountId, address, quota) => countPublishable(state, accountId, address, quota),
    dashboard: (personId) => countOne(state, `${prefix}person:${personId}`, dashboardQuota),
    peekAccount: (accountId, quota) => peek(state, `${prefix}account:${accountId}`, quota),
    peekAddress: (address) => peek(state, `${prefix}address:${addressName(address)}`, addressQuota),
    giveBack: (counted, at) => giveBack(state, counted, at),
    strikeStatus(keyId, quota) {
      const allowed = strikesAllowed(quota.perMinute);
      const asked = { counting: false, allowed, meters: [], limits: [], ...keysOfKey(keyId) };
      return ask(state, asked, (answer, at) => strikeStatusOf(answer, at, allowed));
    },
    async unban(keyId) {
      const { ban, strikes } = keysOfKey(keyId);
      const removed = await links.remove(link, [ban, strikes]);
      if (removed === undefined) throw new Problem("unavailable", "Redis cannot be reached, so the ban may still be in force. Try again.");
      ledger.bans.delete(ban);
      return removed > 0;
    },
    mode: () => (links.stateOf(link) === "shared" ? "shared" : "alone"),
    decidedAlone: () => state.decidedAlone,
    waiting: () => batches.waiting(),
    sweep: () => ledgers.sweepLedger(ledger),
    close: () => links.closeLink(link),
  };
}

function openState({ url, ca, clock, redisClock, liveNodes = () => 1, log, answerMs = redisAnswerMs }: RedisLimiterOptions): State {
  const node = randomUUID();
  const reporter = () => (liveNodes() > 1 ? node : "");
  const ledger = ledgers.openLedger(clock, liveNodes);
  const link = links.createLink({
    url,
    ca,
    node,
    scripts: [deciding, adding],
    liveNodes,
    log,
    answerMs,
    onLost: () => ledgers.beginOutage(ledger),
    onJoined(ran) {
      ledgers.settleScripts(ledger, ran ?? 0);
      sendPending(link, ledger, [redisClock?.() ?? "", reporter()], ran === undefined);
    },
    onReport: (message) => message.startsWith(`${node} `) || ledgers.noteReport(ledger, message),
  });
  const batches = openBatches((keys, args) => links.run(link, deciding, keys, args), redisClock, reporter);
  return { link, ledger, batches, decidedAlone: 0 };
}

/** Adds in Redis what this node admitted alone, before anything else is sent on a connection. */
function sendPending(link: links.Link, ledger: ledgers.Ledger, head: (string | number)[], all: boolean): void {
  const pending = ledgers.takePending(ledger, all);
  for (let i = 0; i < pending.length; i += addedMax) {
    const some = pending.slice(i, i + addedMax);
    const keys = some.map(({ meter }) => meter);
    const args = some.flatMap((one) => one.args);
    const { run, answer } = links.run(link, adding, keys, [...head, ...args]);
    const putBack = () => some.forEach((one) => one.putBack());
    void answer.then((done) => done ?? (run === 0 ? putBack() : ledgers.addUnsettled(ledger, { run, putBack })));
  }
}

/**
 * Asks Redis, or decides alone while it is away.
 *
 * @param read makes the result from the script's answer, in which the figures of this request begin at `at`
 * @param beyond makes the result if too many requests wait for Redis; `known` is the result by the figures that this node knows
 */
function ask<T>(
  state: State,
  asked: LimitRequest,
  read: (answer: number[], at: number) => T,
  beyond: (known: T) => T = (known) => known,
): Awaitable<T> {
  const { link, ledger, batches } = state;
  const linkState = links.stateOf(link);
  if (linkState === "away") return read(decideAlone(state, asked, 0), 1);
  if (batches.isFull() && !asked.givesBack) return beyond(read(ledgers.peek(ledger, asked), 1));
  if (linkState === "joining" && asked.counting && !ledgers.reserve(ledger, asked)) return read(decideAlone(state, asked, 0), 1);
  return batches.ask(asked, (answer, at, run) => {
    if (answer === undefined) return read(decideAlone(state, asked, run), 1);
    ledgers.noteAnswer(ledger, asked, answer, at);
    return read(answer, at);
  });
}

function decideAlone(state: State, asked: LimitRequest, run: number): number[] {
  if (asked.givesBack) return ledgers.giveBackAlone(state.ledger, asked, run);
  if (asked.counting) state.decidedAlone += 1;
  return ledgers.decideAlone(state.ledger, asked, run);
}

function countAccount(state: State, accountId: number, keyId: number, quota: Quota): Awaitable<Decision> {
  const allowed = strikesAllowed(quota.perMinute);
  const limits = [quota.perMinute, quota.perDay];
  const asked = { counting: true, allowed, isSecret: true, meters: metersOf({ accountId, quota }), limits, ...keysOfKey(keyId) };
  return ask(state, asked, (answer, at) => judge(answer, at, figures(answer, at, quota), allowed), unavailable);
}

function countPublishable(state: State, accountId: number, address: string, quota: Quota): Awaitable<Decision> {
  const allowed = strikesAllowed(visitorQuota.perMinute);
  const share = publishableShare(quota);
  const visitor = `${accountId}:${addressName(address)}`;
  const asked = {
    counting: true,
    allowed,
    meters: metersOf({ accountId, quota, visitor: address }),
    limits: [visitorQuota.perMinute, Infinity, share.perMinute, share.perDay, quota.perMinute, quota.perDay],
    ban: `${prefix}visitor-ban:${visitor}`,
    strikes: `${prefix}visitor-strikes:${visitor}`,
  };
  return ask(state, asked, (answer, at) => judge(answer, at, publishableDecision(answer, at, quota), allowed), unavailable);
}

/** Counts a request of a caller with one meter, whose refusals are no strikes. */
function countOne(state: State, meter: string, quota: Quota): Awaitable<Decision> {
  const asked = { counting: true, allowed: 0, meters: [meter], limits: [quota.perMinute, quota.perDay] };
  return ask(state, asked, (answer, at) => judge(answer, at, figures(answer, at, quota), null), unavailable);
}

function peek(state: State, meter: string, quota: Quota): Awaitable<Decision> {
  const asked = { counting: false, allowed: 0, meters: [meter], limits: [quota.perMinute, quota.perDay] };
  return ask(state, asked, (answer, at) => figures(answer, at, quota));
}

function giveBack(state: State, counted: Counted, countedAt: number): Awaitable<Decision> {
  const windows = [Math.floor(countedAt / minuteMs), Math.floor(countedAt / dayMs)];
  const meters = metersOf(counted);
  const asked = { counting: false, givesBack: true, allowed: 0, meters, limits: meters.flatMap(() => windows) };
  return ask(state, asked, (answer, at) => {
    if ("personId" in counted) return figures(answer, at, dashboardQuota);
    return counted.visitor === undefined ? figures(answer, at, counted.quota) : publishableDecision(answer, at, counted.quota);
  });
}

const keysOfKey = (keyId: number) => ({ ban: `${prefix}ban:${keyId}`, strikes: `${prefix}strikes:${keyId}` });

function metersOf(counted: Counted): string[] {
  if ("personId" in counted) return [`${prefix}person:${counted.personId}`];
  const { accountId, visitor } = counted;
  const account = `${prefix}account:${accountId}`;
  if (visitor === undefined) return [account];
  return [`${prefix}visitor:${accountId}:${addressName(visitor)}`, `${prefix}publishable:${accountId}`, account];
}

/** The script's figures of a request, from `at` on: verdict, ms left of the ban, strikes made, then each meter's used minute and day. */
function judge(answer: number[], at: number, decision: Decision, allowed: number | null): Decision {
  const verdict = answer[at];
  if (verdict === 2) return banned(decision, answer[at + 1]!);
  return verdict === 1 ? refused(decision, allowed === null ? null : allowed - answer[at + 2]!) : decision;
}

function figures(answer: number[], at: number, quota: Quota): Decision {
  return passed(answer[0]!, quota.perMinute, answer[at + 3]!, quota.perDay, answer[at + 4]!);
}

function publishableDecision(answer: number[], at: number, quota: Quota): Decision {
  const [visitor = 0, , publishable = 0, publishableDay = 0, minute = 0, day = 0] = answer.slice(at + 3, at + 9);
  return decidePublishable(answer[0]!, quota, { visitor, publishable, publishableDay, minute, day });
}

function strikeStatusOf(answer: number[], at: number, allowed: number): StrikeStatus {
  const [now = 0, leftMs = 0, strikes = 0] = [answer[0], answer[at + 1], answer[at + 2]];
  const bannedUntil = leftMs > 0 ? now + leftMs : undefined;
  return { strikes, strikesRemaining: leftMs > 0 ? 0 : Math.max(0, allowed - strikes), bannedUntil };
}
