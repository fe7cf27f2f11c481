import { minuteMs, dayMs } from "../../platform/clock.ts";

/** Requests that may pass in a UTC minute and in a UTC day; `perDay: Infinity` means that only the minute counts. */
export type Quota = { perMinute: number; perDay: number };

/**
 * A fixed window. `number` is the time divided by the window's length, `used` the requests counted in it. `previousNumber` and
 * `previousUsed` describe the window that the clock was in before: a later window, if the clock was set back.
 */
export type Window = { number: number; used: number; previousNumber: number; previousUsed: number };

/** A meter: the requests that one caller has used. */
export type Windows = { minute: Window; day: Window };

/** `unavailable`: too many requests are waiting to be counted; the caller is not over a limit. */
export type Verdict = "pass" | "rate_limit_exceeded" | "key_banned" | "unavailable";

/** The decision on one request, with the figures that its headers show. */
export type Decision = {
  verdict: Verdict;
  /** The quota of the window with fewer requests left: the minute on a tie, but the day if both are used up. */
  limit: number;
  remaining: number;
  /** When that window ends: Unix seconds. */
  reset: number;
  perMinute: number;
  minuteRemaining: number;
  /** Whole seconds, rounded up, until the minute ends. */
  minuteSeconds: number;
  perDay: number;
  dayRemaining: number;
  daySeconds: number;
  /** Whole seconds, rounded up, until a request can pass, or until the ban ends; 0 on a pass. */
  retryAfterSeconds: number;
  /** Strikes left before a ban; null if refusals of this caller are no strikes. Meaningful only for refusals. */
  strikesRemaining: number | null;
  /** The time of the decision, in ms by the clock of the counters. */
  at: number;
};

/** The state of a caller that has used nothing. */
export function newWindows(): Windows {
  return { minute: newWindow(), day: newWindow() };
}

function newWindow(): Window {
  return { number: 0, used: 0, previousNumber: 0, previousUsed: 0 };
}

/** Moves both windows, in place, to the ones that `now` (ms) lies in. */
export function roll(windows: Windows, now: number): void {
  enterWindow(windows.minute, Math.floor(now / minuteMs));
  enterWindow(windows.day, Math.floor(now / dayMs));
}

/**
 * Moves to the window with this number. The window starts at zero used requests, with two exceptions: if the clock was in it just
 * before, it keeps the requests counted then; if the clock went back, it starts with at least as many as the window just left.
 * So a clock that jumps back and forth grants no extra requests, and no refusal outlasts the current window.
 */
function enterWindow(window: Window, number: number): void {
  if (number === window.number) return;
  const known = number === window.previousNumber ? window.previousUsed : 0;
  const used = number > window.number ? known : Math.max(known, window.used);
  window.previousNumber = window.number;
  window.previousUsed = window.used;
  window.number = number;
  window.used = used;
}

/** Whether one more request fits into both windows. Call `roll` first, as for `take` and `giveBack`. */
export function hasRoom(windows: Windows, quota: Quota): boolean {
  return windows.minute.used < quota.perMinute && windows.day.used < quota.perDay;
}

/** Counts one request in both windows, in place. */
export function take(windows: Windows): void {
  windows.minute.used += 1;
  windows.day.used += 1;
}

/** Subtracts a request that was counted at `at` (ms) from both windows, in place. Skips a window that has ended. */
export function giveBack(windows: Windows, at: number): void {
  const { minute, day } = windows;
  if (minute.number === Math.floor(at / minuteMs)) minute.used = Math.max(0, minute.used - 1);
  if (day.number === Math.floor(at / dayMs)) day.used = Math.max(0, day.used - 1);
}

/** Returns a `pass` with the figures of both windows. `now` in ms. */
export function passed(now: number, perMinute: number, minuteUsed: number, perDay: number, dayUsed: number): Decision {
  const minuteEnd = (Math.floor(now / minuteMs) + 1) * minuteMs;
  const dayEnd = (Math.floor(now / dayMs) + 1) * dayMs;
  const minuteRemaining = Math.max(0, perMinute - minuteUsed);
  const dayRemaining = Math.max(0, perDay - dayUsed);
  const byDay = dayRemaining < minuteRemaining || dayRemaining === 0;
  return {
    verdict: "pass",
    limit: byDay ? perDay : perMinute,
    remaining: byDay ? dayRemaining : minuteRemaining,
    reset: (byDay ? dayEnd : minuteEnd) / 1000,
    perMinute,
    minuteRemaining,
    minuteSeconds: Math.ceil((minuteEnd - now) / 1000),
    perDay,
    dayRemaining,
    daySeconds: Math.ceil((dayEnd - now) / 1000),
    retryAfterSeconds: 0,
    strikesRemaining: 0,
    at: now,
  };
}

/** Turns a decision, in place, into the refusal of a request that is over a limit. */
export function refused(decision: Decision, strikesRemaining: number | null): Decision {
  decision.verdict = "rate_limit_exceeded";
  decision.retryAfterSeconds = decision.dayRemaining === 0 ? decision.daySeconds : decision.minuteSeconds;
  decision.strikesRemaining = strikesRemaining;
  return decision;
}

/** Turns a decision, in place, into the refusal of a key whose ban ends in `leftMs`. A banned key has no requests left. */
export function banned(decision: Decision, leftMs: number): Decision {
  decision.verdict = "key_banned";
  decision.remaining = 0;
  decision.retryAfterSeconds = Math.ceil(leftMs / 1000);
  decision.strikesRemaining = 0;
  return decision;
}

/** Turns a decision, in place, into the refusal of a request that cannot be counted now. */
export function unavailable(decision: Decision): Decision {
  decision.verdict = "unavailable";
  decision.retryAfterSeconds = 1;
  decision.strikesRemaining = null;
  return decision;
}
