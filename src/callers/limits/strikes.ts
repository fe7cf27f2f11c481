import { dayMs } from "../../platform/clock.ts";

/** The sliding window in which strikes count (ms). */
export const strikesWindowMs = 60_000;
/** How long (ms) a key's first ban lasts, and the longest that a later one can last. Specification 4.6 states both. */
export const firstBanMs = 5 * 60_000;
export const longestBanMs = 60 * 60_000;
/** A ban that begins within this time (ms) of the previous ban's start lasts twice as long. */
export const banMemoryMs = dayMs;

/** Expired strikes are removed once there are this many, or once they are half of the list: each removal copies the rest. */
const expiredMax = 1_000;

/** The times of a key's strikes, oldest first, some perhaps expired; and its last ban (`banMs` 0: none). All in ms. */
export type Strikes = { times: number[]; bannedAt: number; banMs: number };

/** How many strikes a key may have within a minute before it is banned: a fifth of its plan's requests per minute, at least 20. */
export function strikesAllowed(perMinute: number): number {
  return Math.max(20, Math.floor(perMinute / 5));
}

/** The state of a key without strikes or bans. */
export function newStrikes(): Strikes {
  return { times: [], bannedAt: 0, banMs: 0 };
}

/** Returns the ms until the ban ends; 0 if there is none. If the clock was set back to before the ban, restarts the ban. */
export function banLeftMs(strikes: Strikes, now: number): number {
  if (now < strikes.bannedAt) strikes.bannedAt = now;
  return Math.max(0, strikes.bannedAt + strikes.banMs - now);
}

/** Counts the strikes of the last minute. May remove expired ones. If the clock was set back, shifts all strikes back with it. */
export function recentStrikes(strikes: Strikes, now: number): number {
  const { times } = strikes;
  const aheadMs = (times.at(-1) ?? now) - now;
  if (aheadMs > 0) strikes.times = times.map((time) => time - aheadMs);
  const expired = countExpired(strikes.times, now);
  if (expired < expiredMax && expired < strikes.times.length / 2) return strikes.times.length - expired;
  strikes.times.splice(0, expired);
  return strikes.times.length;
}

/** Counts the strikes that are older than the window, by binary search. */
function countExpired(times: readonly number[], now: number): number {
  let [from, to] = [0, times.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (now - times[middle]! < strikesWindowMs) to = middle;
    else from = middle + 1;
  }
  return from;
}

/**
 * Adds a strike, and returns how many more the key may have. If it already has `allowed` strikes, instead bans the key, clears
 * its strikes and returns -1.
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
