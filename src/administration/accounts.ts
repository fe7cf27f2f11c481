import { deleteAccount, findAccount, insertAccount, listAccounts, updatePlan } from "../callers/accounts/accounts.store.ts";
import { type Account, accountName, plans, planTerms, quotaMax, quotaOf, storageLimits } from "../callers/accounts/accounts.ts";
import { deleteKeys, insertKey } from "../callers/keys/keys.store.ts";
import { defaultScopes, makeKey } from "../callers/keys/keys.ts";
import { invite } from "../callers/members/members.store.ts";
import { invitationResponse } from "../callers/members/members.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Queryable, Transaction } from "../platform/db/database.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { operatorOperation, type OperatorOperations } from "../platform/http/operation.ts";
import { Type } from "../platform/json-schema.ts";
import type { Announcer } from "../platform/nodes/nodes.ts";
import { Problem } from "../platform/problem.ts";
import { readStorage, readStorages, type Storage } from "../platform/storage-quotas.ts";
import { resumeCertificates } from "../publishing/certificates/certificate-state.store.ts";
import { hasNamesWithHsts, listServedNames, reviewTroubles } from "../publishing/domains/domains.store.ts";
import { paidPlans } from "../publishing/domains/domains.ts";
import { type EdgePorts, sendsHsts } from "../publishing/domains/serving.ts";
import { deleteProjectsOf } from "../publishing/projects/projects.store.ts";

/** What the operations on accounts use. `ports` are the public ports of the edge. */
export type AccountServices = {
  announcer: Announcer;
  /** The cache of verified keys, which must forget those of every account that changes. */
  verifier: { forgetAccount(accountId: number): void };
  ports: EdgePorts;
};

export const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const listMax = 1_000;
const figure = Type.Integer({ minimum: 1, maximum: quotaMax });
const stored = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const terms = {
  plan: Type.Enum([...plans]),
  perMinute: Type.Optional(figure),
  perDay: Type.Optional(figure),
  records: Type.Optional(stored),
  publishedBytes: Type.Optional(stored),
  eventBytes: Type.Optional(stored),
};
const accountTerms = { name: Type.String(), ...terms };

/** An operator's operations on accounts. */
export const accountOperations = {
  /** Creates an account with a first key, which can do everything but manage keys. Only this answer shows the key. */
  "accounts.create": operatorOperation(accountTerms, async ({ db, body, now }) => {
    const wanted = accountWanted(body);
    return db.write((tx) => makeAccount(tx, wanted, now));
  }),

  /** Returns up to 1,000 accounts, by id, with ids above `after`. */
  "accounts.list": operatorOperation({ after: Type.Optional(Type.Integer({ minimum: 0 })) }, async ({ db, body: { after = 0 } }) => {
    const accounts = await listAccounts(db, after, listMax);
    const storages = await readStorages(
      db,
      accounts.map((account) => account.id),
    );
    return { accounts: accounts.flatMap((account, index) => (storages[index] ? [shownAccount(account, storages[index])] : [])) };
  }),

  /**
   * Changes a plan, and lists the custom domains that this stops serving. Default of each figure: the plan's. The account keeps the
   * events that it holds, unless `eventBytes` is given. `dryRun`: returns the same answer and changes nothing.
   */
  "accounts.setPlan": operatorOperation({ id, ...terms, dryRun: Type.Optional(Type.Boolean()) }, async ({ db, body, now, services }) => {
    const { announcer, verifier, ports } = services;
    const agreed = planTerms(body);
    const set = async (tx: Transaction) => {
      const stopped = paidPlans.has(agreed.plan) ? noNames : await listServedNames(tx, body.id, stoppedMax);
      const updated = await updatePlan(tx, body.id, agreed, storageLimits(body), body.eventBytes === undefined);
      if (!updated) throw absent("account", body.id);
      const hsts = stopped.count > 0 && sendsHsts(ports) && (await hasNamesWithHsts(tx, updated.id, now));
      const account = shownAccount(updated, await readStorage(tx, updated.id));
      return { account, stopped, ...(hsts && { warning: hstsWarning }) };
    };
    if (body.dryRun === true) return { ...(await db.write(set, { isDryRun: true })), dryRun: true };
    const [answer, change] = await db.write(async (tx) => [await set(tx), await announce(announcer, tx, body.id)] as const);
    verifier.forgetAccount(body.id);
    await resumeCertificates(db, body.id, now);
    await reviewTroubles(db, body.id);
    await announcer.waitForAck(change);
    return { ...answer, dryRun: false };
  }),

  /** Deletes an account with everything that it owns. */
  "accounts.delete": operatorOperation({ id }, async ({ db, body, now, services: { announcer, verifier } }) => {
    const account = await demandAccount(db, body.id);
    const change = await db.write(async (tx) => {
      await deleteKeys(tx, account.id);
      return announce(announcer, tx, account.id);
    });
    const forget = () => verifier.forgetAccount(account.id);
    forget();
    await announcer.waitForAck(change);
    await deleteProjectsOf(db, account.id, now, (tx) => announce(announcer, tx, account.id));
    await deleteAccount(db, account.id, forget);
    forget();
    await announcer.waitForAll();
    return { account: { id: account.id, name: account.name, plan: account.plan } };
  }),
} satisfies OperatorOperations<AccountServices>;

function announce(announcer: Announcer, tx: Transaction, accountId: number): Promise<number> {
  return announcer.publish(tx, { kind: "account", subject: String(accountId) });
}

/** The most domains that are listed when a plan stops serving them. */
const stoppedMax = 1_000;
const noNames = { count: 0, hostnames: [] };
const hstsWarning =
  "Browsers that have visited a domain open it over HTTPS only, for up to a year (HSTS). Its next address needs a certificate.";

/** The refusal of an unknown id. */
export function absent(what: string, which: number): Problem {
  return new Problem("not_found", `There is no ${what} ${which}.`);
}

/** @throws Problem `not_found` */
export async function demandAccount(db: Queryable, accountId: number): Promise<Account> {
  const account = await findAccount(db, accountId);
  if (!account) throw absent("account", accountId);
  return account;
}

/** Validates the input of a new account before the transaction. */
function accountWanted(input: { name: string } & Parameters<typeof planTerms>[0] & Parameters<typeof storageLimits>[0]) {
  return { name: accountName(input.name), agreed: planTerms(input), storage: storageLimits(input) };
}

/** Inserts an account with a first key, which can do everything but manage keys. Only this result has the key: the database stores its hash. */
async function makeAccount(tx: Transaction, { name, agreed, storage }: ReturnType<typeof accountWanted>, now: number) {
  const key = makeKey(false);
  const { id: accountId, plan } = await insertAccount(tx, name, agreed, now, storage);
  await insertKey(tx, key, { accountId, publishable: false, scopes: defaultScopes, expiresAt: null }, now);
  return { account: { id: accountId, name, plan }, key };
}

function shownAccount(account: Account, storage: Storage) {
  const { id: accountId, name, plan, createdAt } = account;
  return { id: accountId, name, plan, ...quotaOf(account), ...storage, createdAt: formatDateTime(createdAt) };
}

/** The account of a first start, with its key and its sign-in link. The database stores only hashes of the two. */
export type FirstAccount = { account: { id: number; name: string; plan: string }; key: string; link: string };

const name = "My shop";
const plan = "business";

/**
 * Creates an account with a key and a sign-in link if there is no account yet. The transaction shows them as its last step, so a process
 * that ends before that leaves no account, and the next start creates another. If several nodes start at once, one of them creates it.
 *
 * @param show shows them before it returns
 */
export async function createFirst(
  { db, clock, publicUrl }: { db: Database; clock: Clock; publicUrl: string },
  show: (first: FirstAccount) => void,
): Promise<void> {
  if ((await listAccounts(db, 0, 1)).length > 0) return; // a node also starts on a database that takes no writes
  await db.write(async (tx) => {
    await tx.lock("first account");
    if ((await listAccounts(tx, 0, 1)).length > 0) return;
    const made = await makeAccount(tx, accountWanted({ name, plan }), clock());
    const { link } = invitationResponse(publicUrl, await invite(tx, made.account.id, { email: null }, clock()));
    show({ ...made, link });
  });
}
