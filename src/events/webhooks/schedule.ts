import { minuteMs, hourMs, dayMs } from "../../platform/clock.ts";
import type { Outcome } from "./sender.ts";

const secondMs = 1_000;

/** The pauses after the first, second, … failed attempt: 12 retries; the last pause is cut so that the last retry falls on `giveUpAt`. */
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
/** How long (ms) after its first attempt a message is retried. */
export const retriedMs = 3 * dayMs;
/** An endpoint is disabled after failing for this long (ms) without a success. */
export const disabledAfterMs = 5 * dayMs;
const retryAfterMsMax = dayMs;
/** A date as RFC 9110, 5.6.7 writes it. `Date.parse` also reads other texts, such as "soon 2030". */
const httpDate = /^(\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d\d-\w{3}-\d\d [\d:]{8} GMT|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})$/;
/** After this many failures in a row, the first success makes all waiting deliveries due at once. */
const recoveryFailures = 10;

/** Whether an attempt delivered its message: the endpoint answered with a 2xx status. */
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
 * Returns when to try a message again; null for never. The first pause is up to 10 % longer, at random; later ones are up to 10 % shorter or longer.
 * So messages that failed together are not retried together.
 *
 * @param attempts the number of attempts so far, including the failed one
 * @param random from 0 to 1
 */
export function nextAttemptAt(attempts: number, giveUpAt: number, now: number, random: number): number | null {
  if (now >= giveUpAt) return null;
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1]!;
  const varied = attempts === 1 ? pause * (1 + random / 10) : pause * (0.9 + random / 5);
  return Math.min(now + Math.ceil(varied), giveUpAt);
}

/** The health of an endpoint. Times in ms. */
export type Health = {
  /** Failed attempts since the last success. */
  failures: number;
  failingSince: number | null;
  deliveredAt: number | null;
  /** The highest position that was delivered. */
  deliveredPosition: number | null;
  /** No attempt starts before this time, because the endpoint asked for a pause. */
  pausedUntil: number | null;
  disabledBecause: "failing" | "gone" | null;
};

/** Returns an endpoint's health after an attempt of the event at `position`; null for a test. */
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

/** Returns the pause (ms) that a `Retry-After` header asks for, at most a day; null if it is neither seconds nor a future date. */
function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * secondMs : httpDate.test(text) ? Date.parse(text.replace(/( GMT)?$/, " GMT")) - now : 0;
  return ms > 0 ? Math.min(ms, retryAfterMsMax) : null;
}
