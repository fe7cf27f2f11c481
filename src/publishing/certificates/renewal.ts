import { createHash } from "node:crypto";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const backoffMs = [minuteMs, 10 * minuteMs, 100 * minuteMs];

/** All times are milliseconds since the epoch. */
export type Lifetime = { notBefore: number; notAfter: number };
export type RenewalWindow = { start: number; end: number };

/**
 * When a certificate is to be renewed. With the authority's window (RFC 9773 section 4.2): a moment in it, spread evenly over certificates and the
 * same on every node and after every restart, since it follows from `identifier` alone; a moment that has passed means now.
 * Without one, or if it would leave no certificate: when a third of the lifetime is left.
 */
export function renewAt(lifetime: Lifetime, window: RenewalWindow | null, identifier: string): number {
  const atThird = lifetime.notAfter - Math.floor((lifetime.notAfter - lifetime.notBefore) / 3);
  if (window === null) return atThird;
  const moment = window.start + Math.floor((window.end - window.start) * fraction(identifier));
  return moment < lifetime.notAfter ? moment : atThird;
}

/** From 0 up to 1, evenly spread, always the same for the same text. */
function fraction(text: string): number {
  return createHash("sha256").update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}

/**
 * When to try again after so many failures in a row (1 or more): 1, 10, 100 minutes, then daily; never before the authority's own `retryAt`.
 */
export function retryAfterFailure(failures: number, now: number, retryAt: number | null): number {
  return Math.max(now + (backoffMs[failures - 1] ?? dayMs), retryAt ?? 0);
}

const askedAgainMs = 60_000;

/**
 * Until when nobody's Re-verify asks the authority again that has failed at `now`, so that it does nothing that the schedule of retries does
 * not: neither ask before the authority's Retry-After (RFC 8555, section 6.6), nor so often that one name uses up the orders of all.
 */
export function holdAfterFailure(now: number, retryAt: number | null): number {
  return Math.max(now + askedAgainMs, retryAt ?? 0);
}
