import { createHash, randomUUID } from "node:crypto";
import { addressName } from "../../platform/addresses.ts";
import { type Clock, minuteMs, dayMs } from "../../platform/clock.ts";
import type { Awaitable } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";
import { type CountedCaller, dashboardQuota, type Limiter, type StrikeStatus } from "./limits.ts";
import { decidePublishable, publishableShare, visitorQuota } from "./publishable.ts";
import { banName, unbanCall, unbanScript } from "./redis.bans.ts";
import { prefixesOf } from "./redis.generation.ts";
import * as ledgers from "./redis.ledger.ts";
import * as links from "./redis.link.ts";
import type { LinkLog } from "./redis.refusals.ts";
import { type Rule, ruleOf } from "./redis.script.ts";
import { connectMs, serverFinder, withClient } from "./redis.server.ts";
import { ask, openShard, type Shard, shardLogs, unbanIn } from "./redis.shard.ts";
import { parseRedisUrl } from "./redis.url.ts";
import { strikesAllowed } from "./strikes.ts";
import { banned, type Decision, passed, type Quota, refused, unavailable } from "./windows.ts";

/** The longest time (ms) that Redis may take to answer before the node treats it as unreachable (specification 4.7). */
const redisAnswerMs = 500;

/**
 * A limiter that decides nothing before `join` is called. `join` connects; it resolves once this node counts together with the others and knows their
 * counts, or once it is clear that Redis cannot be reached. Call it when `liveNodes` knows the other nodes.
 */
export type RedisLimiter = Limiter & { join(): Promise<void> };

export type RedisLimiterOptions = {
  /** A URL that `parseRedisUrl` takes; never logged. */
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
  log: LinkLog;
  /** The longest time (ms) that Redis may take to answer. Default: 500. */
  answerMs?: number;
};

/**
 * Counts in Redis, together with all nodes that use it. Each request waits for one round trip. While Redis cannot be reached, this
 * node admits its share of the requests that were left (`redis.ledger.ts`), and adds them in Redis later (`addScript`).
 */
export function openRedisLimiter(options: RedisLimiterOptions): RedisLimiter {
  const { url, ca, addressQuota, clock, redisClock, liveNodes = () => 1, answerMs = redisAnswerMs } = options;
  const place = parseRedisUrl(url);
  const [node, waiting, logOf] = [randomUUID(), { count: 0 }, shardLogs(options.log)];
  const [prefixes, findServer] = [prefixesOf(place.kind), serverFinder(place, ca)];
  const common = { node, clock, redisClock, liveNodes, answerMs, waiting, shards: prefixes.length };
  const shards = prefixes.map((prefix) => openShard({ prefix, findServer: findServer(prefix), log: logOf(), ...common }));
  const shardOf = (id: number): Shard => shards[id % shards.length]!;
  const shardOfAddress = (address: string): Shard => (shards.length === 1 ? shards[0]! : shardOf(hashOf(addressName(address))));
  const addressRule = ruleOf("count", 0, limitsOf(addressQuota));
  const addressIn = (shard: Shard, address: string) => countOne(shard, addressMeter(shard.ledger, address), addressQuota, addressRule);
  const memberIn = (shard: Shard, id: number) => countOne(shard, memberMeter(shard.ledger, id), dashboardQuota, dashboardRule);
  const peekIn = (shard: Shard, address: string) => peek(shard, addressMeter(shard.ledger, address), addressQuota);
  return {
    join: async () => void (await Promise.all(shards.map(async ({ link }) => links.openLink(link)))),
    account: (accountId, ...request) => countAccount(shardOf(accountId), accountId, ...request),
    address: (address) => addressIn(shardOfAddress(address), address),
    publishable: (accountId, address, quota) => countPublishable(shardOf(accountId), accountId, address, quota),
    dashboard: (memberId) => memberIn(shardOf(memberId), memberId),
    peekAccount: (accountId, quota) => peek(shardOf(accountId), ledgers.accountMeter(shardOf(accountId).ledger, accountId), quota),
    peekAddress: (address) => peekIn(shardOfAddress(address), address),
    giveBack: (counted, at) => giveBack(shardOf("memberId" in counted ? counted.memberId : counted.accountId), counted, at),
    strikeStatus: (accountId, keyId, quota, makers = []) => strikeStatus(shardOf(accountId), keyId, quota, makers),
    unban: (keyId) => unban(shards, keyId),
    mode: () => (shards.every(({ link }) => link.stage === "shared") ? "shared" : "alone"),
    decidedAlone: () => shards.reduce((sum, { decidedAlone }) => sum + decidedAlone, 0),
    waiting: () => waiting.count,
    mayLoseCounts: () => shards.some(({ link }) => link.eviction !== undefined),
    sweep: () => shards.forEach(({ ledger }) => ledgers.sweepLedger(ledger)),
    close: () => shards.forEach(({ link }) => links.closeLink(link)),
  };
}

/** A number that is the same on every node. */
const hashOf = (text: string): number => createHash("sha1").update(text).digest().readUInt32LE();

function strikeStatus(shard: Shard, keyId: number, quota: Quota, makers: readonly number[]): Awaitable<StrikeStatus> {
  const allowed = strikesAllowed(quota.perMinute);
  const request = { rule: ruleOf("read", allowed, [], makers.length), meters: [], bans: bansOf(shard, keyId, makers) };
  return ask(shard, request, (answer, offset) => strikeStatusOf(answer, offset, allowed));
}

/** Asks every shard, because nothing in the id of a key says which account it belongs to. */
async function unban(shards: Shard[], keyId: number): Promise<boolean> {
  const removed = await Promise.all(shards.map(async (shard) => unbanIn(shard, keyId)));
  if (removed.includes(undefined)) throw unreachable();
  return removed.includes(true);
}

const unreachable = () => new Problem("unavailable", "Redis cannot be reached, so the ban may still be in force. Try again.");

/**
 * Deletes a ban and the strikes of its key, in Redis and in the memory of all nodes, without becoming a node.
 *
 * @throws Problem `unavailable` if Redis cannot be reached
 */
export async function unbanInRedis({ url, ca }: Pick<RedisLimiterOptions, "url" | "ca">, keyId: number): Promise<boolean> {
  const place = parseRedisUrl(url);
  const findServer = serverFinder(place, ca);
  const removed = prefixesOf(place.kind).map(async (prefix) => {
    const newClient = await findServer(prefix)();
    const { keys, args } = unbanCall(prefix, keyId, undefined);
    return Number(
      await withClient(newClient(), connectMs + redisAnswerMs, (client) => client.eval(unbanScript, keys.length, ...keys, ...args)),
    );
  });
  const counts = await Promise.all(removed).catch(() => Promise.reject(unreachable()));
  return counts.some((count) => count > 0);
}

function countAccount(shard: Shard, accountId: number, keyId: number, quota: Quota, makers: readonly number[] = []): Awaitable<Decision> {
  const allowed = strikesAllowed(quota.perMinute);
  const rule = makers.length === 0 ? sharedRule(shard.secretRules, quota, secretRule) : secretRule(quota, makers.length);
  const request = { rule, meters: [ledgers.accountMeter(shard.ledger, accountId)], bans: bansOf(shard, keyId, makers) };
  return ask(shard, request, (answer, offset) => applyVerdict(answer, offset, figures(answer, offset, quota), allowed), unavailable);
}

function secretRule(quota: Quota, otherBans = 0): Rule {
  return ruleOf("count-secret", strikesAllowed(quota.perMinute), limitsOf(quota), otherBans);
}

function countPublishable(shard: Shard, accountId: number, address: string, quota: Quota): Awaitable<Decision> {
  const allowed = strikesAllowed(visitorQuota.perMinute);
  const rule = sharedRule(shard.publishableRules, quota, publishableRule);
  const bans = [`${shard.prefix}visitor-ban:${accountId}:${addressName(address)}`];
  const request = { rule, meters: metersOf(shard.ledger, { accountId, quota, visitor: address }), bans };
  return ask(
    shard,
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
function countOne(shard: Shard, meter: ledgers.Meter, quota: Quota, rule: Rule): Awaitable<Decision> {
  const request = { rule, meters: [meter], bans: [] };
  return ask(shard, request, (answer, offset) => applyVerdict(answer, offset, figures(answer, offset, quota), null), unavailable);
}

const limitsOf = ({ perMinute, perDay }: Quota): number[] => [perMinute, perDay];
const dashboardRule = ruleOf("count", 0, limitsOf(dashboardQuota));

function sharedRule(rules: WeakMap<Quota, Rule>, quota: Quota, make: (quota: Quota) => Rule): Rule {
  let rule = rules.get(quota);
  if (rule === undefined) rules.set(quota, (rule = make(quota)));
  return rule;
}

function peek(shard: Shard, meter: ledgers.Meter, quota: Quota): Awaitable<Decision> {
  const request = { rule: ruleOf("read", 0, limitsOf(quota)), meters: [meter], bans: [] };
  return ask(shard, request, (answer, offset) => figures(answer, offset, quota));
}

function giveBack(shard: Shard, counted: CountedCaller, countedAt: number): Awaitable<Decision> {
  const windows = [Math.floor(countedAt / minuteMs), Math.floor(countedAt / dayMs)];
  const meters = metersOf(shard.ledger, counted);
  const rule = ruleOf(
    "give-back",
    0,
    meters.flatMap(() => windows),
  );
  return ask(shard, { rule, meters, bans: [] }, (answer, offset) => {
    if ("memberId" in counted) return figures(answer, offset, dashboardQuota);
    return counted.visitor === undefined ? figures(answer, offset, counted.quota) : publishableDecision(answer, offset, counted.quota);
  });
}

const bansOf = (shard: Shard, keyId: number, makers: readonly number[]): string[] =>
  [keyId, ...makers].map((id) => banName(shard.prefix, id));

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
