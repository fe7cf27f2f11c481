import { createHash } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import { Problem } from "../../platform/problem.ts";
import { addressName } from "./addresses.ts";
import { type Awaitable, dashboardQuota, type Limiter, type Standing } from "./limits.ts";
import { type MemoryLimiter, openMemoryLimiter } from "./memory.ts";
import { fullest, publishableShare, visitorQuota } from "./publishable.ts";
import { type Asked, openBatches } from "./redis.batch.ts";
import { type LinkLog, openLink } from "./redis.link.ts";
import { limitScript } from "./redis.script.ts";
import { strikesAllowed } from "./strikes.ts";
import { banned, type Decision, passed, type Quota, refused } from "./windows.ts";

const prefix = "petstore:limits:";
/** With what a timer is late by, a request waits less than 50 ms for Redis. */
const redisAnswerMs = 40;
/** Redis, or this process, may be busy and late for single answers; silent for this long it is lost. */
const redisSilentMs = 100;
const script = { text: limitScript, sha: createHash("sha1").update(limitScript).digest("hex") };

export type RedisLimiterOptions = {
  /** `redis://` or `rediss://`; never logged. */
  url: string;
  /** What a caller without a valid key has. */
  addressQuota: Quota;
  /** Tells the time while this node counts alone. */
  clock: Clock;
  /** Tells the time to Redis too, instead of its own clock: lets tests move it. */
  redisClock?: Clock;
  log: LinkLog;
  /** Time that Redis has for one answer, 40 ms unless told. */
  answerMs?: number;
  /** Time that it may answer nothing at all before it counts as away, 100 ms unless told. */
  silentMs?: number;
};

/**
 * Counts in Redis, together with all nodes that use the same one: one round trip a request. While Redis does not answer
 * this node counts alone, beginning at nothing. Does not fail if Redis is absent: see `mode`.
 */
export async function openRedisLimiter(options: RedisLimiterOptions): Promise<Limiter> {
  const { url, addressQuota, clock, redisClock, log, answerMs = redisAnswerMs, silentMs = redisSilentMs } = options;
  let alone = openMemoryLimiter({ clock, addressQuota });
  const probe = { keys: [`${prefix}probe`], args: [redisClock?.() ?? "", 1, "1", 0, 1, 1, "Infinity"] };
  const onJoined = () => (alone = openMemoryLimiter({ clock, addressQuota }));
  const link = await openLink({ url, script, probe, log, answerMs, silentMs, onJoined });
  const askTogether = openBatches((keys, args) => link.run(keys, args), redisClock);

  function ask<T>(asked: Asked, read: (answer: number[], at: number) => T, local: (limiter: MemoryLimiter) => T): Awaitable<T> {
    if (!link.isUp()) return local(alone);
    return askTogether(asked, (answer, at) => (answer === undefined ? local(alone) : read(answer, at)));
  }

  function countOne(meter: string, quota: Quota, local: (limiter: MemoryLimiter) => Decision): Awaitable<Decision> {
    const asked = { counting: true, allowed: 0, meters: [meter], limits: [quota.perMinute, quota.perDay] };
    return ask(asked, (answer, at) => judge(answer, at, figures(answer, at, quota), strikesAllowed(quota.perMinute)), local);
  }

  function peek(meter: string, quota: Quota, local: (limiter: MemoryLimiter) => Decision): Awaitable<Decision> {
    const asked = { counting: false, allowed: 0, meters: [meter], limits: [quota.perMinute, quota.perDay] };
    return ask(asked, (answer, at) => figures(answer, at, quota), local);
  }

  return {
    account(accountId, keyId, quota) {
      const allowed = strikesAllowed(quota.perMinute);
      const asked = {
        counting: true,
        allowed,
        meters: [`${prefix}account:${accountId}`],
        limits: [quota.perMinute, quota.perDay],
        ban: `${prefix}ban:${keyId}`,
        strikes: `${prefix}strikes:${keyId}`,
      };
      const read = (answer: number[], at: number) => judge(answer, at, figures(answer, at, quota), allowed);
      return ask(asked, read, (limiter) => limiter.account(accountId, keyId, quota));
    },
    address: (address) => countOne(`${prefix}address:${addressName(address)}`, addressQuota, (limiter) => limiter.address(address)),
    publishable(accountId, address, quota) {
      const allowed = strikesAllowed(visitorQuota.perMinute);
      const visitor = `${accountId}:${addressName(address)}`;
      const asked = {
        counting: true,
        allowed,
        meters: [`${prefix}visitor:${visitor}`, `${prefix}publishable:${accountId}`, `${prefix}account:${accountId}`],
        limits: [visitorQuota.perMinute, Infinity, publishableShare(quota), Infinity, quota.perMinute, quota.perDay],
        ban: `${prefix}visitor-ban:${visitor}`,
        strikes: `${prefix}visitor-strikes:${visitor}`,
      };
      const read = (answer: number[], at: number) => judge(answer, at, fullestOf(answer, at, quota), allowed);
      return ask(asked, read, (limiter) => limiter.publishable(accountId, address, quota));
    },
    dashboard: (personId) => countOne(`${prefix}person:${personId}`, dashboardQuota, (limiter) => limiter.dashboard(personId)),
    peekAccount: (accountId, quota) => peek(`${prefix}account:${accountId}`, quota, (limiter) => limiter.peekAccount(accountId, quota)),
    peekAddress: (address) => peek(`${prefix}address:${addressName(address)}`, addressQuota, (limiter) => limiter.peekAddress(address)),
    standing(keyId, quota) {
      const allowed = strikesAllowed(quota.perMinute);
      const keys = { ban: `${prefix}ban:${keyId}`, strikes: `${prefix}strikes:${keyId}` };
      return ask(
        { counting: false, allowed, meters: [], limits: [], ...keys },
        (answer, at) => standingOf(answer, at, allowed),
        (limiter) => limiter.standing(keyId, quota),
      );
    },
    async unban(keyId) {
      alone.unban(keyId);
      const removed = await link.remove([`${prefix}ban:${keyId}`, `${prefix}strikes:${keyId}`]);
      if (removed === undefined) throw new Problem("unavailable", "Redis cannot be reached, so the ban may still be in force. Try again.");
      return removed > 0;
    },
    mode: () => (link.isUp() ? "shared" : "alone"),
    sweep: () => alone.sweep(),
    close: () => link.close(),
  };
}

/** The script's figures of a request, from `at` on: verdict, ms left of the ban, strikes made, then each meter's used minute and day. */
function judge(answer: number[], at: number, decision: Decision, allowed: number): Decision {
  const verdict = answer[at];
  if (verdict === 2) return banned(decision, answer[at + 1]!);
  return verdict === 1 ? refused(decision, allowed - answer[at + 2]!) : decision;
}

function figures(answer: number[], at: number, quota: Quota): Decision {
  return passed(answer[0]!, quota.perMinute, answer[at + 3]!, quota.perDay, answer[at + 4]!);
}

function fullestOf(answer: number[], at: number, quota: Quota): Decision {
  const [visitor = 0, , shared = 0, , minute = 0, day = 0] = answer.slice(at + 3, at + 9);
  return fullest(answer[0]!, quota, { visitor, shared, minute, day });
}

function standingOf(answer: number[], at: number, allowed: number): Standing {
  const [now = 0, leftMs = 0, strikes = 0] = [answer[0], answer[at + 1], answer[at + 2]];
  const bannedUntil = leftMs > 0 ? now + leftMs : undefined;
  return { strikes, strikesRemaining: leftMs > 0 ? 0 : Math.max(0, allowed - strikes), bannedUntil };
}
