import { dayMs } from "../../platform/clock.ts";

/** The sliding window in which strikes count (ms). */
export const strikesWindowMs = 60_000;
/** How long (ms) a key's first ban lasts, and the longest that a later one can last. Specification 4.6 states both. */
export const firstBanMs = 5 * 60_000;
export const longestBanMs = 60 * 60_000;
/** A ban that begins within this time (ms) of the previous ban's start lasts twice as long. */
export const banMemoryMs = dayMs;

/** Expired times are removed once there are this many, or once they are half of the list, because each removal copies the rest. */
const expiredMax = 1_000;

/** A key's strikes, and its last ban (`banMs` 0: none). Times in ms. */
export type Strikes = {
  /** The times of strikes, oldest first and each once, so that a flood has at most 60,000. Some may be expired. */
  times: number[];
  /** For each time, the number of all strikes up to it. */
  totals: number[];
  /** The number of strikes before the first time, all of them removed. */
  dropped: number;
  bannedAt: number;
  banMs: number;
};

/** How many strikes a key may have within a minute before it is banned: a fifth of its plan's requests per minute, at least 20. */
export function strikesAllowed(perMinute: number): number {
  return Math.max(20, Math.floor(perMinute / 5));
}

/** The state of a key without strikes or bans. */
export function newStrikes(): Strikes {
  return { times: [], totals: [], dropped: 0, bannedAt: 0, banMs: 0 };
}

/** Returns the ms until the ban ends; 0 if there is none. If the clock was set back to before the ban, restarts the ban. */
export function banLeftMs(strikes: Strikes, now: number): number {
  if (now < strikes.bannedAt) strikes.bannedAt = now;
  return Math.max(0, strikes.bannedAt + strikes.banMs - now);
}

/** Counts the strikes of the last minute. May remove expired ones. If the clock was set back, shifts all strikes back with it. */
export function recentStrikes(strikes: Strikes, now: number): number {
  const { times, totals } = strikes;
  const aheadMs = (times.at(-1) ?? now) - now;
  if (aheadMs > 0) strikes.times = times.map((time) => time - aheadMs);
  const expired = countExpired(strikes.times, now);
  const before = expired === 0 ? strikes.dropped : totals[expired - 1]!;
  const recent = (totals.at(-1) ?? strikes.dropped) - before;
  if (expired < expiredMax && expired < times.length / 2) return recent;
  strikes.times.splice(0, expired);
  totals.splice(0, expired);
  strikes.dropped = before;
  return recent;
}

/** Returns the times of strikes, each with the number of strikes at it. */
export function strikesByTime({ times, totals, dropped }: Strikes): [time: number, count: number][] {
  return times.map((time, i) => [time, totals[i]! - (i === 0 ? dropped : totals[i - 1]!)]);
}

/** Replaces the strikes. `byTime` may be in any order. */
export function setStrikes(strikes: Strikes, byTime: [time: number, count: number][]): void {
  Object.assign(strikes, { times: [], totals: [], dropped: 0 });
  for (const [time, count] of byTime.toSorted(([a], [b]) => a - b)) add(strikes, time, count);
}

function add({ times, totals, dropped }: Strikes, time: number, count: number): void {
  const total = (totals.at(-1) ?? dropped) + count;
  if (times.at(-1) === time) totals.pop();
  else times.push(time);
  totals.push(total);
}

/** Counts the times that are older than the window, by binary search. */
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
  add(strikes, now, 1);
  return allowed - made;
}

function ban(strikes: Strikes, now: number): void {
  const again = strikes.banMs > 0 && now - strikes.bannedAt < banMemoryMs;
  strikes.banMs = again ? Math.min(strikes.banMs * 2, longestBanMs) : firstBanMs;
  strikes.bannedAt = now;
  setStrikes(strikes, []);
}
