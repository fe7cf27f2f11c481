import { dayMs } from "../../platform/clock.ts";
import { pendingMs } from "./factors.ts";
import { challengeMs } from "./passkeys.ts";

/** A session ends after `idleMs` without use, and at the age of `absoluteMs`. */
export const idleMs = 7 * dayMs;
export const absoluteMs = 30 * dayMs;
/** The precision of the last use (ms). */
export const seenEveryMs = 60_000;
/** How long (ms) sensitive changes are allowed after the member signed in or confirmed the password. */
export const confirmedMs = 10 * 60_000;
/** The most sessions of a member. Beyond it the least recently used one ends. */
export const sessionsMax = 20;
/** The most members who are signed in to one browser at once (decision 0088). */
export const browserSessionsMax = 5;
const userAgentLengthMax = 300;
/** The form of a session's token: 256 bits in base64url. */
const tokenForm = /^[\w-]{43}$/;

/** A member's session in a list. Times are ms since the Unix epoch. */
export type Session = { id: number; address: string; userAgent: string; createdAt: number; seenAt: number };

/** Whether a session has ended at `now` (ms since the Unix epoch). */
export function hasEnded({ createdAt, seenAt }: Pick<Session, "createdAt" | "seenAt">, now: number): boolean {
  return now >= seenAt + idleMs || now >= createdAt + absoluteMs;
}

/** Whether a session was confirmed within the last 10 minutes. False if the clock was set back to before the confirmation. */
export function isConfirmed(confirmedAt: number, now: number): boolean {
  return now >= confirmedAt && now < confirmedAt + confirmedMs;
}

/** Returns a `User-Agent` as it is stored: printable ASCII, up to 300 characters. Clients may send any text. */
export function storedUserAgent(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, userAgentLengthMax);
}

/**
 * A cookie of the dashboard (RFC 6265bis, 4.1.3.2). `__Host-` binds it to this host, HTTPS and the whole path. On plain HTTP a
 * browser would not store such a cookie, so on loopback, where nobody can eavesdrop, the cookie has no prefix.
 */
type Cookie = { set(value: string): string; clear(): string; read(header: string | undefined): string | undefined };

/** The cookie of a browser's sessions: up to five tokens, the current session's first. */
export type SessionCookie = {
  /** Returns the line that stores these tokens, or removes the cookie if there are none. */
  set(tokens: readonly string[]): string;
  read(header: string | undefined): string[];
};

/** Part of the name of the cookie that holds a browser's sessions. */
export const sessionCookieName = "petstore-session";

/** @param publicUrl the public origin, which decides whether cookies need HTTPS */
export function sessionCookie(publicUrl: string): SessionCookie {
  const cookie = cookieNamed(sessionCookieName, publicUrl, absoluteMs);
  return {
    set: (tokens) => (tokens.length === 0 ? cookie.clear() : cookie.set(tokens.join("."))),
    read(header) {
      const tokens = cookie.read(header)?.split(".", browserSessionsMax) ?? [];
      return [...new Set(tokens)].filter((token) => tokenForm.test(token));
    },
  };
}

/** The cookie of a sign-in that waits for its second step, so that only the browser that began it can finish it. */
export function pendingCookie(publicUrl: string): Cookie {
  return cookieNamed("petstore-sign-in", publicUrl, pendingMs);
}

/** The cookie of a passkey challenge. */
export function passkeyCookie(publicUrl: string): Cookie {
  return cookieNamed("petstore-passkey", publicUrl, challengeMs);
}

function cookieNamed(bareName: string, publicUrl: string, ageMs: number): Cookie {
  const isBare = isPlainLoopback(publicUrl);
  const name = isBare ? bareName : `__Host-${bareName}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isBare ? "" : "; Secure"}`;
  return {
    set: (token) => `${name}=${token}; ${attributes}; Max-Age=${ageMs / 1_000}`,
    clear: () => `${name}=; ${attributes}; Max-Age=0`,
    read(header = "") {
      const pairs = header.split(";").map((part) => part.trim());
      const values = new Set(pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1)));
      // Without the prefix, a page on another port can set a cookie for a longer path, which browsers send first. Trust neither of two.
      const [value] = values;
      return values.size > 1 || value === "" ? undefined : value;
    },
  };
}

/** Whether an origin is plain HTTP on loopback. */
export function isPlainLoopback(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && (hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname));
}
