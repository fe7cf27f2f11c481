import { dayMs } from "./windows.ts";

/** Strikes count together when they are made within this time. */
export const strikesWindowMs = 60_000;
export const firstBanMs = 5 * 60_000;
export const longestBanMs = 60 * 60_000;
/** A ban this soon after the one before lasts twice as long. */
export const banMemoryMs = dayMs;

/** The strikes of one key that still count, oldest first, and its last ban (`banMs` 0: none). Times in ms. */
export type Strikes = { times: number[]; bannedAt: number; banMs: number };

/** Strikes that a key may make within a minute before it is banned: a fifth of its plan's requests, at least 20. */
export function strikesAllowed(perMinute: number): number {
  return Math.max(20, Math.floor(perMinute / 5));
}

/** Of a key that was never refused. */
export function newStrikes(): Strikes {
  return { times: [], bannedAt: 0, banMs: 0 };
}

/** Milliseconds until the ban ends, 0 without one. After a clock was set back the ban counts from now: it never lasts longer than its length. */
export function banLeftMs(strikes: Strikes, now: number): number {
  if (now < strikes.bannedAt) strikes.bannedAt = now;
  return Math.max(0, strikes.bannedAt + strikes.banMs - now);
}

/** Strikes made within the last minute. Older ones are dropped, in place. */
export function recentStrikes(strikes: Strikes, now: number): number {
  const { times } = strikes;
  const aheadMs = (times.at(-1) ?? now) - now;
  if (aheadMs > 0) strikes.times = times.map((time) => time - aheadMs);
  const over = strikes.times.findIndex((time) => now - time < strikesWindowMs);
  if (over !== 0) strikes.times.splice(0, over < 0 ? Infinity : over);
  return strikes.times.length;
}

/**
 * Adds a strike, in place, and returns how many more there may be. The first one above `allowed` bans the key instead,
 * which begins its strikes anew, and answers -1. So never more than `allowed` times are kept.
 */
export function strike(strikes: Strikes, allowed: number, now: number): number {
  const made = recentStrikes(strikes, now) + 1;
  if (made > allowed) {
    ban(strikes, now);
    return -1;
  }
  strikes.times.push(now);
  return allowed - made;
}

function ban(strikes: Strikes, now: number): void {
  const again = strikes.banMs > 0 && now - strikes.bannedAt < banMemoryMs;
  strikes.banMs = again ? Math.min(strikes.banMs * 2, longestBanMs) : firstBanMs;
  strikes.bannedAt = now;
  strikes.times = [];
}
