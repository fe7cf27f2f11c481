import { formatDateTime } from "../../platform/http/dates.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import type { NewKey } from "../keys/keys.store.ts";
import { defaultScopesOf, keyExpiry, keyOrigins, keyScopes, managingScopes, type Key, type Scope } from "../keys/keys.ts";

/** The most keys of an account that have not expired, if a key makes them (specification 3.13). */
const liveKeysMax = 100;

type Terms = Pick<Key, "scopes" | "expiresAt">;

/** What a caller asks of a new key. */
export type AskedKey = {
  scopes?: readonly Scope[];
  expires?: string;
  publishable?: boolean;
  name?: string;
  origins?: readonly string[];
};

/**
 * The terms of a new key. What is left out follows the caller's own terms, if a key calls.
 *
 * @param by the key that calls; undefined for a member
 * @throws Problem `invalid_request`; `forbidden` if they do not lie within the caller's own
 */
export function termsOf(accountId: number, { publishable = false, name, ...asked }: AskedKey, by: Key | undefined, now: number): NewKey {
  const origins = keyOrigins(asked.origins ?? [], publishable);
  const shared = by && defaultScopesOf(publishable).filter((scope) => by.scopes.includes(scope));
  const scopes = keyScopes(asked.scopes ?? shared, publishable);
  const expiresAt = asked.expires === undefined ? (by?.expiresAt ?? null) : keyExpiry(asked.expires, now);
  if (by) requireGiven(by, { scopes, expiresAt });
  return { accountId, name, publishable, scopes, origins, expiresAt, ...(by && { makers: makersOf(by) }) };
}

/** The keys whose bans count for a key that this one makes. */
export function makersOf(by: Key): number[] {
  return [...by.makers, by.id];
}

/** Requires that a key may give these terms to another: they lie within its own, and do not manage keys. @throws Problem `forbidden` */
export function requireGiven(by: Key, terms: Terms): void {
  const managing = terms.scopes.find((scope) => managingScopes.some((one) => one === scope));
  if (managing) throw new Problem("forbidden", `A key cannot give ${managing}: a member or the operator can.`);
  if (terms.scopes.length === 0) throw new Problem("forbidden", "The key has no scope that it could give.");
  requireWithin(by, terms);
}

/**
 * Requires that the terms of another key lie within those of the key that calls. Kinds and origins need no check: a key that may call this is
 * secret, so it is bound to no origin, and every kind and every origin lies within.
 *
 * @throws Problem `forbidden`
 */
export function requireWithin(by: Key, { scopes, expiresAt }: Terms): void {
  const missing = scopes.find((scope) => !by.scopes.includes(scope));
  if (missing) throw new Problem("forbidden", `The other key has the scope ${missing}, which this key lacks.`);
  if (by.expiresAt === null || (expiresAt !== null && expiresAt <= by.expiresAt)) return;
  throw new Problem("forbidden", `The other key would outlive this key, which expires at ${formatDateTime(by.expiresAt)}.`);
}

/** @throws Problem `invalid_request` if keys have made so many that the account has its most live ones */
export function requireFewer(live: number): void {
  if (live < liveKeysMax) return;
  throw invalidAt(
    "body",
    "is one key too many",
    `The account has ${live} live keys, and keys make at most ${liveKeysMax}: revoke some first.`,
  );
}
