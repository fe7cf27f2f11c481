import { createHash } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import { Problem } from "../../platform/problem.ts";
import { addressName } from "./addresses.ts";
import { type Awaitable, dashboardQuota, type Limiter, type Standing } from "./limits.ts";
import { type MemoryLimiter, openMemoryLimiter } from "./memory.ts";
import { fullest, publishableShare, visitorQuota } from "./publishable.ts";
import { type LinkLog, openLink } from "./redis.link.ts";
import { limitScript } from "./redis.script.ts";
import { strikesAllowed } from "./strikes.ts";
import { banned, type Decision, passed, type Quota, refused } from "./windows.ts";

const prefix = "petstore:limits:";
/** With what a timer is late by, a request waits less than 50 ms for Redis. */
const redisAnswerMs = 40;
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
};

/**
 * Counts in Redis, together with all nodes that use the same one: one round trip a request. While Redis does not answer
 * this node counts alone, beginning at nothing. Does not fail if Redis is absent: see `mode`.
 */
export async function openRedisLimiter(options: RedisLimiterOptions): Promise<Limiter> {
  const { url, addressQuota, clock, redisClock, log, answerMs = redisAnswerMs } = options;
  let alone = openMemoryLimiter({ clock, addressQuota });
  const time = () => redisClock?.() ?? "";
  const probe = { keys: [`${prefix}probe`], args: [time(), "1", 0, 1, "Infinity"] };
  const onLost = () => (alone = openMemoryLimiter({ clock, addressQuota }));
  const link = await openLink({ url, script, probe, log, answerMs, onLost });

  function ask<T>(
    keys: string[],
    args: (string | number)[],
    read: (answer: number[]) => T,
    local: (limiter: MemoryLimiter) => T,
  ): Awaitable<T> {
    if (!link.isUp()) return local(alone);
    return link.run(keys, [time(), ...args], (answer) => (answer === undefined ? local(alone) : read(answer)));
  }

  function countOne(key: string, quota: Quota, local: (limiter: MemoryLimiter) => Decision): Awaitable<Decision> {
    const args = ["1", 0, quota.perMinute, quota.perDay];
    return ask([key], args, (answer) => judge(answer, figures(answer, quota), strikesAllowed(quota.perMinute)), local);
  }

  function peek(key: string, quota: Quota, local: (limiter: MemoryLimiter) => Decision): Awaitable<Decision> {
    return ask([key], ["0", 0, quota.perMinute, quota.perDay], (answer) => figures(answer, quota), local);
  }

  return {
    account(accountId, keyId, quota) {
      const allowed = strikesAllowed(quota.perMinute);
      const keys = [`${prefix}account:${accountId}`, `${prefix}ban:${keyId}`, `${prefix}strikes:${keyId}`];
      const args = ["1", allowed, quota.perMinute, quota.perDay];
      const read = (answer: number[]) => judge(answer, figures(answer, quota), allowed);
      return ask(keys, args, read, (limiter) => limiter.account(accountId, keyId, quota));
    },
    address: (address) => countOne(`${prefix}address:${addressName(address)}`, addressQuota, (limiter) => limiter.address(address)),
    publishable(accountId, address, quota) {
      const allowed = strikesAllowed(visitorQuota.perMinute);
      const visitor = `${accountId}:${addressName(address)}`;
      const meters = [`${prefix}visitor:${visitor}`, `${prefix}publishable:${accountId}`, `${prefix}account:${accountId}`];
      const keys = [...meters, `${prefix}visitor-ban:${visitor}`, `${prefix}visitor-strikes:${visitor}`];
      const share = publishableShare(quota);
      const args = ["1", allowed, visitorQuota.perMinute, "Infinity", share, "Infinity", quota.perMinute, quota.perDay];
      const read = (answer: number[]) => judge(answer, fullestOf(answer, quota), allowed);
      return ask(keys, args, read, (limiter) => limiter.publishable(accountId, address, quota));
    },
    dashboard: (personId) => countOne(`${prefix}person:${personId}`, dashboardQuota, (limiter) => limiter.dashboard(personId)),
    peekAccount: (accountId, quota) => peek(`${prefix}account:${accountId}`, quota, (limiter) => limiter.peekAccount(accountId, quota)),
    peekAddress: (address) => peek(`${prefix}address:${addressName(address)}`, addressQuota, (limiter) => limiter.peekAddress(address)),
    standing(keyId, quota) {
      const allowed = strikesAllowed(quota.perMinute);
      const keys = [`${prefix}ban:${keyId}`, `${prefix}strikes:${keyId}`];
      return ask(
        keys,
        ["0", allowed],
        (answer) => standingOf(answer, allowed),
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

/** The script's answer: verdict, time, ms left of the ban, strikes made, then each meter's used minute and day. */
function judge([verdict, , leftMs = 0, strikes = 0]: number[], decision: Decision, allowed: number): Decision {
  if (verdict === 2) return banned(decision, leftMs);
  return verdict === 1 ? refused(decision, allowed - strikes) : decision;
}

function figures([, now = 0, , , minuteUsed = 0, dayUsed = 0]: number[], quota: Quota): Decision {
  return passed(now, quota.perMinute, minuteUsed, quota.perDay, dayUsed);
}

function fullestOf(answer: number[], quota: Quota): Decision {
  const [, now = 0, , , visitor = 0, , shared = 0, , minute = 0, day = 0] = answer;
  return fullest(now, quota, { visitor, shared, minute, day });
}

function standingOf([, now = 0, leftMs = 0, strikes = 0]: number[], allowed: number): Standing {
  const bannedUntil = leftMs > 0 ? now + leftMs : undefined;
  return { strikes, strikesRemaining: leftMs > 0 ? 0 : Math.max(0, allowed - strikes), bannedUntil };
}
