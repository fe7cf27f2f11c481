/** A session ends after this time without use, and at this age (ms). */
export const idleMs = 7 * 24 * 3_600_000;
export const absoluteMs = 30 * 24 * 3_600_000;
/** The precision of the last use (ms). */
export const seenEveryMs = 60_000;
/** How long (ms) sensitive changes are allowed after the member entered the password or used a link. A new session begins so. */
export const confirmedMs = 10 * 60_000;
/** The most sessions of a member. Beyond it the least recently used one ends. */
export const sessionsMax = 20;
const userAgentLengthMax = 300;

/** A member's session in a list. Times are ms since the Unix epoch. */
export type Session = { id: number; address: string; userAgent: string; createdAt: number; seenAt: number };

/** Whether a session has ended at `now` (ms since the Unix epoch). */
export function hasEnded({ createdAt, seenAt }: Pick<Session, "createdAt" | "seenAt">, now: number): boolean {
  return now >= seenAt + idleMs || now >= createdAt + absoluteMs;
}

/** Whether the session's member was confirmed within the last 10 minutes. False if the clock was set back since. */
export function isConfirmed(confirmedAt: number, now: number): boolean {
  return now >= confirmedAt && now < confirmedAt + confirmedMs;
}

/** Returns the part of a `User-Agent` that is stored. Clients may send any text in it. */
export function shownUserAgent(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, userAgentLengthMax);
}

/**
 * The cookie of a session (RFC 6265bis, 4.1.3.2). `__Host-` binds it to this host, HTTPS and the whole path. On plain HTTP a
 * browser would not store such a cookie, so on loopback, where nobody can listen in, the cookie has no prefix.
 */
type SessionCookie = { set(token: string): string; clear(): string; read(header: string | undefined): string | undefined };

/** @param publicUrl the public origin, which decides whether cookies need HTTPS */
export function sessionCookie(publicUrl: string): SessionCookie {
  const isBare = isPlainLoopback(publicUrl);
  const name = isBare ? "petstore-session" : "__Host-petstore-session";
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isBare ? "" : "; Secure"}`;
  return {
    set: (token) => `${name}=${token}; ${attributes}; Max-Age=${absoluteMs / 1_000}`,
    clear: () => `${name}=; ${attributes}; Max-Age=0`,
    read(header = "") {
      const pair = header.split(";").find((part) => part.trimStart().startsWith(`${name}=`));
      const token = pair?.trim().slice(name.length + 1);
      return token === undefined || token === "" ? undefined : token;
    },
  };
}

/** Whether an origin is `http://` on this machine alone. */
export function isPlainLoopback(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && (hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname));
}
