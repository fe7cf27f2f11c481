import sql, { raw } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Queryable, Row, Transaction } from "../../platform/db/database.ts";
import type { EventType } from "../../platform/event-types.ts";
import { invalidAt } from "../../platform/problem.ts";
import { quotaOf, type Plan, type Quota } from "../accounts/accounts.ts";
import {
  defaultName,
  hasExpired,
  hashKey,
  keysMax,
  makeKey,
  overlapHoursDefault,
  prefixOf,
  rotatedExpiry,
  type Key,
  type Scope,
} from "./keys.ts";

const columns = raw("id, account_id, name, prefix, publishable, scopes, origins, created_at, expires_at, last_used_at, replaces, makers");

export type NewKey = {
  accountId: number;
  /** Default: `Key` and its id. */
  name?: string | undefined;
  publishable: boolean;
  scopes: readonly Scope[];
  /** Default: none. */
  origins?: readonly string[];
  expiresAt: number | null;
  /** The id of the key that this one replaces. Default: none. */
  replaces?: number;
  /** The ids of the keys whose bans count for it. Default: none. */
  makers?: readonly number[];
};

/** Lets no other transaction create, rotate or revoke keys of the account until this one has ended. */
export async function lockKeys(tx: Transaction, accountId: number): Promise<void> {
  await tx.lock(`keys of account ${accountId}`);
}

/** A key with its text, which only this result has. */
export type MadeKey = { key: Key; text: string };

/**
 * Makes a key. `lockKeys` comes before it.
 *
 * @throws Problem `invalid_request` if the account has its most keys already
 */
export async function addKey(tx: Transaction, terms: NewKey, now: number): Promise<MadeKey> {
  if ((await countKeys(tx, terms.accountId)) >= keysMax) {
    throw invalidAt("body", "is one key too many", `The account has ${keysMax} keys already: revoke some first.`);
  }
  const text = makeKey(terms.publishable);
  return { key: await insertKey(tx, text, terms, now), text };
}

/**
 * Replaces a key by one with the same name, scopes, origins and expiry. The old one ends after `overlapHours`. `lockKeys` comes before it.
 *
 * @param makers the keys whose bans count for the new one
 * @throws Problem `invalid_request` if the key has expired, or the account has its most keys already
 */
export async function replaceKey(
  tx: Transaction,
  old: Key,
  { overlapHours = overlapHoursDefault, makers = old.makers }: { overlapHours?: number | undefined; makers?: readonly number[] },
  now: number,
): Promise<MadeKey & { previous: { id: number; expiresAt: number } }> {
  if (hasExpired(old.expiresAt, now)) {
    throw invalidAt("path.keyId", "has expired", `Key ${old.id} has expired: create a new one.`);
  }
  const expiresAt = rotatedExpiry(old.expiresAt, overlapHours, now);
  await setExpiry(tx, old, expiresAt);
  const name = old.name === defaultName(old.id) ? undefined : old.name;
  const made = await addKey(tx, { ...old, name, replaces: old.id, makers }, now);
  return { ...made, previous: { id: old.id, expiresAt } };
}

/**
 * Adds a key. Stores only its hash and its start.
 *
 * @throws ConstraintError `foreign_key` if there is no such account
 */
export async function insertKey(tx: Transaction, key: string, terms: NewKey, now: number): Promise<Key> {
  const rows = await tx.query(sql`
    INSERT INTO keys (account_id, id, name, hash, prefix, publishable, scopes, origins, created_at, expires_at, replaces, makers)
    VALUES (${terms.accountId}, nextval('key_ids'), ${terms.name ?? null}, ${hashKey(key)}, ${prefixOf(key)}, ${terms.publishable},
      ${terms.scopes.join(" ")}, ${(terms.origins ?? []).join(" ")}, ${now}, ${terms.expiresAt}, ${terms.replaces ?? null},
      ${(terms.makers ?? []).join(" ")})
    RETURNING ${columns}`);
  const made = keyOf(rows[0]!);
  record(tx, "key.created", made);
  return made;
}

/** Counts an account's keys, including expired ones. */
async function countKeys(db: Queryable, accountId: number): Promise<number> {
  const rows = await db.query(sql`SELECT count(*) AS n FROM keys WHERE account_id = ${accountId}`);
  return Number(rows[0]?.["n"]);
}

/** Lists an account's keys, at most `keysMax`, by id, including expired ones. */
export async function listKeys(db: Queryable, accountId: number): Promise<Key[]> {
  const rows = await db.query(sql`SELECT ${columns} FROM keys WHERE account_id = ${accountId} ORDER BY id`);
  return rows.map(keyOf);
}

/** Lists a page of an account's keys, by id, including expired ones. */
export async function listKeysAfter(db: Queryable, accountId: number, afterId: number, limit: number): Promise<Key[]> {
  const rows = await db.query(sql`
    SELECT ${columns} FROM keys WHERE account_id = ${accountId} AND id > ${afterId} ORDER BY id ${limitTo(limit)}`);
  return rows.map(keyOf);
}

/** The ids of an account's keys that have not expired: at most `keysMax`. */
export async function liveKeyIds(db: Queryable, accountId: number, now: number): Promise<Set<number>> {
  const rows = await db.query(sql`
    SELECT id FROM keys WHERE account_id = ${accountId} AND (expires_at IS NULL OR expires_at > ${now})`);
  return new Set(rows.map((row) => Number(row["id"])));
}

/** Whether a rotation has replaced a key by one that still exists. */
export async function isReplaced(db: Queryable, { accountId, id }: Key): Promise<boolean> {
  const rows = await db.query(sql`SELECT 1 FROM keys WHERE account_id = ${accountId} AND replaces = ${id} LIMIT 1`);
  return rows.length > 0;
}

/** Finds a key of any account by its id; undefined if there is none. */
export async function findKey(db: Queryable, id: number): Promise<Key | undefined> {
  const rows = await db.query(sql`SELECT ${columns} FROM keys WHERE id = ${id}`);
  return rows[0] && keyOf(rows[0]);
}

/** Sets the expiry (ms since the Unix epoch) of a key that another one replaces. */
async function setExpiry(tx: Transaction, key: Key, expiresAt: number): Promise<void> {
  record(tx, "key.rotated", key);
  await tx.query(sql`UPDATE keys SET expires_at = ${expiresAt} WHERE account_id = ${key.accountId} AND id = ${key.id}`);
}

/** Deletes a key. `lockKeys` comes before it. */
export async function deleteKey(tx: Transaction, key: Key): Promise<void> {
  await tx.query(sql`DELETE FROM keys WHERE account_id = ${key.accountId} AND id = ${key.id}`);
  record(tx, "key.revoked", key);
}

/** Deletes all keys of an account: at most `keysMax`. */
export async function deleteKeys(tx: Transaction, accountId: number): Promise<void> {
  await tx.query(sql`DELETE FROM keys WHERE account_id = ${accountId}`);
}

export type KeyWithPlan = { key: Key; plan: Plan; quota: Quota };

/** Finds a key by its hash, with its account's plan, in one read. Also finds expired keys. */
export async function findKeyByHash(db: Queryable, keyHash: string): Promise<KeyWithPlan | undefined> {
  const rows = await db.query(sql`
    SELECT keys.id, account_id, keys.name, prefix, publishable, scopes, origins, keys.created_at, expires_at, last_used_at, replaces, makers, plan,
      per_minute, per_day
    FROM keys JOIN accounts ON accounts.id = keys.account_id WHERE hash = ${keyHash}`);
  const row = rows[0];
  if (!row) return undefined;
  const plan = row["plan"] as Plan;
  return {
    key: keyOf(row),
    plan,
    quota: quotaOf({ plan, perMinute: numberOrNull(row["per_minute"]), perDay: numberOrNull(row["per_day"]) }),
  };
}

export type Use = { accountId: number; keyId: number; usedAt: number };

/** Records when keys were last used. Skips keys that were deleted since. */
export async function recordUses(tx: Transaction, uses: readonly Use[]): Promise<void> {
  for (const { accountId, keyId, usedAt } of uses) {
    await tx.query(sql`UPDATE keys SET last_used_at = ${usedAt} WHERE account_id = ${accountId} AND id = ${keyId}`);
  }
}

/** Ends the ban of one key, and returns whether there was one or a strike. Rejects with `unavailable` if the limiter cannot be reached. */
export type Unbanning = { unban(keyId: number): boolean | Promise<boolean> };

/** Ends a key's ban, also that of a key that made it, and clears their strikes. Returns whether there were any. */
export async function endBan(db: Database, limiter: Unbanning, key: Key): Promise<boolean> {
  const ended: boolean[] = [];
  for (const one of [key.id, ...key.makers]) ended.push(await limiter.unban(one));
  const unbanned = ended.includes(true);
  if (unbanned) await db.write(async (tx) => record(tx, "key.unbanned", key));
  return unbanned;
}

/** Records an event of a key. It holds only ids: the key's name is read when the event is shown. */
function record(tx: Transaction, type: Extract<EventType, `key.${string}`>, { accountId, id }: Key): void {
  tx.record({ accountId, type, resource: { type: "key", id }, data: { id } });
}

function keyOf(row: Row): Key {
  return {
    id: Number(row["id"]),
    accountId: Number(row["account_id"]),
    name: (row["name"] as string | null) ?? defaultName(Number(row["id"])),
    prefix: String(row["prefix"]),
    publishable: Boolean(row["publishable"]),
    scopes: String(row["scopes"]).split(" ") as Scope[],
    origins: row["origins"] === "" ? [] : String(row["origins"]).split(" "),
    createdAt: Number(row["created_at"]),
    expiresAt: numberOrNull(row["expires_at"]),
    lastUsedAt: numberOrNull(row["last_used_at"]),
    replaces: numberOrNull(row["replaces"]),
    makers: row["makers"] === "" ? [] : String(row["makers"]).split(" ").map(Number),
  };
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
