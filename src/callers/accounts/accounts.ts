import { isCurrency } from "../../platform/currencies.ts";
import { int32Max, named, Nullable, variant } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import type { StorageLimits } from "../../platform/storage-quotas.ts";

export const plans = ["free", "pro", "business", "enterprise"] as const;
export type Plan = (typeof plans)[number];

/** Requests that an account may make in a UTC minute and in a UTC day. */
export type Quota = { readonly perMinute: number; readonly perDay: number };

/** An account's plan. The figures are set only if they were agreed with an enterprise customer; otherwise null. */
export type PlanTerms = { plan: Plan; perMinute: number | null; perDay: number | null };

/** What an account's owners set. */
export type AccountSettings = { name: string; lowStock: number; contactDays: number; currency: string | null };
export type Account = PlanTerms & AccountSettings & { id: number; createdAt: number };

/** The free units at or below which a pet's stock is low, in events, on the home page and on the inventory page (specification 8.2). */
export const lowStockSchema = Type.Integer({
  minimum: 0,
  maximum: int32Max,
  description: "The free units at or below which the stock of a pet is low.",
});

/** How long the contacts of orders are kept (specification 2.9). */
export const contactDaysSchema = Type.Integer({
  minimum: 1,
  maximum: 3_650,
  description: "The days after which the contact of a complete order is deleted.",
});

/** The currency of new prices in the dashboard, and of imported prices that name none (specification 2.7). */
export const currencySchema = Nullable(
  Type.String({ minLength: 3, maxLength: 3, description: "ISO 4217: what new prices begin with. Null until an owner chooses one." }),
);

/** @throws Problem `invalid_request` for a code that is no currency's */
export function requireCurrency(code: string | null | undefined): void {
  if (typeof code === "string" && !isCurrency(code)) throw invalidAt("body.currency", "must be the code of a currency, such as EUR");
}

/** The largest figure that may be agreed for a window. */
export const quotaMax = 1_000_000_000;

const business: Quota = { perMinute: 1_000, perDay: 100_000 };
/** The plans (specification 4.1). An enterprise account without agreed figures has those of Business. */
const planQuotas: Record<Plan, Quota> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business,
  enterprise: business,
};

/** Returns the quota of an account. Only the enterprise plan uses the account's agreed figures. */
export function quotaOf({ plan, perMinute, perDay }: PlanTerms): Quota {
  const standard = planQuotas[plan];
  if (plan !== "enterprise") return standard;
  return { perMinute: perMinute ?? standard.perMinute, perDay: perDay ?? standard.perDay };
}

const mib = 1_048_576;
const gib = 1_024 * mib;
/** The most that an account may store. Events beyond their limit displace older ones. */
export type PlanStorage = StorageLimits & { eventBytes: number };

const businessStorage: PlanStorage = { records: 5_000_000, publishedBytes: 50 * gib, eventBytes: 5 * gib };
/** The storage limits of each plan (specification 4.8). */
const planStorage: Record<Plan, PlanStorage> = {
  free: { records: 25_000, publishedBytes: 500 * mib, eventBytes: 256 * mib },
  pro: { records: 250_000, publishedBytes: 5 * gib, eventBytes: gib },
  business: businessStorage,
  enterprise: businessStorage,
};

/** Returns the storage limits of an account: the figures that an operator set, and the plan's for the others. */
export function storageLimits(asked: { plan: Plan } & Partial<PlanStorage>): PlanStorage {
  const { records, publishedBytes, eventBytes } = planStorage[asked.plan];
  return {
    records: asked.records ?? records,
    publishedBytes: asked.publishedBytes ?? publishedBytes,
    eventBytes: asked.eventBytes ?? eventBytes,
  };
}

/**
 * Checks the plan and figures that an operator asks for.
 *
 * @throws Problem `invalid_request` for figures on a plan that has fixed ones
 */
export function planTerms(asked: { plan: Plan; perMinute?: number; perDay?: number }): PlanTerms {
  const { plan, perMinute = null, perDay = null } = asked;
  if (plan !== "enterprise" && (perMinute !== null || perDay !== null)) {
    throw new Problem("invalid_request", `The plan ${plan} has fixed limits: only enterprise accounts can have other ones.`);
  }
  return { plan, perMinute, perDay };
}

/**
 * Returns an account's name as it is stored: trimmed, 1 to 200 characters, without control characters.
 *
 * @throws Problem `invalid_request`
 */
export function accountName(text: string): string {
  const name = text.trim();
  const length = [...name].length;
  if (length < 1 || length > 200 || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw new Problem("invalid_request", "name must be 1 to 200 characters without control characters.");
  }
  return name;
}

const StorageUse = named(
  "StorageUse",
  Type.Object({
    limit: Type.Integer({ format: "int64", description: "How much the account may store." }),
    used: Type.Integer({ format: "int64", description: "How much the account stores now." }),
    remaining: Type.Integer({ format: "int64", description: "How much more the account may store; 0 if it stores more than the limit." }),
  }),
);

/** An account's storage limits and use, as responses show them. */
export const storageSchemas = {
  records: variant(StorageUse, {
    description: "Pets, categories, and orders that are not complete. Additions beyond the limit are refused.",
  }),
  publishedBytes: variant(StorageUse, {
    description:
      "The files of the deployments that are kept, unpacked, in bytes. A file that several of them have counts once. Deployments beyond the limit fail or are refused.",
  }),
  eventBytes: variant(StorageUse, {
    description:
      "The events that are kept, in bytes: the text of each, and 256. Beyond the limit the oldest are deleted, those of the audit only for others of the audit.",
  }),
};

export const storageExample = {
  records: { limit: 5_000_000, used: 6, remaining: 4_999_994 },
  publishedBytes: { limit: 53_687_091_200, used: 14, remaining: 53_687_091_186 },
  eventBytes: { limit: 5_368_709_120, used: 8_140, remaining: 5_368_700_980 },
};
