import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { formatDateTime } from "../../platform/http/dates.ts";
import { Problem } from "../../platform/problem.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "../../platform/secrets.ts";

/** The most passkeys of a member. */
export const passkeysMax = 10;
/** How long (ms) a browser may take to answer a challenge. */
export const challengeMs = 5 * 60_000;

/** A member's passkey. Times are ms since the Unix epoch. */
export type Passkey = { id: string; name: string; rpId: string; createdAt: number; usedAt: number | null };

/** The relying party of passkeys: the host of PUBLIC_URL, and the origin that browsers sign. */
export type RelyingParty = { id: string; origin: string };

/**
 * Returns the relying party of a public origin. Returns undefined for an IP address, and for plain HTTP other than `localhost`:
 * browsers do not create passkeys there (Web Authentication, 5.1.3).
 */
export function relyingPartyOf(publicUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isAddress = isIP(hostname) !== 0 || hostname.startsWith("[");
  const isSecure = protocol === "https:" || hostname === "localhost";
  return isAddress || !isSecure ? undefined : { id: hostname, origin };
}

/** @throws Problem `invalid_request` if the public origin cannot have passkeys */
export function requireRelyingParty(publicUrl: string): RelyingParty {
  const party = relyingPartyOf(publicUrl);
  if (party) return party;
  throw new Problem("invalid_request", "Passkeys need a PUBLIC_URL with https:// and a host name, or localhost.");
}

/** The purpose of a challenge. A registration is bound to one session. */
export type Purpose = { kind: "sign-in" } | { kind: "register"; accountId: number; memberId: number; sessionId: number };
/** The content of a challenge's cookie. `userHandle` is base64url; empty unless the challenge is for a registration. */
type ChallengeToken = { challenge: string; purpose: string; userHandle: string; expiresAt: number };

const owner = "passkey challenge";

/**
 * Creates a challenge, and an encrypted cookie that holds it. The database stores nothing until the challenge is answered, so
 * strangers who ask for challenges cannot fill a table.
 */
export function makeChallenge(
  keys: SecretsKeys,
  purpose: Purpose,
  now: number,
  userHandle = "",
): { bytes: Uint8Array<ArrayBuffer>; cookie: string } {
  const bytes = new Uint8Array(randomBytes(32));
  const sealed: ChallengeToken = {
    challenge: Buffer.from(bytes).toString("base64url"),
    purpose: purposeText(purpose),
    userHandle,
    expiresAt: now + challengeMs,
  };
  return { bytes, cookie: encryptSecret(keys, JSON.stringify(sealed), owner) };
}

/** Returns the challenge in a cookie, as base64url; undefined if it is forged, has expired, or has another purpose. */
export function openChallenge(
  keys: SecretsKeys,
  cookie: string | undefined,
  purpose: Purpose,
  now: number,
): Omit<ChallengeToken, "purpose"> | undefined {
  if (cookie === undefined) return undefined;
  let sealed: ChallengeToken;
  try {
    sealed = JSON.parse(decryptSecret(keys, cookie, owner)) as ChallengeToken;
  } catch {
    return undefined;
  }
  return sealed.purpose === purposeText(purpose) && now < sealed.expiresAt ? sealed : undefined;
}

function purposeText(purpose: Purpose): string {
  return purpose.kind === "sign-in" ? "sign-in" : `register ${purpose.accountId} ${purpose.memberId} ${purpose.sessionId}`;
}

/** A passkey as responses show it. `works` is false if it was made for an earlier host of PUBLIC_URL. */
export function passkeyResponse({ id, name, rpId, createdAt, usedAt }: Passkey, party: RelyingParty | undefined) {
  const times = { createdAt: formatDateTime(createdAt), usedAt: usedAt === null ? null : formatDateTime(usedAt) };
  return { id, name, host: rpId, works: rpId === party?.id, ...times };
}
