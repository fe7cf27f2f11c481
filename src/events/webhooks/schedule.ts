import type { Outcome } from "./sender.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The pauses after the first, second, … failed attempt. `giveUpAt` cuts the last one short. */
const pausesMs = [
  5 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  hourMs,
  2 * hourMs,
  4 * hourMs,
  8 * hourMs,
  12 * hourMs,
  20 * hourMs,
  2 * dayMs,
];
/** How long after its first attempt a message is tried again. */
export const retriedMs = 3 * dayMs;
/** An endpoint is disabled once its attempts have only failed for this long. */
export const disabledAfterMs = 5 * dayMs;
const retryAfterMsMax = dayMs;
/** After so many failures in a row, the first success makes every delivery that waits due at once. */
const recoveryFailures = 10;

/** Whether an attempt delivered its message: every status of the 200s says so. */
export function isDelivered(outcome: Outcome): boolean {
  return outcome.status !== null && outcome.status >= 200 && outcome.status < 300;
}

/** Why an attempt failed; null if it did not. */
export function errorOf(outcome: Outcome): string | null {
  if (isDelivered(outcome)) return null;
  if (outcome.status === null) return outcome.error;
  const redirects = outcome.status >= 300 && outcome.status < 400;
  return `The endpoint answered ${outcome.status}${redirects ? ", and redirects are not followed" : ""}.`;
}

/**
 * When to try a message again; null if never. Later pauses vary by a tenth in either direction, so that messages which failed together do not
 * come back together.
 *
 * @param attempts those so far, the failed one included
 * @param random from 0 to 1
 */
export function nextAttemptAt(attempts: number, giveUpAt: number, now: number, random: number): number | null {
  if (now >= giveUpAt) return null;
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1]!;
  const varied = attempts === 1 ? pause * (1 + random / 10) : pause * (0.9 + random / 5);
  return Math.min(now + Math.ceil(varied), giveUpAt);
}

/** How an endpoint does. Times in ms. */
export type Health = {
  /** Failed attempts since the last success. */
  failures: number;
  failingSince: number | null;
  deliveredAt: number | null;
  /** The highest position that was delivered. */
  deliveredPosition: number | null;
  /** No attempt begins before, because the endpoint asked for a pause. */
  pausedUntil: number | null;
  disabledBecause: "failing" | "gone" | null;
};

/** The health of an endpoint after an attempt of the message at `position`, which is null if it is of no event. */
export function healthAfter(health: Health, outcome: Outcome, position: number | null, now: number): Health {
  if (isDelivered(outcome)) {
    const deliveredPosition = position === null ? health.deliveredPosition : Math.max(position, health.deliveredPosition ?? 0);
    return { ...health, failures: 0, failingSince: null, deliveredAt: now, deliveredPosition, pausedUntil: null };
  }
  const failingSince = health.failingSince ?? now;
  const gone = outcome.status === 410;
  const pause = outcome.status === null ? null : retryAfterMs(outcome.retryAfter, now);
  return {
    ...health,
    failures: health.failures + 1,
    failingSince,
    pausedUntil: pause === null ? health.pausedUntil : Math.max(now + pause, health.pausedUntil ?? 0),
    disabledBecause: gone ? "gone" : now - failingSince >= disabledAfterMs ? "failing" : health.disabledBecause,
  };
}

/** Whether a success after this health shows that the endpoint has recovered. */
export function hasRecovered(before: Health, after: Health): boolean {
  return before.failures >= recoveryFailures && after.failures === 0;
}

/** The pause that a `Retry-After` asks for, in seconds or as a date, at most a day; null for anything else. */
function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim().slice(0, 40);
  const ms = /^\d+$/.test(text) ? Number(text) * secondMs : Date.parse(text) - now;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, retryAfterMsMax) : null;
}
