import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { hourMs } from "../../platform/clock.ts";
import { formatDateTime, parseDateTime } from "../../platform/http/dates.ts";
import { Text } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { origin } from "../../platform/parse.ts";
import { invalidAt, type Problem } from "../../platform/problem.ts";

/** The scopes of a key that is made without any (specification 3.4). */
export const defaultScopes = [
  "catalogue:read",
  "catalogue:write",
  "orders:read",
  "orders:write",
  "inventory:read",
  "inventory:write",
  "publishing:read",
  "publishing:write",
  "events:read",
  "webhooks:read",
  "webhooks:write",
  "account:read",
] as const;
/** The scopes to read and write who ordered, which is personal data: a key has them only if they were named. */
const contactScopes = ["contacts:read", "contacts:write"] as const;
/** The scopes to manage keys. Only members and operators give them, and only by name. */
export const managingScopes = ["keys:read", "keys:write"] as const;
export const scopes = [...defaultScopes, ...contactScopes, ...managingScopes] as const;
export type Scope = (typeof scopes)[number];

/** The scopes that a publishable key may have. Anybody can read it in the source of a web page. */
export const publishableScopes: readonly Scope[] = ["catalogue:read", "inventory:read"];

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 30;
const checksumLength = 6;
const bodyStart = "psk_".length;
const checksumStart = bodyStart + randomLength;
const keyLength = checksumStart + checksumLength;
const base62 = /^[0-9A-Za-z]*$/;

/**
 * Creates a key: `psk_` (secret) or `psp_` (publishable), 30 random base62 characters (178 bits), and 6 base62 characters,
 * most significant first, of the CRC-32 over everything before them, prefix included.
 */
export function makeKey(publishable: boolean): string {
  let text = publishable ? "psp_" : "psk_";
  for (let i = 0; i < randomLength; i++) text += alphabet[randomInt(alphabet.length)];
  return text + checksumOf(text);
}

/** Whether a text has the form and the checksum of a key. */
export function wellFormed(text: string): boolean {
  if (text.length !== keyLength || !(text.startsWith("psk_") || text.startsWith("psp_"))) return false;
  return base62.test(text.slice(bodyStart)) && text.endsWith(checksumOf(text.slice(0, checksumStart)));
}

/** Returns the hash under which a key is stored: SHA-256 in base64url. 178 random bits need no salt and no slow hash. */
export function hashKey(key: string): string {
  return hash("sha256", key, "base64url");
}

/** Returns the first characters of a key, by which lists show it. */
export function prefixOf(key: string): string {
  return key.slice(0, bodyStart + 4);
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A stored key, without its secret text. Times are ms since the Unix epoch. */
export type Key = {
  id: number;
  accountId: number;
  /** The name that it was given. Default: `Key` and its id. */
  name: string;
  prefix: string;
  publishable: boolean;
  scopes: Scope[];
  /** The web origins that the key is bound to; empty if it is bound to none. */
  origins: string[];
  createdAt: number;
  expiresAt: number | null;
  /** Rounded down to the minute. */
  lastUsedAt: number | null;
  /** The id of the key that it replaced in a rotation. */
  replaces: number | null;
  /** The ids of the keys whose bans count for it, because they made it. */
  makers: number[];
};

/** Returns the default name of a key. */
export function defaultName(id: number): string {
  return `Key ${id}`;
}

/** A key as responses show it. */
export function keyResponse(key: Key) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    publishable: key.publishable,
    scopes: key.scopes,
    origins: key.origins,
    createdAt: formatDateTime(key.createdAt),
    expiresAt: key.expiresAt === null ? null : formatDateTime(key.expiresAt),
    lastUsedAt: key.lastUsedAt === null ? null : formatDateTime(key.lastUsedAt),
    replaces: key.replaces,
  };
}

/** Whether a key has expired: it works until its expiry, exclusive. */
export function hasExpired(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && now >= expiresAt;
}

/**
 * Parses an expiry: `2027-01-31` (midnight, UTC) or RFC 3339 with a zone.
 *
 * @throws Problem `invalid_request` unless it is in the future
 */
export function keyExpiry(text: string, now: number): number {
  const time = parseDateTime(text) ?? parseDateTime(`${text}T00:00:00Z`);
  if (time === undefined) throw badExpiry("must be a date, or a date and time of RFC 3339 with a zone");
  if (time <= now) throw badExpiry("must be in the future");
  return time;
}

function badExpiry(message: string): Problem {
  return invalidAt("body.expires", message, `expires ${message}.`);
}

/**
 * Returns the scopes of a new key: the requested ones, or all of its kind that need not be named, in the order of `scopes`.
 *
 * @throws Problem `invalid_request` if a publishable key may not have one of them
 */
export function keyScopes(asked: readonly Scope[] | undefined, publishable: boolean): Scope[] {
  const allowed = publishable ? publishableScopes : scopes;
  const refused = asked?.find((scope) => !allowed.includes(scope));
  const only = `only ${allowed.join(" and ")}`;
  if (refused) throw invalidAt("body.scopes", `must be ${only}`, `A publishable key cannot have ${refused}, ${only}.`);
  return scopes.filter((scope) => (asked ?? defaultScopesOf(publishable)).includes(scope));
}

/** The scopes of a key of this kind that is made without any. */
export function defaultScopesOf(publishable: boolean): readonly Scope[] {
  return publishable ? publishableScopes : defaultScopes;
}

export const KeyName = Text("The key's name. Default: `Key` and its id.", 1, 100);
const KeyOrigin = Type.String({ maxLength: 300, "x-pattern": "^[Hh][Tt][Tt][Pp][Ss]?:[\\x2F]{2}[^\\x00-\\x20?#@\\x2F\\\\]+[\\x2F]?$" });
export const KeyOrigins = Type.Array(KeyOrigin, {
  maxItems: 20,
  description: "The web origins, such as `https://shop.example`, that a publishable key is bound to. Default: none.",
});

/**
 * Returns the origins of a new key, each once, as browsers send them.
 *
 * @throws Problem `invalid_request` for a secret key, and for a text that is not an http or https origin
 */
export function keyOrigins(asked: readonly string[], publishable: boolean): string[] {
  if (asked.length > 0 && !publishable) throw badOrigins("Only a publishable key can be bound to origins.");
  const origins = asked.map((text) => {
    const parsed = /^https?:\/\/[^\s?#@/\\]+\/?$/i.test(text) ? origin(text) : undefined;
    if (parsed === undefined) throw badOrigins(`${text} is not an origin, such as https://shop.example.`);
    return parsed;
  });
  return [...new Set(origins)];
}

function badOrigins(message: string): Problem {
  return invalidAt("body.origins", message, message);
}

/** The most keys of an account. */
export const keysMax = 1_000;

export const overlapHoursDefault = 24;
export const overlapHoursMax = 24 * 30;

/** Returns the new expiry of a key that is rotated: the end of the overlap, but never later than its current expiry. */
export function rotatedExpiry(expiresAt: number | null, overlapHours: number, now: number): number {
  return Math.min(expiresAt ?? Infinity, now + overlapHours * hourMs);
}
