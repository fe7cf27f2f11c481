import { addressName } from "../../platform/addresses.ts";
import { createCache, type Cache } from "../../platform/cache.ts";
import { Problem } from "../../platform/problem.ts";

/** How many attempts a window allows. A window starts with its first attempt. */
type Allowance = { readonly attempts: number; readonly windowMs: number };
type Attempts = { since: number; made: number };

const byAddress: Allowance = { attempts: 60, windowMs: 5 * 60_000 };
export const bySubject: Allowance = { attempts: 10, windowMs: 5 * 60_000 };
/** The most windows of addresses, and of subjects. */
const windowsMax = 50_000;

/** Returns the time (ms) until an attempt is allowed; 0 if one is allowed now. */
export function waitMs(attempts: Attempts | undefined, { attempts: max, windowMs }: Allowance, now: number): number {
  if (attempts === undefined || isOver(attempts, windowMs, now)) return 0;
  return attempts.made < max ? 0 : attempts.since + windowMs - now;
}

/** Returns the window with one more attempt. */
export function withAttempt(attempts: Attempts | undefined, { windowMs }: Allowance, now: number): Attempts {
  if (attempts === undefined || isOver(attempts, windowMs, now)) return { since: now, made: 1 };
  return { since: attempts.since, made: attempts.made + 1 };
}

/** A window also ends if the clock was set back to before its start, so that no window lasts longer than its length. */
function isOver({ since }: Attempts, windowMs: number, now: number): boolean {
  return now >= since + windowMs || now < since;
}

/** The target of an attempt. Each kind has its own key space, so that no email can name a member's counter. */
export type Subject =
  | { kind: "member"; accountId: number; memberId: number }
  /** An email that matches no member with a password; counted so that its answers look like a member's. */
  | { kind: "unknown"; email: string; accountId: number | undefined }
  /** The password of a member who is signed in. */
  | { kind: "password"; accountId: number; memberId: number }
  /** The codes of a member's second factors. */
  | { kind: "code"; accountId: number; memberId: number };

/**
 * Slows the guessing of passwords and link tokens. Attempts are counted before they are checked: by the client's address,
 * and by subject and address together, so that guesses from other addresses never lock a member out. Each node counts
 * separately.
 */
export type SignInThrottle = {
  /** Counts an attempt of this address. @throws Problem `rate_limit_exceeded` after too many */
  requireAddress(address: string, now: number): void;
  /**
   * Counts an attempt at each subject that has attempts left from this address.
   *
   * @returns these subjects
   * @throws Problem `rate_limit_exceeded` if no subject has any left
   */
  requireSubjects<S extends Subject>(subjects: readonly S[], address: string, now: number): S[];
  /** Forgets a subject's attempts from this address, after one has succeeded. */
  forget(subject: Subject, address: string): void;
};

/** Creates a throttle without attempts. It has no timers, and its memory is bounded. */
export function openSignInThrottle(): SignInThrottle {
  const addresses = createCache<string, Attempts>(windowsMax);
  const subjects = createCache<string, Attempts>(windowsMax);
  return {
    requireAddress(address, now) {
      const name = addressName(address);
      requireNoWait(waitMs(addresses.get(name), byAddress, now));
      count(addresses, name, byAddress, now);
    },
    requireSubjects(asked, address, now) {
      const waits = asked.map((subject) => waitMs(subjects.get(keyOf(subject, address)), bySubject, now));
      requireNoWait(Math.min(...waits));
      const open = asked.filter((_subject, i) => waits[i] === 0);
      for (const subject of open) count(subjects, keyOf(subject, address), bySubject, now);
      return open;
    },
    forget: (subject, address) => void subjects.delete(keyOf(subject, address)),
  };
}

function keyOf(subject: Subject, address: string): string {
  const what = subject.kind === "unknown" ? [subject.accountId ?? null, subject.email] : [subject.accountId, subject.memberId];
  return JSON.stringify([subject.kind, addressName(address), ...what]);
}

function requireNoWait(ms: number): void {
  if (ms === 0) return;
  const seconds = Math.ceil(ms / 1_000);
  const headers = { "Retry-After": `${seconds}` };
  throw new Problem("rate_limit_exceeded", `Too many attempts. Try again in ${seconds} seconds.`, { headers });
}

function count(windows: Cache<string, Attempts>, name: string, allowance: Allowance, now: number): void {
  windows.set(name, withAttempt(windows.get(name), allowance, now));
}
