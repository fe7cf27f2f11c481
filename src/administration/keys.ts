import { Type } from "../platform/json-schema.ts";
import {
  defaultName,
  hasExpired,
  keyExpiry,
  KeyName,
  KeyOrigins,
  keyOrigins,
  keyScopes,
  keysMax,
  makeKey,
  overlapHoursDefault,
  overlapHoursMax,
  rotatedExpiry,
  scopes,
  keyResponse,
  type Key,
} from "../callers/keys/keys.ts";
import { countKeys, deleteKey, findKey, insertKey, listKeys, recordUnban, setExpiry, type NewKey } from "../callers/keys/keys.store.ts";
import type { Transaction } from "../platform/db/database.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { invalidAt } from "../platform/problem.ts";
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
        return addKey(tx, wanted, clock());
      });
    }),

    "keys.list": operation({ account: id }, async ({ account }) => {
      await demandAccount(db, account);
      return { keys: (await listKeys(db, account)).map(keyResponse) };
    }),

    /** Replaces a key by one with the same name, scopes, origins and expiry. The old one ends after `overlapHours`. */
    "keys.rotate": operation(
      { id, overlapHours: Type.Optional(Type.Number({ minimum: 0, maximum: overlapHoursMax })) },
      async ({ id: keyId, overlapHours = overlapHoursDefault }) => {
        const [answer, change] = await db.write(async (tx) => {
          const old = await findKey(tx, keyId);
          if (!old) throw absent("key", keyId);
          if (hasExpired(old.expiresAt, clock()))
            throw invalidAt("path.keyId", "has expired", `Key ${keyId} has expired: create a new one.`);
          return [await replaceKey(tx, old, overlapHours, clock()), await announceKey(tx, keyId)] as const;
        });
        verifier.forgetKey(keyId);
        await announcer.waitForAck(change);
        return answer;
      },
    ),

    "keys.revoke": operation({ id }, async ({ id: keyId }) => {
      const [gone, change] = await db.write(async (tx) => {
        const deleted = await deleteKey(tx, keyId);
        if (!deleted) throw absent("key", keyId);
        return [deleted, await announceKey(tx, keyId)] as const;
      });
      verifier.forgetKey(gone.id);
      await announcer.waitForAck(change);
      return { id: gone.id, account: gone.accountId, prefix: gone.prefix };
    }),

    /** Ends a key's ban and clears its strikes. `unbanned` is whether it had any. */
    "keys.unban": operation({ id }, async ({ id: keyId }) => {
      const key = await findKey(db, keyId);
      if (!key) throw absent("key", keyId);
      const unbanned = await limiter.unban(keyId);
      if (unbanned) await db.write((tx) => recordUnban(tx, key));
      return { id: key.id, account: key.accountId, prefix: key.prefix, unbanned };
    }),
  };
}

async function replaceKey(tx: Transaction, old: Key, overlapHours: number, now: number) {
  const expiresAt = rotatedExpiry(old.expiresAt, overlapHours, now);
  await setExpiry(tx, old, expiresAt);
  const name = old.name === defaultName(old.id) ? undefined : old.name;
  const made = await addKey(tx, { ...old, name, replaces: old.id }, now);
  return { ...made, previous: { id: old.id, expiresAt: formatDateTime(expiresAt) } };
}

async function addKey(tx: Transaction, wanted: NewKey, now: number) {
  await tx.lock(`keys of account ${wanted.accountId}`); // two simultaneous requests could both create the last allowed key
  if ((await countKeys(tx, wanted.accountId)) >= keysMax) {
    throw invalidAt("body", "is one key too many", `The account has ${keysMax} keys already: revoke some first.`);
  }
  const text = makeKey(wanted.publishable);
  const made = await insertKey(tx, text, wanted, now);
  return { id: made.id, key: text, scopes: made.scopes };
}
