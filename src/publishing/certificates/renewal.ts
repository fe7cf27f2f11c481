import { createHash } from "node:crypto";
import { dayMs, hourMs, minuteMs } from "../../platform/clock.ts";

const backoffMs = [minuteMs, 10 * minuteMs, 100 * minuteMs];

/** All times are milliseconds since the epoch. */
export type Lifetime = { notBefore: number; notAfter: number };
export type RenewalWindow = { start: number; end: number };

/**
 * Returns when to renew a certificate; a moment in the past means now. If the authority gave a window (RFC 9773 section 4.2), returns a moment in it,
 * derived from `identifier`: every node computes the same moment, also after a restart, and many certificates are spread evenly over the window.
 * Without a window, or if the certificate expires before that moment, returns the moment when a third of the certificate's lifetime is left.
 */
export function renewAt(lifetime: Lifetime, window: RenewalWindow | null, identifier: string): number {
  const atThird = lifetime.notAfter - Math.floor((lifetime.notAfter - lifetime.notBefore) / 3);
  if (window === null) return atThird;
  const moment = window.start + Math.floor((window.end - window.start) * fraction(identifier));
  return moment < lifetime.notAfter ? moment : atThird;
}

/** Hashes a text to a number from 0 to 1, excluding 1. */
function fraction(text: string): number {
  return createHash("sha256").update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}

/** A pause is at most a tenth of the certificate's lifetime. */
const pausesInLife = 10;

/** The longest pause (ms) between two tries to replace a certificate. */
function pauseMax(lifetime: Lifetime | null): number {
  return lifetime === null ? Infinity : Math.max(1_000, (lifetime.notAfter - lifetime.notBefore) / pausesInLife);
}

/**
 * When to retry after `failures` in a row (1 or more): after 1, 10 and 100 minutes, then daily; after a tenth of the life of the certificate that is
 * renewed, if that is sooner; but not before the authority's `retryAt`.
 */
export function retryAfterFailure(failures: number, now: number, retryAt: number | null, lifetime: Lifetime | null): number {
  return Math.max(now + Math.min(backoffMs[failures - 1] ?? dayMs, pauseMax(lifetime)), retryAt ?? 0);
}

const holdMs = 60_000;
const firstAskMs = hourMs;

/**
 * When the service may ask the authority again for a name that failed at `now`: after a minute, or a tenth of the life of its certificate, or later if
 * Retry-After says so (RFC 8555, section 6.6). Re-verify has to wait too, so that one name cannot use up the limits that all names share.
 */
export function holdAfterFailure(now: number, retryAt: number | null, lifetime: Lifetime | null): number {
  return Math.max(now + Math.min(holdMs, pauseMax(lifetime)), retryAt ?? 0);
}

/**
 * When to look again at a valid certificate that stays although another authority is configured: within a day, because ACME_DIRECTORY_URL may change back
 * before it expires.
 */
export function lookAgainAt(now: number, lifetime: Lifetime): number {
  return Math.min(now + Math.min(dayMs, pauseMax(lifetime)), lifetime.notAfter);
}

/**
 * Returns when to check a new certificate first: after an hour, or at its renewal if that is sooner, but not within the pause after a failure. The clocks of
 * this machine and the authority may differ so much that the renewal is already due.
 */
export function firstAskAt(issuedAt: number, renewedAt: number, lifetime: Lifetime): number {
  return Math.max(Math.min(issuedAt + firstAskMs, renewedAt), holdAfterFailure(issuedAt, null, lifetime));
}
