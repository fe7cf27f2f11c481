import { hash, randomBytes } from "node:crypto";
import { hourMs, minuteMs } from "../../platform/clock.ts";
import { earlierKey } from "../../platform/folding.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { invalidAt } from "../../platform/problem.ts";
import { defaultScopes } from "../keys/keys.ts";

export const roles = ["owner", "member"] as const;
export type Role = (typeof roles)[number];

/** A person who signs in to the dashboard of an account. Times are ms since the Unix epoch. */
export type Member = {
  id: number;
  accountId: number;
  /** Null for an owner created at the first start, until they set one. */
  email: string | null;
  role: Role;
  hasPassword: boolean;
  createdAt: number;
  signedInAt: number | null;
  /** The last reset: `by` is the email of the owner who did it, or `operator`. */
  reset: Reset | null;
  /** Whether signing in with the password takes a second step. */
  hasSecondFactor: boolean;
  /** The last time that an owner removed the second factors and kept the password. */
  factorsReset: Reset | null;
};

/** A reset of a member by somebody else. */
export type Reset = { at: number; by: string };

/** The most members of an account. */
export const membersMax = 100;

/** Every member sees the account and works in the store, with customers' contacts. Owners also manage keys and members. */
const memberScopes: readonly string[] = [...defaultScopes, "contacts:read", "contacts:write", "self", "keys:read", "members:read"];
const scopesByRole: Record<Role, ReadonlySet<string>> = {
  member: new Set(memberScopes),
  owner: new Set([...memberScopes, "keys:write", "members:write", "audit:read"]),
};

/** Returns the scopes of a role. */
export function scopesOf(role: Role): ReadonlySet<string> {
  return scopesByRole[role];
}

/**
 * Returns an email as it is stored: trimmed.
 *
 * @throws Problem `invalid_request` if the text is not an email (RFC 5321, 4.5.3.1: at most 254 characters)
 */
export function emailOf(text: string): string {
  const email = text.trim();
  const isEmail = email.length <= 254 && email.isWellFormed() && /^[^\s\p{Cc}@]{1,64}@[^\s\p{Cc}@]+$/u.test(email);
  if (isEmail) return email;
  throw invalidAt("body.email", "must be an email address", "email must be an email address.");
}

/** Returns the form of an email that is compared: it does not depend on upper or lower case. */
export function emailKey(email: string): string {
  return earlierKey(email.trim());
}

/** How long (ms) the link of an invitation works, which people send by hand, and how long any other sign-in link (specification 3.9). */
export const invitationMs = 72 * hourMs;
export const linkMs = 15 * minuteMs;

/** Creates the secret of a link or a session: 256 random bits. */
export function makeToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Returns the hash under which a token is stored. Random bits need no salt and no slow hash. */
export function hashToken(token: string): string {
  return hash("sha256", token, "base64url");
}

/** A member and a new sign-in link. The token exists only here; the database has its hash. `expiresAt` is in ms since the Unix epoch. */
export type Invitation = { member: Member; token: string; expiresAt: number };

/** A member as responses show it. */
export function memberResponse(member: Member) {
  const { id, email, role, hasPassword, hasSecondFactor, createdAt, signedInAt, reset, factorsReset } = member;
  return {
    id,
    email,
    role,
    hasPassword,
    hasSecondFactor,
    createdAt: formatDateTime(createdAt),
    signedInAt: signedInAt === null ? null : formatDateTime(signedInAt),
    reset: resetResponse(reset),
    factorsReset: resetResponse(factorsReset),
  };
}

function resetResponse(reset: Reset | null) {
  return reset && { at: formatDateTime(reset.at), by: reset.by };
}

/** An invitation as responses show it. The link's token is in the fragment, which no server, proxy or log sees. */
export function invitationResponse(publicUrl: string, { member, token, expiresAt }: Invitation) {
  return { member: memberResponse(member), link: `${publicUrl}/sign-in#token=${token}`, expiresAt: formatDateTime(expiresAt) };
}
