import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { isReplay } from "../../platform/http/idempotency.ts";
import type { Answer, Call } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { findAccount } from "../accounts/accounts.store.ts";
import { quotaOf, type Quota } from "../accounts/accounts.ts";
import {
  addKey,
  deleteKey,
  findKey,
  isReplaced,
  listKeysAfter,
  liveKeyIds,
  lockKeys,
  replaceKey,
  type MadeKey,
} from "../keys/keys.store.ts";
import { hasExpired, keyResponse, type Key } from "../keys/keys.ts";
import type { Limiter } from "../limits/limits.ts";
import { makersOf, requireFewer, requireGiven, requireWithin, termsOf, type AskedKey } from "./key-bounds.ts";
import { signedOut } from "./responses.ts";

export type KeyServices = { announcer: Announcer; limiter: Pick<Limiter, "strikeStatus" | "unban"> };
type One = { params: { keyId: number } };

/** What a change of keys knows before its transaction, and the text of the key that it makes, which no stored answer has. */
type Making = { isBanned: boolean; text?: string };

export async function readKeys(db: Database, call: Call<KeyServices, { query: { limit?: number; cursor?: string } }>): Promise<Answer> {
  const { accountId, query, services } = call;
  const [after = 0] = positionOf(query, 1) ?? [];
  const [quota, rows] = await Promise.all([
    quotaIn(db, accountId),
    listKeysAfter(db, accountId, Number(after), (query.limit ?? limitDefault) + 1),
  ]);
  const page = pageOf("/keys", query, rows, (row) => [row.id]);
  return { status: 200, body: await Promise.all(page.rows.map((key) => withStrikes(key, quota, services))), headers: page.headers };
}

export async function createKey(tx: Transaction, call: Call<KeyServices, { body: AskedKey }>, making: Making): Promise<Answer> {
  const { accountId, body, now } = call;
  const by = await lockCaller(tx, call);
  const terms = termsOf(accountId, body, by, now);
  if (by) requireFewer((await liveKeyIds(tx, accountId, now)).size);
  return answerOf(await addKey(tx, terms, now), making);
}

export async function rotateKey(
  tx: Transaction,
  call: Call<KeyServices, One & { body: { overlapHours?: number } }>,
  making: Making,
): Promise<Answer> {
  const { accountId, params, body, services, now } = call;
  const by = await lockCaller(tx, call);
  const old = await requireKey(tx, accountId, params.keyId);
  if (by) await requireMayRotate(tx, by, old, making);
  const { previous, ...made } = await replaceKey(tx, old, { ...body, ...(by && { makers: await joinedMakers(tx, by, old, now) }) }, now);
  if (by) requireFewer((await liveKeyIds(tx, accountId, now)).size - 1);
  await announce(tx, services, old);
  return answerOf(made, making, { previous: { id: previous.id, expiresAt: formatDateTime(previous.expiresAt) } });
}

export async function revokeKey(tx: Transaction, call: Call<KeyServices, One>): Promise<Answer> {
  const { accountId, params, services } = call;
  const by = await lockCaller(tx, call);
  const key = await requireKey(tx, accountId, params.keyId);
  if (by) requireWithin(by, key);
  await deleteKey(tx, key);
  await announce(tx, services, key);
  return { status: 204 };
}

/** Looks whether the key of the path is banned: the limiter may be on another machine, so a transaction cannot wait for it. */
export async function lookForBan(db: Database, { accountId, params, services: { limiter } }: Call<KeyServices, One>): Promise<Making> {
  const [quota, key] = await Promise.all([quotaIn(db, accountId), findKey(db, params.keyId)]);
  if (key?.accountId !== accountId) return { isBanned: false };
  return { isBanned: (await limiter.strikeStatus(key.accountId, key.id, quota, key.makers)).bannedUntil !== undefined };
}

/** Adds the new key to the answer that made it. A replay cannot: only the key's hash is stored. */
export function revealKey(answered: Answer, _call: unknown, { text }: Making): Answer {
  if (answered.status !== 201) return answered;
  const shown = isReplay(answered)
    ? { notice: "The key was shown in the first answer to this request, and is not stored." }
    : { key: text };
  return { ...answered, body: { ...(answered.body as object), ...shown } };
}

/** Resolves when no node accepts a key that the change has removed. */
export function confirm(_db: Database, { services }: { services: KeyServices }): Promise<void> {
  return services.announcer.waitForAll();
}

/** Finds a key of the account. @throws Problem `not_found` */
export async function requireKey(db: Queryable, accountId: number, keyId: number): Promise<Key> {
  const key = await findKey(db, keyId);
  if (key?.accountId === accountId) return key;
  throw new Problem("not_found", `There is no ${byId("key", keyId)}.`);
}

/**
 * Keeps the keys of the account from changing, and returns the key that calls; undefined for a member.
 *
 * @throws Problem `unauthorized` if it was revoked or expired since the request began: then it may make no key that survives it
 */
async function lockCaller(tx: Transaction, { accountId, keyId, now }: Call<KeyServices>): Promise<Key | undefined> {
  await lockKeys(tx, accountId);
  if (keyId === undefined) return undefined;
  const key = await findKey(tx, keyId);
  if (key && !hasExpired(key.expiresAt, now)) return key;
  throw new Problem("unauthorized", "The key of this request has been revoked.");
}

/** @throws Problem `forbidden` if the key may not rotate the other one, `key_replaced` if a rotation has replaced it already */
async function requireMayRotate(tx: Transaction, by: Key, old: Key, { isBanned }: Making): Promise<void> {
  requireGiven(by, old);
  if (isBanned) throw new Problem("forbidden", `Key ${old.id} is banned: a key cannot rotate it until its ban ends.`);
  if (await isReplaced(tx, old))
    throw new Problem("key_replaced", `Key ${old.id} has been replaced already: rotate the key that replaced it.`);
}

/** The keys whose bans count for the successor of `old`: those that made it, and the caller. One that no longer works can get no ban. */
async function joinedMakers(tx: Transaction, by: Key, old: Key, now: number): Promise<number[]> {
  const live = await liveKeyIds(tx, by.accountId, now);
  return [...new Set([...old.makers, ...makersOf(by)])].filter((id) => live.has(id));
}

function announce(tx: Transaction, { announcer }: KeyServices, { id }: Key): Promise<number> {
  return announcer.publish(tx, { kind: "key", subject: String(id) });
}

/** The answer that is stored with an Idempotency-Key: it has no key in it. */
function answerOf({ key, text }: MadeKey, making: Making, more: object = {}): Answer {
  making.text = text;
  const { id, name, publishable, scopes, origins, expiresAt, replaces } = keyResponse(key);
  return { status: 201, body: { id, name, publishable, scopes, origins, expiresAt, replaces, ...more } };
}

async function quotaIn(db: Database, accountId: number): Promise<Quota> {
  const account = await findAccount(db, accountId);
  if (!account) throw signedOut();
  return quotaOf(account);
}

async function withStrikes(key: Key, quota: Quota, { limiter }: KeyServices) {
  const { strikes, strikesRemaining, bannedUntil } = await limiter.strikeStatus(key.accountId, key.id, quota, key.makers);
  return { ...keyResponse(key), strikes, strikesRemaining, bannedUntil: bannedUntil === undefined ? null : formatDateTime(bannedUntil) };
}
