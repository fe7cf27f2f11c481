import { randomUUID } from "node:crypto";
import { addressName } from "../../platform/addresses.ts";
import { type Clock, minuteMs, dayMs } from "../../platform/clock.ts";
import type { Awaitable } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";
import { type CountedCaller, dashboardQuota, type Limiter, type StrikeStatus } from "./limits.ts";
import { decidePublishable, publishableShare, visitorQuota } from "./publishable.ts";
import { type Batches, openBatches } from "./redis.batch.ts";
import { singlePrefix } from "./redis.generation.ts";
import * as ledgers from "./redis.ledger.ts";
import * as links from "./redis.link.ts";
import { addScript, banScript, limitScript, type Rule, ruleOf } from "./redis.script.ts";
import { strikesAllowed } from "./strikes.ts";
import { banned, type Decision, passed, type Quota, refused, unavailable } from "./windows.ts";

/** The longest time (ms) that Redis may take to answer before the node treats it as unreachable (specification 4.7). */
const redisAnswerMs = 500;
/** The most keys that one run of `addScript` or `banScript` changes. */
const keysPerScript = 500;
const decideScript = links.scriptOf(limitScript);
const addFiguresScript = links.scriptOf(addScript);
const restoreBansScript = links.scriptOf(banScript);

/** A single server has no slots, so all its keys count as one. */
const onlySlot = () => 0;

export type RedisLimiterOptions = {
  /** `redis://` or `rediss://`; never logged. */
  url: string;
  /** The certificate authorities (PEM) to trust with `rediss://`. Default: Node's. */
  ca?: string | undefined;
  /** The quota of a caller without a valid key. */
  addressQuota: Quota;
  /** The clock that this node uses while it counts alone. */
  clock: Clock;
  /** The clock that scripts use instead of Redis' own, for tests. */
  redisClock?: Clock;
  /** Returns the number of live nodes, including this one. Default: 1. */
  liveNodes?: () => number;
  log: links.LinkLog;
  /** The longest time (ms) that Redis may take to answer. Default: 500. */
  answerMs?: number;
};

type State = {
  /** The prefix of all keys. */
  prefix: string;
  link: links.Link;
  ledger: ledgers.Ledger;
  batches: Batches;
  /** The rules of requests with secret and with publishable keys. Accounts of a plan share its quota, and so its rules. */
  secretRules: WeakMap<Quota, Rule>;
  publishableRules: WeakMap<Quota, Rule>;
  decidedAlone: number;
};

/**
 * Counts in Redis, together with all nodes that use it. Each request waits for one round trip. While Redis cannot be reached, this
 * node admits its share of the requests that were left (`redis.ledger.ts`), and adds them in Redis later (`addScript`).
 * Resolves even if Redis is unreachable: see `mode`.
 */
export async function openRedisLimiter(options: RedisLimiterOptions): Promise<Limiter> {
  const { addressQuota } = options;
  const addressRule = ruleOf("count", 0, limitsOf(addressQuota));
  const state = openState(options);
  const { link, ledger, batches } = state;
  await links.connect(link);
  return {
    account: (...request) => countAccount(state, ...request),
    address: (address) => countOne(state, addressMeter(ledger, address), addressQuota, addressRule),
    publishable: (accountId, address, quota) => countPublishable(state, accountId, address, quota),
    dashboard: (memberId) => countOne(state, memberMeter(ledger, memberId), dashboardQuota, dashboardRule),
    peekAccount: (accountId, quota) => peek(state, ledgers.accountMeter(ledger, accountId), quota),
    peekAddress: (address) => peek(state, addressMeter(ledger, address), addressQuota),
    giveBack: (counted, at) => giveBack(state, counted, at),
    strikeStatus(keyId, quota, makers = []) {
      const allowed = strikesAllowed(quota.perMinute);
      const request = { rule: ruleOf("read", allowed, [], makers.length), meters: [], bans: bansOf(state, keyId, makers) };
      return ask(state, request, (answer, offset) => strikeStatusOf(answer, offset, allowed));
    },
    async unban(keyId) {
      const ban = banOf(state, keyId);
      const removed = await links.remove(link, [ban, `${state.prefix}strikes:${keyId}`]);
      if (removed === undefined) throw new Problem("unavailable", "Redis cannot be reached, so the ban may still be in force. Try again.");
      ledger.bans.delete(ban);
      return removed > 0;
    },
    mode: () => (link.stage === "shared" ? "shared" : "alone"),
    decidedAlone: () => state.decidedAlone,
    waiting: () => batches.waiting(),
    sweep: () => ledgers.sweepLedger(ledger),
    close: () => links.closeLink(link),
  };
}

function openState({ url, ca, clock, redisClock, liveNodes = () => 1, log, answerMs = redisAnswerMs }: RedisLimiterOptions): State {
  const [node, prefix] = [randomUUID(), singlePrefix];
  const reporter = () => (liveNodes() > 1 ? node : "");
  const ledger = ledgers.openLedger(prefix, clock, liveNodes);
  const firstArgs = () => [redisClock?.() ?? "", reporter()];
  const link: links.Link = links.createLink({
    url,
    ca,
    prefix,
    node,
    scripts: [decideScript, addFiguresScript, restoreBansScript],
    liveNodes,
    log,
    answerMs,
    onLost: (wasComplete) => ledgers.beginOutage(ledger, { wasComplete }),
    onConnected: (ran) => ledgers.resolveUnanswered(ledger, ran),
    async restore() {
      for (const group of groupsOf(ledgers.knownFigures(ledger))) await sendFigures(link, ledger, group, firstArgs());
      for (const group of groupsOf(ledgers.knownBans(ledger))) await sendBans(link, group);
    },
    async add() {
      for (const group of groupsOf(ledgers.takePending(ledger))) await sendFigures(link, ledger, group, firstArgs());
    },
    addRest() {
      for (const group of groupsOf(ledgers.takePending(ledger))) void sendFigures(link, ledger, group, firstArgs());
    },
    onReport: (message) => message.startsWith(`${node} `) || ledgers.recordReport(ledger, message),
  });
  const isKnown = (request: ledgers.LimitRequest) => ledgers.hasKnownMeters(ledger, request);
  const batches = openBatches((keys, args) => links.run(link, decideScript, keys, args), isKnown, onlySlot, redisClock, reporter);
  return { prefix, link, ledger, batches, secretRules: new WeakMap(), publishableRules: new WeakMap(), decidedAlone: 0 };
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

/** Raises counts in Redis, and adds the requests that this node admitted alone. Resolves once Redis has done so or is lost. */
async function sendFigures(
  link: links.Link,
  ledger: ledgers.Ledger,
  group: ledgers.MeterFigures[],
  firstArgs: (string | number)[],
): Promise<void> {
  const keys = group.map(({ meter }) => meter.name);
  const { run, answer } = links.run(link, addFiguresScript, keys, [...firstArgs, ...group.flatMap(({ args }) => args)]);
  const putBack = () => group.forEach((one) => one.putBack());
  if ((await answer) !== undefined) return;
  if (run === 0) putBack();
  else ledgers.addUnanswered(ledger, { run, onNotRun: putBack });
}

async function sendBans(link: links.Link, bans: [name: string, since: number, lengthMs: number][]): Promise<void> {
  const keys = bans.map(([name]) => name);
  await links.run(
    link,
    restoreBansScript,
    keys,
    bans.flatMap(([, since, lengthMs]) => [since, lengthMs]),
  ).answer;
}

/**
 * Asks Redis to decide a request, or decides alone while Redis cannot be reached.
 *
 * @param read makes the result from the script's answer, in which the figures of this request begin at `offset`
 * @param whenFull makes the result if too many requests wait for Redis; `known` is the result from this node's own figures
 */
function ask<T>(
  state: State,
  request: ledgers.LimitRequest,
  read: (answer: number[], offset: number) => T,
  whenFull: (known: T) => T = (known) => known,
): Awaitable<T> {
  const { link, ledger, batches } = state;
  const { stage } = link;
  if (stage === "away" || stage === "reporting") return read(decideAlone(state, request, 0), 1);
  if (batches.isFull() && request.rule.kind !== "give-back") return whenFull(read(ledgers.peek(ledger, request), 1));
  if (stage === "joining" && request.rule.isCounting && !ledgers.reserve(ledger, request)) return read(decideAlone(state, request, 0), 1);
  return batches.ask(request, (answer, offset, run) => {
    if (answer === undefined) return read(decideAlone(state, request, run), 1);
    ledgers.recordAnswer(ledger, request, answer, offset);
    return read(answer, offset);
  });
}

function decideAlone(state: State, request: ledgers.LimitRequest, run: number): number[] {
  if (request.rule.kind === "give-back") return ledgers.giveBackAlone(state.ledger, request, run);
  if (request.rule.isCounting) state.decidedAlone += 1;
  return ledgers.decideAlone(state.ledger, request, run);
}

function countAccount(state: State, accountId: number, keyId: number, quota: Quota, makers: readonly number[] = []): Awaitable<Decision> {
  const allowed = strikesAllowed(quota.perMinute);
  const rule = makers.length === 0 ? sharedRule(state.secretRules, quota, secretRule) : secretRule(quota, makers.length);
  const request = { rule, meters: [ledgers.accountMeter(state.ledger, accountId)], bans: bansOf(state, keyId, makers) };
  return ask(state, request, (answer, offset) => applyVerdict(answer, offset, figures(answer, offset, quota), allowed), unavailable);
}

function secretRule(quota: Quota, otherBans = 0): Rule {
  return ruleOf("count-secret", strikesAllowed(quota.perMinute), limitsOf(quota), otherBans);
}

function countPublishable(state: State, accountId: number, address: string, quota: Quota): Awaitable<Decision> {
  const allowed = strikesAllowed(visitorQuota.perMinute);
  const rule = sharedRule(state.publishableRules, quota, publishableRule);
  const bans = [`${state.prefix}visitor-ban:${accountId}:${addressName(address)}`];
  const request = { rule, meters: metersOf(state.ledger, { accountId, quota, visitor: address }), bans };
  return ask(
    state,
    request,
    (answer, offset) => applyVerdict(answer, offset, publishableDecision(answer, offset, quota), allowed),
    unavailable,
  );
}

function publishableRule(quota: Quota): Rule {
  const limits = [visitorQuota, publishableShare(quota), quota].flatMap(limitsOf);
  return ruleOf("count", strikesAllowed(visitorQuota.perMinute), limits);
}

/** Counts a request of an address or a member: one meter, and no strikes. */
function countOne(state: State, meter: ledgers.Meter, quota: Quota, rule: Rule): Awaitable<Decision> {
  const request = { rule, meters: [meter], bans: [] };
  return ask(state, request, (answer, offset) => applyVerdict(answer, offset, figures(answer, offset, quota), null), unavailable);
}

const limitsOf = ({ perMinute, perDay }: Quota): number[] => [perMinute, perDay];
const dashboardRule = ruleOf("count", 0, limitsOf(dashboardQuota));

function sharedRule(rules: WeakMap<Quota, Rule>, quota: Quota, make: (quota: Quota) => Rule): Rule {
  let rule = rules.get(quota);
  if (rule === undefined) rules.set(quota, (rule = make(quota)));
  return rule;
}

function peek(state: State, meter: ledgers.Meter, quota: Quota): Awaitable<Decision> {
  const request = { rule: ruleOf("read", 0, limitsOf(quota)), meters: [meter], bans: [] };
  return ask(state, request, (answer, offset) => figures(answer, offset, quota));
}

function giveBack(state: State, counted: CountedCaller, countedAt: number): Awaitable<Decision> {
  const windows = [Math.floor(countedAt / minuteMs), Math.floor(countedAt / dayMs)];
  const meters = metersOf(state.ledger, counted);
  const rule = ruleOf(
    "give-back",
    0,
    meters.flatMap(() => windows),
  );
  return ask(state, { rule, meters, bans: [] }, (answer, offset) => {
    if ("memberId" in counted) return figures(answer, offset, dashboardQuota);
    return counted.visitor === undefined ? figures(answer, offset, counted.quota) : publishableDecision(answer, offset, counted.quota);
  });
}

const banOf = ({ prefix }: State, keyId: number): string => `${prefix}ban:${keyId}`;
const bansOf = (state: State, keyId: number, makers: readonly number[]): string[] => [keyId, ...makers].map((id) => banOf(state, id));

const addressMeter = (ledger: ledgers.Ledger, address: string) => ledgers.otherMeter(ledger, `address:${addressName(address)}`);
const memberMeter = (ledger: ledgers.Ledger, memberId: number) => ledgers.otherMeter(ledger, `person:${memberId}`);

function metersOf(ledger: ledgers.Ledger, counted: CountedCaller): ledgers.Meter[] {
  if ("memberId" in counted) return [memberMeter(ledger, counted.memberId)];
  const { accountId, visitor } = counted;
  const account = ledgers.accountMeter(ledger, accountId);
  if (visitor === undefined) return [account];
  const visitorMeter = ledgers.otherMeter(ledger, `visitor:${accountId}:${addressName(visitor)}`);
  return [visitorMeter, ledgers.otherMeter(ledger, `publishable:${accountId}`), account];
}

/** Applies the verdict in an answer. `limitScript` describes the figures that begin at `offset`. */
function applyVerdict(answer: number[], offset: number, decision: Decision, allowed: number | null): Decision {
  const verdict = answer[offset];
  if (verdict === 2) return banned(decision, answer[offset + 1]!);
  return verdict === 1 ? refused(decision, allowed === null ? null : allowed - answer[offset + 2]!) : decision;
}

function figures(answer: number[], offset: number, quota: Quota): Decision {
  return passed(answer[0]!, quota.perMinute, answer[offset + 3]!, quota.perDay, answer[offset + 4]!);
}

function publishableDecision(answer: number[], offset: number, quota: Quota): Decision {
  const [visitor = 0, , publishable = 0, publishableDay = 0, minute = 0, day = 0] = answer.slice(offset + 3, offset + 9);
  return decidePublishable(answer[0]!, quota, { visitor, publishable, publishableDay, minute, day });
}

function strikeStatusOf(answer: number[], offset: number, allowed: number): StrikeStatus {
  const [now = 0, leftMs = 0, strikes = 0] = [answer[0], answer[offset + 1], answer[offset + 2]];
  const bannedUntil = leftMs > 0 ? now + leftMs : undefined;
  return { strikes, strikesRemaining: leftMs > 0 ? 0 : Math.max(0, allowed - strikes), bannedUntil };
}
