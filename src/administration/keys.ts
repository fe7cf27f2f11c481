import { Type } from "../platform/json-schema.ts";
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
import {
  addKey,
  deleteKey,
  findKey,
  listKeys,
  lockKeys,
  recordUnban,
  replaceKey,
  type MadeKey,
  type NewKey,
} from "../callers/keys/keys.store.ts";
import type { Transaction } from "../platform/db/database.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { demandAccount } from "./accounts.ts";
import { absent, id, operation, type Parts } from "./operation.ts";

const keyTerms = {
  account: id,
  scopes: Type.Optional(Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: 100 })),
  expires: Type.Optional(Type.String({ maxLength: 100 })),
  publishable: Type.Optional(Type.Boolean()),
  name: Type.Optional(KeyName),
  origins: Type.Optional(KeyOrigins),
};

/** An operator's operations on keys. */
export function keyOperations({ db, clock, verifier, limiter, announcer }: Parts) {
  const announceKey = (tx: Transaction, subject: number) => announcer.publish(tx, { kind: "key", subject: String(subject) });
  return {
    /** Creates a key. Only this answer shows it. */
    "keys.create": operation(keyTerms, async ({ account, publishable = false, name, ...asked }) => {
      const expiresAt = asked.expires === undefined ? null : keyExpiry(asked.expires, clock());
      const origins = keyOrigins(asked.origins ?? [], publishable);
      const wanted: NewKey = { accountId: account, name, publishable, scopes: keyScopes(asked.scopes, publishable), origins, expiresAt };
      return db.write(async (tx) => {
        await demandAccount(tx, account);
        await lockKeys(tx, account);
        return shown(await addKey(tx, wanted, clock()));
      });
    }),

    "keys.list": operation({ account: id }, async ({ account }) => {
      await demandAccount(db, account);
      return { keys: (await listKeys(db, account)).map(keyResponse) };
    }),

    /** Replaces a key by one with the same name, scopes, origins and expiry. The old one ends after `overlapHours`. */
    "keys.rotate": operation(
      { id, overlapHours: Type.Optional(Type.Number({ minimum: 0, maximum: overlapHoursMax })) },
      async ({ id: keyId, overlapHours }) => {
        const [answer, change] = await db.write(async (tx) => {
          const { previous, ...made } = await replaceKey(tx, await lockKey(tx, keyId), { overlapHours }, clock());
          const until = formatDateTime(previous.expiresAt);
          return [{ ...shown(made), previous: { id: keyId, expiresAt: until } }, await announceKey(tx, keyId)] as const;
        });
        verifier.forgetKey(keyId);
        await announcer.waitForAck(change);
        return answer;
      },
    ),

    "keys.revoke": operation({ id }, async ({ id: keyId }) => {
      const [gone, change] = await db.write(async (tx) => {
        const key = await lockKey(tx, keyId);
        await deleteKey(tx, key);
        return [key, await announceKey(tx, keyId)] as const;
      });
      verifier.forgetKey(gone.id);
      await announcer.waitForAck(change);
      return { id: gone.id, account: gone.accountId, prefix: gone.prefix };
    }),

    /** Ends a key's ban, also that of a key that made it, and clears their strikes. `unbanned` is whether there were any. */
    "keys.unban": operation({ id }, async ({ id: keyId }) => {
      const key = await findKey(db, keyId);
      if (!key) throw absent("key", keyId);
      const ended: boolean[] = [];
      for (const one of [keyId, ...key.makers]) ended.push(await limiter.unban(one));
      const unbanned = ended.includes(true);
      if (unbanned) await db.write((tx) => recordUnban(tx, key));
      return { id: key.id, account: key.accountId, prefix: key.prefix, unbanned };
    }),
  };
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
