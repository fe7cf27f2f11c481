import {
  addKey,
  deleteKey,
  endBan,
  findKey,
  listKeys,
  lockKeys,
  replaceKey,
  type MadeKey,
  type NewKey,
  type Unbanning,
} from "../callers/keys/keys.store.ts";
import {
  keyExpiry,
  KeyName,
  KeyOrigins,
  keyOrigins,
  keyScopes,
  overlapHoursMax,
  scopes,
  keyResponse,
  type Key,
} from "../callers/keys/keys.ts";
import type { Transaction } from "../platform/db/database.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { operatorOperation, type OperatorOperations } from "../platform/http/operation.ts";
import { Type } from "../platform/json-schema.ts";
import type { Announcer } from "../platform/nodes/nodes.ts";
import { absent, demandAccount, id } from "./accounts.ts";

/** What the operations on keys use. */
export type KeyServices = {
  announcer: Announcer;
  /** The cache of verified keys, which must forget every key that changes. */
  verifier: { forgetKey(keyId: number): void };
  limiter: Unbanning;
};

const keyTerms = {
  account: id,
  scopes: Type.Optional(Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: 100 })),
  expires: Type.Optional(Type.String({ maxLength: 100 })),
  publishable: Type.Optional(Type.Boolean()),
  name: Type.Optional(KeyName),
  origins: Type.Optional(KeyOrigins),
};

/** An operator's operations on keys. */
export const keyOperations = {
  /** Creates a key. Only this answer shows it. */
  "keys.create": operatorOperation(keyTerms, async ({ db, body: { account, publishable = false, name, ...asked }, now }) => {
    const expiresAt = asked.expires === undefined ? null : keyExpiry(asked.expires, now);
    const origins = keyOrigins(asked.origins ?? [], publishable);
    const wanted: NewKey = { accountId: account, name, publishable, scopes: keyScopes(asked.scopes, publishable), origins, expiresAt };
    return db.write(async (tx) => {
      await demandAccount(tx, account);
      await lockKeys(tx, account);
      return shown(await addKey(tx, wanted, now));
    });
  }),

  "keys.list": operatorOperation({ account: id }, async ({ db, body: { account } }) => {
    await demandAccount(db, account);
    return { keys: (await listKeys(db, account)).map(keyResponse) };
  }),

  /** Replaces a key by one with the same name, scopes, origins and expiry. The old one ends after `overlapHours`. */
  "keys.rotate": operatorOperation(
    { id, overlapHours: Type.Optional(Type.Number({ minimum: 0, maximum: overlapHoursMax })) },
    async ({ db, body: { id: keyId, overlapHours }, now, services: { announcer, verifier } }) => {
      const [answer, change] = await db.write(async (tx) => {
        const { previous, ...made } = await replaceKey(tx, await lockKey(tx, keyId), { overlapHours }, now);
        const until = formatDateTime(previous.expiresAt);
        return [{ ...shown(made), previous: { id: keyId, expiresAt: until } }, await announce(announcer, tx, keyId)] as const;
      });
      verifier.forgetKey(keyId);
      await announcer.waitForAck(change);
      return answer;
    },
  ),

  "keys.revoke": operatorOperation({ id }, async ({ db, body: { id: keyId }, services: { announcer, verifier } }) => {
    const [gone, change] = await db.write(async (tx) => {
      const key = await lockKey(tx, keyId);
      await deleteKey(tx, key);
      return [key, await announce(announcer, tx, keyId)] as const;
    });
    verifier.forgetKey(gone.id);
    await announcer.waitForAck(change);
    return { id: gone.id, account: gone.accountId, prefix: gone.prefix };
  }),

  /** Ends a key's ban, also that of a key that made it, and clears their strikes. `unbanned` is whether there were any. */
  "keys.unban": operatorOperation({ id }, async ({ db, body: { id: keyId }, services: { limiter } }) => {
    const key = await findKey(db, keyId);
    if (!key) throw absent("key", keyId);
    return { id: key.id, account: key.accountId, prefix: key.prefix, unbanned: await endBan(db, limiter, key) };
  }),
} satisfies OperatorOperations<KeyServices>;

function announce(announcer: Announcer, tx: Transaction, keyId: number): Promise<number> {
  return announcer.publish(tx, { kind: "key", subject: String(keyId) });
}

/** Finds a key, and keeps the keys of its account from changing. @throws Problem `not_found` */
async function lockKey(tx: Transaction, keyId: number): Promise<Key> {
  const found = await findKey(tx, keyId);
  if (found) await lockKeys(tx, found.accountId);
  const key = found && (await findKey(tx, keyId)); // the one before this lock may have revoked it
  if (!key) throw absent("key", keyId);
  return key;
}

const shown = ({ key: { id: keyId, scopes: given }, text }: MadeKey) => ({ id: keyId, key: text, scopes: given });
