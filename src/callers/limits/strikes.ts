import { dayMs } from "./windows.ts";

/** The sliding window in which strikes count (ms). */
export const strikesWindowMs = 60_000;
/** How long (ms) a key's first ban lasts, and the longest that a later one can last. Specification 4.6 names both to callers. */
export const firstBanMs = 5 * 60_000;
export const longestBanMs = 60 * 60_000;
/** A ban that follows another within this time (ms) lasts twice as long. */
export const banMemoryMs = dayMs;

/** Expired strikes are removed once there are this many, or once they are half of the list. Each removal moves all later strikes, so it is rare. */
const expiredMax = 1_000;

/** The strikes of one key, oldest first, and its last ban (`banMs` 0: none). All in ms. `times` may begin with expired strikes. */
export type Strikes = { times: number[]; bannedAt: number; banMs: number };

/** Strikes that a key may have within a minute without a ban: a fifth of its plan's requests, at least 20. */
export function strikesAllowed(perMinute: number): number {
  return Math.max(20, Math.floor(perMinute / 5));
}

/** The state of a key that was never refused. */
export function newStrikes(): Strikes {
  return { times: [], bannedAt: 0, banMs: 0 };
}

/** Returns the milliseconds until the ban ends; 0 without one. If the clock was set back to before the ban, the ban starts again now. */
export function banLeftMs(strikes: Strikes, now: number): number {
  if (now < strikes.bannedAt) strikes.bannedAt = now;
  return Math.max(0, strikes.bannedAt + strikes.banMs - now);
}

/** Returns the number of strikes in the last minute. May remove older ones, in place. If the clock was set back, moves the strikes back with it. */
export function recentStrikes(strikes: Strikes, now: number): number {
  const { times } = strikes;
  const aheadMs = (times.at(-1) ?? now) - now;
  if (aheadMs > 0) strikes.times = times.map((time) => time - aheadMs);
  const expired = countExpired(strikes.times, now);
  if (expired < expiredMax && expired < strikes.times.length / 2) return strikes.times.length - expired;
  strikes.times.splice(0, expired);
  return strikes.times.length;
}

/** How many of these ascending times are older than the window. */
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
 * Adds a strike in place and returns how many more are allowed. The first strike above `allowed` bans the key instead,
 * clears its strikes and returns -1.
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
