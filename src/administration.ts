import { Type, type Static, type TSchema } from "typebox";
import { accountName, plans, planTerms, quotaMax, quotaOf, type Account } from "./callers/accounts/accounts.ts";
import { deleteAccount, findAccount, insertAccount, listAccounts, updatePlan } from "./callers/accounts/accounts.store.ts";
import {
  hasExpired,
  keyExpiry,
  keyScopes,
  keysMax,
  makeKey,
  overlapHoursDefault,
  overlapHoursMax,
  rotatedExpiry,
  scopes,
  type Key,
} from "./callers/keys/keys.ts";
import { countKeys, deleteKey, deleteKeys, findKey, insertKey, listKeys, setExpiry, type NewKey } from "./callers/keys/keys.store.ts";
import { emailOf, roles, shownInvited, shownMember, type Member } from "./callers/people/people.ts";
import { findMemberByEmail, invite, listMembers, removeMember, reset } from "./callers/people/people.store.ts";
import type { Clock } from "./platform/clock.ts";
import type { Database, Queryable, Transaction } from "./platform/db/database.ts";
import type { Announcer } from "./platform/nodes/nodes.ts";
import { formatDateTime } from "./platform/http/dates.ts";
import { bodyValidator } from "./platform/http/validation.ts";
import { Problem } from "./platform/problem.ts";
import { deleteProjectsOf } from "./publishing/projects/projects.store.ts";

const listMax = 1_000;
const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const email = Type.String({ maxLength: 254 });
const figure = Type.Integer({ minimum: 1, maximum: quotaMax });
const terms = { plan: Type.Enum([...plans]), perMinute: Type.Optional(figure), perDay: Type.Optional(figure) };
const accountTerms = { name: Type.String(), ...terms };
const keyTerms = {
  account: id,
  scopes: Type.Optional(Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: 100 })),
  expires: Type.Optional(Type.String({ maxLength: 100 })),
  publishable: Type.Optional(Type.Boolean()),
};

/** What keeps verified keys and must be told of every change. */
type KeptKeys = { forgetAccount(accountId: number): void; forgetKey(keyId: number): void };
/** What keeps bans. Rejects with `unavailable` where that cannot be reached. */
type Bans = { unban(keyId: number): boolean | Promise<boolean> };

/**
 * What an operator may do, by name. Each operation checks its input (`invalid_request`), knows absent things as
 * `not_found`, and is done, here and on every other node, when it answers: a key that was revoked works no more.
 */
export function openAdministration(options: {
  db: Database;
  clock: Clock;
  verifier: KeptKeys;
  limiter: Bans;
  announcer: Announcer;
  publicUrl: string;
}) {
  const { db, clock, verifier, limiter, announcer, publicUrl } = options;
  const announceAccount = (tx: Transaction, subject: number) => announcer.announce(tx, { kind: "account", subject: String(subject) });
  const announceKey = (tx: Transaction, subject: number) => announcer.announce(tx, { kind: "key", subject: String(subject) });
  return {
    /** Makes an account with a first key of all scopes, which is shown here only. */
    "accounts.create": operation(accountTerms, async (input) => {
      const wanted = accountWanted(input);
      return db.write((tx) => makeAccount(tx, wanted, clock()));
    }),

    /** As `accounts.create` where there is no account yet; else null. Of nodes that start at the same moment one makes it. */
    "accounts.createFirst": operation(accountTerms, async (input) => {
      const wanted = accountWanted(input);
      return db.write(async (tx) => {
        await tx.lock("first account");
        return (await listAccounts(tx, 0, 1)).length > 0 ? null : makeAccount(tx, wanted, clock());
      });
    }),

    /** At most 1,000 accounts, by id, beginning after the id `after`. */
    "accounts.list": operation({ after: Type.Optional(Type.Integer({ minimum: 0 })) }, async ({ after = 0 }) => ({
      accounts: (await listAccounts(db, after, listMax)).map(shownAccount),
    })),

    "accounts.setPlan": operation({ id, ...terms }, async (input) => {
      const agreed = planTerms(input);
      const [account, change] = await db.write(async (tx) => {
        const updated = await updatePlan(tx, input.id, agreed);
        if (!updated) throw absent("account", input.id);
        return [updated, await announceAccount(tx, updated.id)] as const;
      });
      verifier.forgetAccount(account.id);
      await announcer.confirmed(change);
      return { account: shownAccount(account) };
    }),

    /** Deletes an account with all that it owns. */
    "accounts.delete": operation({ id }, async (input) => {
      const account = await demandAccount(db, input.id);
      const change = await db.write(async (tx) => {
        await deleteKeys(tx, account.id);
        return announceAccount(tx, account.id);
      });
      verifier.forgetAccount(account.id);
      await announcer.confirmed(change);
      const forget = () => verifier.forgetAccount(account.id);
      await deleteProjectsOf(db, account.id, (tx) => announceAccount(tx, account.id));
      await deleteAccount(db, account.id, forget);
      forget();
      await announcer.settled();
      return { account: { id: account.id, name: account.name, plan: account.plan } };
    }),

    /** Makes a key, which is shown here only. */
    "keys.create": operation(keyTerms, async ({ account, publishable = false, ...asked }) => {
      const expiresAt = asked.expires === undefined ? null : keyExpiry(asked.expires, clock());
      const wanted: NewKey = { accountId: account, publishable, scopes: keyScopes(asked.scopes, publishable), expiresAt };
      return db.write(async (tx) => {
        await demandAccount(tx, account);
        return addKey(tx, wanted, clock());
      });
    }),

    "keys.list": operation({ account: id }, async ({ account }) => {
      await demandAccount(db, account);
      return { keys: (await listKeys(db, account)).map(shownKey) };
    }),

    /** Makes a key with the scopes and the expiry of another one, which ends after `overlapHours`. */
    "keys.rotate": operation(
      { id, overlapHours: Type.Optional(Type.Number({ minimum: 0, maximum: overlapHoursMax })) },
      async ({ id: keyId, overlapHours = overlapHoursDefault }) => {
        const [answer, change] = await db.write(async (tx) => {
          const old = await findKey(tx, keyId);
          if (!old) throw absent("key", keyId);
          if (hasExpired(old.expiresAt, clock())) throw new Problem("invalid_request", `Key ${keyId} has expired: create a new one.`);
          const expiresAt = rotatedExpiry(old.expiresAt, overlapHours, clock());
          await setExpiry(tx, old, expiresAt);
          const made = { ...(await addKey(tx, old, clock())), previous: { id: old.id, expiresAt: formatDateTime(expiresAt) } };
          return [made, await announceKey(tx, keyId)] as const;
        });
        verifier.forgetKey(keyId);
        await announcer.confirmed(change);
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
      await announcer.confirmed(change);
      return { id: gone.id, account: gone.accountId, prefix: gone.prefix };
    }),

    /** Ends a key's ban and forgets its strikes; `unbanned` tells whether it had any. */
    "keys.unban": operation({ id }, async ({ id: keyId }) => {
      const key = await findKey(db, keyId);
      if (!key) throw absent("key", keyId);
      const unbanned = await limiter.unban(keyId);
      return { id: key.id, account: key.accountId, prefix: key.prefix, unbanned };
    }),

    /**
     * Makes a sign-in link, shown here only, for a member, who is made where there is none with this email. Without a
     * role the first one becomes an owner. Without an email the owner gives one after signing in.
     */
    "members.invite": operation({ account: id, email: Type.Optional(email), role: Type.Optional(Type.Enum([...roles])) }, async (input) => {
      const { account, role } = input;
      const invited = await db.write(async (tx) => {
        await demandAccount(tx, account);
        return invite(tx, account, { email: input.email ?? null, role }, clock());
      });
      return shownInvited(publicUrl, invited);
    }),

    /** Takes a member's password and sessions away, and makes a new sign-in link, shown here only. */
    "members.reset": operation({ account: id, email }, async ({ account, email: text }) => {
      const invited = await db.write(async (tx) => {
        const { id: memberId } = await demandMember(tx, account, text);
        return reset(tx, account, memberId, clock());
      });
      if (!invited) throw noMember(text);
      return shownInvited(publicUrl, invited);
    }),

    "members.list": operation({ account: id }, async ({ account }) => {
      await demandAccount(db, account);
      return { members: (await listMembers(db, account)).map(shownMember) };
    }),

    /** Removes a member, whose sessions and links end with the answer. */
    "members.remove": operation({ account: id, email }, async ({ account, email: text }) => {
      const gone = await db.write(async (tx) => {
        const { id: memberId } = await demandMember(tx, account, text);
        return removeMember(tx, account, memberId);
      });
      if (!gone) throw noMember(text);
      return { member: shownMember(gone) };
    }),
  };
}

export type Administration = ReturnType<typeof openAdministration>;

/** An operation whose input is validated by a schema of its fields; messages name the field alone. */
function operation<P extends Record<string, TSchema>, R>(fields: P, run: (input: Static<ReturnType<typeof Type.Object<P>>>) => Promise<R>) {
  const schema = Type.Object(fields, { additionalProperties: false });
  const validate = bodyValidator(schema);
  return async (input: unknown): Promise<R> => {
    try {
      validate(input);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new Problem(error.code, error.message.replace(/^body\./, ""));
    }
    return run(input as Static<typeof schema>);
  };
}

/** Reads what was asked for outside of a transaction: a refusal changes nothing. */
function accountWanted(input: { name: string } & Parameters<typeof planTerms>[0]) {
  return { name: accountName(input.name), agreed: planTerms(input) };
}

async function makeAccount(tx: Transaction, { name, agreed }: ReturnType<typeof accountWanted>, now: number) {
  const key = makeKey(false);
  const { id: accountId, plan } = await insertAccount(tx, name, agreed, now);
  await insertKey(tx, key, { accountId, publishable: false, scopes, expiresAt: null }, now);
  return { account: { id: accountId, name, plan }, key };
}

async function demandAccount(db: Queryable, accountId: number): Promise<Account> {
  const account = await findAccount(db, accountId);
  if (!account) throw absent("account", accountId);
  return account;
}

async function demandMember(db: Queryable, accountId: number, text: string): Promise<Member> {
  await demandAccount(db, accountId);
  const member = await findMemberByEmail(db, accountId, emailOf(text));
  if (!member) throw noMember(text);
  return member;
}

function noMember(text: string): Problem {
  return new Problem("not_found", `The account has no member ${text.trim()}.`);
}

function absent(what: string, which: number): Problem {
  return new Problem("not_found", `There is no ${what} ${which}.`);
}

async function addKey(tx: Transaction, wanted: NewKey, now: number) {
  await tx.lock(`keys of account ${wanted.accountId}`); // else two that are made at once may both be the last
  if ((await countKeys(tx, wanted.accountId)) >= keysMax) {
    throw new Problem("invalid_request", `The account has ${keysMax} keys already: revoke some first.`);
  }
  const text = makeKey(wanted.publishable);
  const made = await insertKey(tx, text, wanted, now);
  return { id: made.id, key: text, scopes: made.scopes };
}

function shownAccount(account: Account) {
  const { perMinute, perDay } = quotaOf(account);
  return { id: account.id, name: account.name, plan: account.plan, perMinute, perDay, createdAt: formatDateTime(account.createdAt) };
}

function shownKey(key: Key) {
  return {
    id: key.id,
    prefix: key.prefix,
    publishable: key.publishable,
    scopes: key.scopes,
    createdAt: formatDateTime(key.createdAt),
    expiresAt: key.expiresAt === null ? null : formatDateTime(key.expiresAt),
    lastUsedAt: key.lastUsedAt === null ? null : formatDateTime(key.lastUsedAt),
  };
}
