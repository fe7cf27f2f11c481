import { Problem } from "../../platform/problem.ts";
import { addressName } from "../limits/limits.ts";

/** Attempts that may be made in a window, which begins with its first one. */
type Allowance = { readonly attempts: number; readonly windowMs: number };
type Attempts = { since: number; made: number };

const byAddress: Allowance = { attempts: 60, windowMs: 5 * 60_000 };
export const byEmail: Allowance = { attempts: 10, windowMs: 5 * 60_000 };
/** Addresses, and emails, that are remembered; beyond it the one whose window began first is forgotten. */
const rememberedMax = 50_000;

/** How long (ms) somebody must wait before the next attempt: 0 while one is left. */
export function waitMs(attempts: Attempts | undefined, { attempts: max, windowMs }: Allowance, now: number): number {
  if (attempts === undefined || isOver(attempts, windowMs, now)) return 0;
  return attempts.made < max ? 0 : attempts.since + windowMs - now;
}

/** The attempts with one more. */
export function withAttempt(attempts: Attempts | undefined, { windowMs }: Allowance, now: number): Attempts {
  if (attempts === undefined || isOver(attempts, windowMs, now)) return { since: now, made: 1 };
  return { since: attempts.since, made: attempts.made + 1 };
}

/** A clock that was set back ends a window too: nobody is held longer than one lasts. */
function isOver({ since }: Attempts, windowMs: number, now: number): boolean {
  return now >= since + windowMs || now < since;
}

/**
 * Slows the guessing of passwords and tokens: attempts are counted before they are looked at, by the caller's address
 * and, of passwords, by the email that is tried, whether it is known or not. Both are counted by each node on its own.
 */
export type SignInThrottle = {
  /** Counts an attempt, and gives 0; or the ms to wait, and counts nothing. `email` folded, undefined with a link. */
  attempt(address: string, email: string | undefined, now: number): number;
  /** The email was signed in with: its attempts so far are forgiven. */
  succeeded(email: string): void;
};

/** A throttle that has seen nobody yet. It has no timers and a bounded memory. */
export function openSignInThrottle(): SignInThrottle {
  const addresses = new Map<string, Attempts>();
  const emails = new Map<string, Attempts>();
  return {
    attempt(address, email, now) {
      const name = addressName(address);
      const emailWait = email === undefined ? 0 : waitMs(emails.get(email), byEmail, now);
      const wait = Math.max(emailWait, waitMs(addresses.get(name), byAddress, now));
      if (wait > 0) return wait;
      remember(addresses, name, withAttempt(addresses.get(name), byAddress, now));
      if (email !== undefined) remember(emails, email, withAttempt(emails.get(email), byEmail, now));
      return 0;
    },
    succeeded: (email) => void emails.delete(email),
  };
}

/** Counts an attempt. @throws Problem `rate_limit_exceeded` where too many were made */
export function requireAttempt(throttle: SignInThrottle, address: string, email: string | undefined, now: number): void {
  const seconds = Math.ceil(throttle.attempt(address, email, now) / 1_000);
  if (seconds === 0) return;
  const headers = { "Retry-After": `${seconds}` };
  throw new Problem("rate_limit_exceeded", `Too many attempts. Try again in ${seconds} seconds.`, { headers });
}

/** A window that begins goes to the end, so that the first one of the map is the oldest. */
function remember(map: Map<string, Attempts>, name: string, attempts: Attempts): void {
  if (attempts.made === 1) map.delete(name);
  map.set(name, attempts);
  if (map.size <= rememberedMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
