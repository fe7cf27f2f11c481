import { randomBytes } from "node:crypto";
import { formatDateTime } from "../../platform/http/dates.ts";
import { hashToken } from "./members.ts";
import { base32 } from "./totp.ts";

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
export const wrongCodesMs = 24 * 3_600_000;

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
