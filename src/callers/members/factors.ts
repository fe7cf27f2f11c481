import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { dayMs } from "../../platform/clock.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { hashToken } from "./members.ts";

/** How many recovery codes a member gets. Each replaces the second factor in one sign-in. */
const recoveryCodesMade = 10;
/** 80 random bits: 16 characters in four groups. */
const recoveryCodeBytes = 10;
/** How long (ms) the second step of a sign-in may take. */
export const pendingMs = 5 * 60_000;
/** The most sign-ins of a member that wait for their second step. Beyond it the oldest one ends. */
export const pendingMax = 20;
/**
 * The most wrong codes of a member's authenticator app in a day, from all addresses together. Of a million codes, three are right
 * at any time. So an attacker who knows the password and has many addresses guesses one with a probability of 0.03 % a day.
 * Recovery codes and passkeys still work after that many.
 */
export const wrongCodesMax = 100;
export const wrongCodesMs = dayMs;

/** The second factors of a member. Times are ms since the Unix epoch. */
export type Factors = { app: { enabledAt: number } | null; recoveryCodesLeft: number };

/** Creates recovery codes. The database stores only their hashes. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesMade }, () => {
    const text = base32(randomBytes(recoveryCodeBytes));
    return (text.match(/.{4}/g) ?? []).join("-");
  });
}

/** Returns the hash under which a recovery code is stored. Case, spaces and hyphens do not change it. */
export function recoveryCodeHash(memberId: number, code: string): string {
  return hashToken(`recovery ${memberId} ${code.toLowerCase().replaceAll(/[\s-]/g, "")}`);
}

/** Returns the six digits of an authenticator app's code; undefined for other text, such as a recovery code. */
export function appCodeOf(text: string): string | undefined {
  const code = text.replaceAll(/\s/g, "");
  return /^\d{6}$/.test(code) ? code : undefined;
}

/** A member's second factors as responses show them. */
export function factorsResponse({ app, recoveryCodesLeft }: Factors) {
  return { app: app && { enabledAt: formatDateTime(app.enabledAt) }, recoveryCodesLeft };
}

/** One-time codes of authenticator apps (RFC 6238). SHA-1, six digits and 30 seconds are the only parameters that every app supports. */
const stepMs = 30_000;
const digits = 6;
/** RFC 4226, 4: a secret should have 160 bits. */
const secretBytes = 20;
/** How many steps before and after the current one are accepted (RFC 6238, 5.2), because clocks differ and typing takes time. */
const stepsAround = 1;
const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/** Encodes bytes in base32 (RFC 4648, 6), in lower case and without padding. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet[(value >> (bits - 5)) & 31];
    value &= 255;
  }
  return bits === 0 ? text : text + alphabet[(value << (5 - bits)) & 31];
}

/** Creates the secret of an authenticator app, as base64url. */
export function newTotpSecret(): string {
  return randomBytes(secretBytes).toString("base64url");
}

/** Returns a secret as members type it into an app that cannot scan the QR code. */
export function typedSecret(secret: string): string {
  return base32(Buffer.from(secret, "base64url")).toUpperCase();
}

/** Returns the URI that an authenticator app reads from a QR code (the Key URI Format of Google Authenticator). */
export function totpUri(secret: string, { account, email }: { account: string; email: string }): string {
  // A colon separates the issuer from the name.
  const issuer = account.replaceAll(":", " ");
  const query = `secret=${typedSecret(secret)}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1_000}`;
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(email)}?${query}`;
}

/** Returns the number of the 30-second step that contains `now` (ms since the Unix epoch). */
export function stepAt(now: number): number {
  return Math.floor(now / stepMs);
}

/** Returns the code of a step (RFC 4226, 5.3). */
export function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", Buffer.from(secret, "base64url")).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits).padStart(digits, "0");
}

/** Returns the latest accepted step that has this code; undefined if none has. */
export function stepOfCode(secret: string, code: string, now: number): number | undefined {
  const given = Buffer.from(code);
  let found: number | undefined;
  for (let step = stepAt(now) - stepsAround; step <= stepAt(now) + stepsAround; step++) {
    const expected = Buffer.from(codeOf(secret, step));
    if (given.length === expected.length && timingSafeEqual(given, expected)) found = step;
  }
  return found;
}
