import { createHash, randomUUID } from "node:crypto";
import { addressName } from "../../platform/addresses.ts";
import type { Clock } from "../../platform/clock.ts";
import { Problem } from "../../platform/problem.ts";
import { type Awaitable, type Counted, dashboardQuota, type Limiter, type StrikeStatus } from "./limits.ts";
import { fullest, publishableShare, visitorQuota } from "./publishable.ts";
import { type Asked, openBatches } from "./redis.batch.ts";
import { addScript } from "./redis.join.ts";
import { openLedger, type Ledger } from "./redis.ledger.ts";
import { type Link, type LinkLog, openLink } from "./redis.link.ts";
import { limitScript, prefix } from "./redis.script.ts";
import { strikesAllowed } from "./strikes.ts";
import { banned, dayMs, type Decision, minuteMs, passed, type Quota, refused, unavailable } from "./windows.ts";

/** How long Redis may take for an answer before it counts as unreachable (decisions, part 4). */
const redisAnswerMs = 500;
/** Meters that one script adds to. */
const addedMax = 500;
const scriptOf = (text: string) => ({ text, sha: createHash("sha1").update(text).digest("hex") });
const deciding = scriptOf(limitScript);
const adding = scriptOf(addScript);

export type RedisLimiterOptions = {
  /** `redis://` or `rediss://`; never logged. */
  url: string;
  /** With `rediss://`, the authorities (PEM) that Redis' certificate may come from. Default: those of Node. */
  ca?: string | undefined;
  /** What a caller without a valid key has. */
  addressQuota: Quota;
  /** Tells the time while this node counts alone. */
  clock: Clock;
  /** Tells the time to Redis too, instead of its own clock: lets tests move it. */
  redisClock?: Clock;
  /** Returns the number of nodes that count in this Redis, including this one. Default: 1. */
  liveNodes?: () => number;
  log: LinkLog;
  /** How long Redis may take for one answer. Default: 500 ms. */
  answerMs?: number;
};

/**
 * Counts in Redis, together with all nodes that use the same one: one round trip for each request. While Redis cannot be
 * reached, this node admits its share of the remaining requests (`redis.ledger.ts`), and adds them in Redis later
 * (`redis.join.ts`). Does not fail if Redis is absent: see `mode`.
 */
export async function openRedisLimiter(options: RedisLimiterOptions): Promise<Limiter> {
  const { url, ca, addressQuota, clock, redisClock, liveNodes = () => 1, log, answerMs = redisAnswerMs } = options;
  const node = randomUUID();
  const teller = () => (liveNodes() > 1 ? node : "");
  const ledger = openLedger({ clock, liveNodes });
  let decidedAlone = 0;
  const link: Link = await openLink({
    url,
    ca,
    node,
    scripts: [deciding, adding],
    liveNodes,
    log,
    answerMs,
    onLost: () => ledger.beginOutage(),
    onJoined(ran) {
      ledger.settle(ran ?? 0);
      // `openLink` may call this before it returns, when there is nothing to add yet.
      if (decidedAlone > 0 || ran === undefined) add(link, ledger, [redisClock?.() ?? "", teller()], ran === undefined);
    },
    onReport: (message) => message.startsWith(`${node} `) || ledger.hear(message),
  });
  const batches = openBatches((keys, args) => link.run(deciding, keys, args), redisClock, teller);

  function alone(asked: Asked, run: number): number[] {
    if (asked.givesBack) return ledger.giveBack(asked, run);
    if (asked.counting) decidedAlone += 1;
    return ledger.decide(asked, run);
  }

  function ask<T>(asked: Asked, read: (answer: number[], at: number) => T, beyond: (known: T) => T = (known) => known): Awaitable<T> {
    const state = link.state();
    if (state === "away") return read(alone(asked, 0), 1);
    if (batches.isFull() && !asked.givesBack) return beyond(read(ledger.look(asked), 1));
    if (state === "joining" && asked.counting && !ledger.reserve(asked)) return read(alone(asked, 0), 1);
    return batches.ask(asked, (answer, at, run) => {
      if (answer === undefined) return read(alone(asked, run), 1);
      ledger.note(asked, answer, at);
      return read(answer, at);
    });
  }

  function countOne(meter: string, quota: Quota): Awaitable<Decision> {
    const asked = { counting: true, allowed: 0, meters: [meter], limits: [quota.perMinute, quota.perDay] };
    return ask(asked, (answer, at) => judge(answer, at, figures(answer, at, quota), null), unavailable);
  }

  function peek(meter: string, quota: Quota): Awaitable<Decision> {
    const asked = { counting: false, allowed: 0, meters: [meter], limits: [quota.perMinute, quota.perDay] };
    return ask(asked, (answer, at) => figures(answer, at, quota));
  }

  return {
    account(accountId, keyId, quota) {
      const allowed = strikesAllowed(quota.perMinute);
      const asked = {
        counting: true,
        allowed,
        isSecret: true,
        meters: metersOf({ accountId, quota }),
        limits: [quota.perMinute, quota.perDay],
        ban: `${prefix}ban:${keyId}`,
        strikes: `${prefix}strikes:${keyId}`,
      };
      return ask(asked, (answer, at) => judge(answer, at, figures(answer, at, quota), allowed), unavailable);
    },
    address: (address) => countOne(`${prefix}address:${addressName(address)}`, addressQuota),
    publishable(accountId, address, quota) {
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
      return ask(asked, (answer, at) => judge(answer, at, fullestOf(answer, at, quota), allowed), unavailable);
    },
    dashboard: (personId) => countOne(`${prefix}person:${personId}`, dashboardQuota),
    peekAccount: (accountId, quota) => peek(`${prefix}account:${accountId}`, quota),
    peekAddress: (address) => peek(`${prefix}address:${addressName(address)}`, addressQuota),
    giveBack(counted, countedAt) {
      const windows = [Math.floor(countedAt / minuteMs), Math.floor(countedAt / dayMs)];
      const meters = metersOf(counted);
      const asked = { counting: false, givesBack: true, allowed: 0, meters, limits: meters.flatMap(() => windows) };
      return ask(asked, (answer, at) => {
        if ("personId" in counted) return figures(answer, at, dashboardQuota);
        return counted.visitor === undefined ? figures(answer, at, counted.quota) : fullestOf(answer, at, counted.quota);
      });
    },
    strikeStatus(keyId, quota) {
      const allowed = strikesAllowed(quota.perMinute);
      const keys = { ban: `${prefix}ban:${keyId}`, strikes: `${prefix}strikes:${keyId}` };
      return ask({ counting: false, allowed, meters: [], limits: [], ...keys }, (answer, at) => strikeStatusOf(answer, at, allowed));
    },
    async unban(keyId) {
      const ban = `${prefix}ban:${keyId}`;
      const removed = await link.remove([ban, `${prefix}strikes:${keyId}`]);
      if (removed === undefined) throw new Problem("unavailable", "Redis cannot be reached, so the ban may still be in force. Try again.");
      ledger.unban(ban);
      return removed > 0;
    },
    mode: () => (link.state() === "shared" ? "shared" : "alone"),
    decidedAlone: () => decidedAlone,
    waiting: () => batches.waiting(),
    sweep: () => ledger.sweep(),
    close: () => link.close(),
  };
}

function metersOf(counted: Counted): string[] {
  if ("personId" in counted) return [`${prefix}person:${counted.personId}`];
  const { accountId, visitor } = counted;
  const account = `${prefix}account:${accountId}`;
  if (visitor === undefined) return [account];
  return [`${prefix}visitor:${accountId}:${addressName(visitor)}`, `${prefix}publishable:${accountId}`, account];
}

/** Adds in Redis what this node admitted alone, before anything else is sent on a connection. */
function add(link: Link, ledger: Ledger, head: (string | number)[], all: boolean): void {
  const owed = ledger.takeOwed(all);
  for (let i = 0; i < owed.length; i += addedMax) {
    const some = owed.slice(i, i + addedMax);
    const keys = some.map(({ meter }) => meter);
    const args = some.flatMap((one) => one.args);
    const { run, answer } = link.run(adding, keys, [...head, ...args]);
    const owe = () => some.forEach((one) => one.owe());
    void answer.then((done) => done ?? (run === 0 ? owe() : ledger.doubt({ run, owe })));
  }
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

function fullestOf(answer: number[], at: number, quota: Quota): Decision {
  const [visitor = 0, , shared = 0, sharedDay = 0, minute = 0, day = 0] = answer.slice(at + 3, at + 9);
  return fullest(answer[0]!, quota, { visitor, shared, sharedDay, minute, day });
}

function strikeStatusOf(answer: number[], at: number, allowed: number): StrikeStatus {
  const [now = 0, leftMs = 0, strikes = 0] = [answer[0], answer[at + 1], answer[at + 2]];
  const bannedUntil = leftMs > 0 ? now + leftMs : undefined;
  return { strikes, strikesRemaining: leftMs > 0 ? 0 : Math.max(0, allowed - strikes), bannedUntil };
}
