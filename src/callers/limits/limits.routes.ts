import type { Database } from "../../platform/db/database.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { operation, type Answer, type Call, type Operation } from "../../platform/http/operation.ts";
import { DateTime, Id, named, openEnumeration, variant } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { Problem } from "../../platform/problem.ts";
import { readStorage } from "../../platform/storage-quotas.ts";
import { findAccount } from "../accounts/accounts.store.ts";
import { currencySchema, lowStockSchema, plans, quotaOf, storageExample, storageSchemas } from "../accounts/accounts.ts";
import { listKeys } from "../keys/keys.store.ts";
import type { Limiter } from "./limits.ts";

const PlanName = openEnumeration("Plan", plans);

const LimitWindow = named(
  "LimitWindow",
  Type.Object({
    limit: Type.Integer({ description: "Requests that the account may make in the UTC window." }),
    used: Type.Integer({ description: "Requests used, including this one." }),
    remaining: Type.Integer({ description: "Requests left." }),
    resetAt: DateTime("When the window ends."),
  }),
);

const KeyStrikes = named(
  "KeyStrikes",
  Type.Object(
    {
      id: Id("The key that the request was made with."),
      strikes: Type.Integer({ description: "Requests over a limit within the last minute." }),
      strikesRemaining: Type.Integer({ description: "Strikes left before the key is banned." }),
    },
    { description: "How near the key is to a ban." },
  ),
);

const Ban = named("Ban", Type.Object({ keyId: Id("A key of the account that is banned."), until: DateTime("When its ban ends.") }));

const Account = named(
  "Account",
  Type.Object({
    id: Id("Unique identifier of the account."),
    name: Type.String({ description: "The account's name." }),
    plan: variant(PlanName, { description: "The plan that the limits come from." }),
    minute: LimitWindow,
    day: LimitWindow,
    ...storageSchemas,
    key: Type.Optional(KeyStrikes),
    lowStock: lowStockSchema,
    currency: currencySchema,
    bans: Type.Array(Ban, {
      description: "The bans in force, by key. A banned key cannot make this request; another key of the account can.",
    }),
  }),
);

const example = {
  id: 1,
  name: "My shop",
  plan: "business",
  minute: { limit: 1_000, used: 1, remaining: 999, resetAt: "2026-12-24T10:01:00Z" },
  day: { limit: 100_000, used: 1, remaining: 99_999, resetAt: "2026-12-25T00:00:00Z" },
  ...storageExample,
  key: { id: 1, strikes: 0, strikesRemaining: 200 },
  lowStock: 3,
  currency: null,
  bans: [],
};

export type LimitServices = { limiter: Pick<Limiter, "peekAccount" | "strikeStatus"> };

export const limitRoutes: Operation<LimitServices>[] = [
  operation({
    operationId: "getAccount",
    method: "GET",
    path: "/account",
    tag: "Account",
    summary: "Get the account",
    description:
      "The plan, its limits on requests and storage, how much of each is used, how near the key is to a ban, and which keys are banned.",
    details: "Counts as a request.",
    scope: "account:read",
    answers: { 200: { description: "The account.", schema: Account, example } },
    read: readAccount,
  }),
];

async function readAccount(db: Database, { accountId, keyId, now, services: { limiter } }: Call<LimitServices>): Promise<Answer> {
  const account = await findAccount(db, accountId);
  if (!account) throw new Problem("unauthorized", "The account was deleted meanwhile.");
  const quota = quotaOf(account);
  const windows = await limiter.peekAccount(accountId, quota);
  const keys = await listKeys(db, accountId);
  const strikes = await Promise.all(
    keys.map(async ({ id, makers }) => ({ id, ...(await limiter.strikeStatus(accountId, id, quota, makers)) })),
  );
  const own = strikes.find(({ id }) => id === keyId);
  const window = (limit: number, remaining: number, seconds: number) => ({
    limit,
    used: limit - remaining,
    remaining,
    resetAt: formatDateTime(Math.floor(now / 1000 + seconds) * 1000),
  });
  const body = {
    id: account.id,
    name: account.name,
    plan: account.plan,
    minute: window(quota.perMinute, windows.minuteRemaining, windows.minuteSeconds),
    day: window(quota.perDay, windows.dayRemaining, windows.daySeconds),
    ...(await readStorage(db, accountId)),
    ...(own && { key: { id: own.id, strikes: own.strikes, strikesRemaining: own.strikesRemaining } }),
    lowStock: account.lowStock,
    currency: account.currency,
    bans: strikes.flatMap(({ id, bannedUntil }) => (bannedUntil === undefined ? [] : [{ keyId: id, until: formatDateTime(bannedUntil) }])),
  };
  return { status: 200, body };
}
