import { Type } from "typebox";
import { accountName, plans, planTerms, quotaMax, quotaOf, type Account } from "../callers/accounts/accounts.ts";
import { deleteAccount, findAccount, insertAccount, listAccounts, updatePlan } from "../callers/accounts/accounts.store.ts";
import { makeKey, scopes } from "../callers/keys/keys.ts";
import { deleteKeys, insertKey } from "../callers/keys/keys.store.ts";
import type { Queryable, Transaction } from "../platform/db/database.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { resumeCertificates } from "../publishing/domains/domains.store.ts";
import { deleteProjectsOf } from "../publishing/projects/projects.store.ts";
import { absent, id, operation, type Parts } from "./operation.ts";

const listMax = 1_000;
const figure = Type.Integer({ minimum: 1, maximum: quotaMax });
const terms = { plan: Type.Enum([...plans]), perMinute: Type.Optional(figure), perDay: Type.Optional(figure) };
const accountTerms = { name: Type.String(), ...terms };

/** What an operator may do with accounts. */
export function accountOperations({ db, clock, verifier, announcer }: Parts) {
  const announceAccount = (tx: Transaction, subject: number) => announcer.announce(tx, { kind: "account", subject: String(subject) });
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
      await resumeCertificates(db, account.id, clock());
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
  };
}

/** @throws Problem `not_found` */
export async function demandAccount(db: Queryable, accountId: number): Promise<Account> {
  const account = await findAccount(db, accountId);
  if (!account) throw absent("account", accountId);
  return account;
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

function shownAccount(account: Account) {
  const { perMinute, perDay } = quotaOf(account);
  return { id: account.id, name: account.name, plan: account.plan, perMinute, perDay, createdAt: formatDateTime(account.createdAt) };
}
