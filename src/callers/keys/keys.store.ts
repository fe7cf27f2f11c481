import sql, { raw } from "sql-template-tag";
import type { Queryable, Row, Transaction } from "../../platform/db/database.ts";
import type { EventType } from "../../platform/events.ts";
import { quotaOf, type Plan, type Quota } from "../accounts/accounts.ts";
import { defaultName, hashKey, prefixOf, type Key, type Scope } from "./keys.ts";

const columns = raw("id, account_id, name, prefix, publishable, scopes, origins, created_at, expires_at, last_used_at, replaces");

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
};

/**
 * Adds a key. Stores only its hash and its start.
 *
 * @throws ConstraintError `foreign_key` if there is no such account
 */
export async function insertKey(tx: Transaction, key: string, terms: NewKey, now: number): Promise<Key> {
  const rows = await tx.query(sql`
    INSERT INTO keys (account_id, id, name, hash, prefix, publishable, scopes, origins, created_at, expires_at, replaces)
    VALUES (${terms.accountId}, nextval('key_ids'), ${terms.name ?? null}, ${hashKey(key)}, ${prefixOf(key)}, ${terms.publishable},
      ${terms.scopes.join(" ")}, ${(terms.origins ?? []).join(" ")}, ${now}, ${terms.expiresAt}, ${terms.replaces ?? null})
    RETURNING ${columns}`);
  const made = keyOf(rows[0]!);
  record(tx, "key.created", made);
  return made;
}

/** Counts an account's keys, including expired ones. */
export async function countKeys(db: Queryable, accountId: number): Promise<number> {
  const rows = await db.query(sql`SELECT count(*) AS n FROM keys WHERE account_id = ${accountId}`);
  return Number(rows[0]?.["n"]);
}

/** Lists an account's keys, at most `keysMax`, by id, including expired ones. */
export async function listKeys(db: Queryable, accountId: number): Promise<Key[]> {
  const rows = await db.query(sql`SELECT ${columns} FROM keys WHERE account_id = ${accountId} ORDER BY id`);
  return rows.map(keyOf);
}

/** Finds a key of any account by its id; undefined if there is none. */
export async function findKey(db: Queryable, id: number): Promise<Key | undefined> {
  const rows = await db.query(sql`SELECT ${columns} FROM keys WHERE id = ${id}`);
  return rows[0] && keyOf(rows[0]);
}

/** Sets the expiry (ms since the Unix epoch) of a key that another one replaces. */
export async function setExpiry(tx: Transaction, key: Key, expiresAt: number): Promise<void> {
  record(tx, "key.rotated", key);
  await tx.query(sql`UPDATE keys SET expires_at = ${expiresAt} WHERE account_id = ${key.accountId} AND id = ${key.id}`);
}

/** Deletes a key and returns it; undefined if there is none. */
export async function deleteKey(tx: Transaction, id: number): Promise<Key | undefined> {
  const rows = await tx.query(sql`DELETE FROM keys WHERE id = ${id} RETURNING ${columns}`);
  if (!rows[0]) return undefined;
  const gone = keyOf(rows[0]);
  record(tx, "key.revoked", gone);
  return gone;
}

/** Deletes all keys of an account: at most `keysMax`. */
export async function deleteKeys(tx: Transaction, accountId: number): Promise<void> {
  await tx.query(sql`DELETE FROM keys WHERE account_id = ${accountId}`);
}

export type KeyWithPlan = { key: Key; plan: Plan; quota: Quota };

/** Finds a key by its hash, with its account's plan, in one read. Also finds expired keys. */
export async function findKeyByHash(db: Queryable, keyHash: string): Promise<KeyWithPlan | undefined> {
  const rows = await db.query(sql`
    SELECT keys.id, account_id, keys.name, prefix, publishable, scopes, origins, keys.created_at, expires_at, last_used_at, replaces, plan, per_minute, per_day
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

/** Records that somebody ended a key's ban. */
export async function recordUnban(tx: Transaction, key: Key): Promise<void> {
  record(tx, "key.unbanned", key);
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
  };
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
