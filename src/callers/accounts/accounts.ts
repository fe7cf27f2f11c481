import { Problem } from "../../platform/problem.ts";

export const plans = ["free", "pro", "business", "enterprise"] as const;
export type Plan = (typeof plans)[number];

/** Requests that an account may make in a UTC minute and in a UTC day. */
export type Quota = { readonly perMinute: number; readonly perDay: number };

/** An account's plan; the figures are those agreed with an enterprise customer, null where none is. */
export type PlanTerms = { plan: Plan; perMinute: number | null; perDay: number | null };

export type Account = PlanTerms & { id: number; name: string; createdAt: number };

/** The largest figure that may be agreed for a window. */
export const quotaMax = 1_000_000_000;

const business: Quota = { perMinute: 1_000, perDay: 100_000 };
/** The table of the specification, part 8. Enterprise without figures of its own has those of Business. */
const planQuotas: Record<Plan, Quota> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business,
  enterprise: business,
};

/** What an account may use; only the enterprise plan looks at the account's own figures. */
export function quotaOf({ plan, perMinute, perDay }: PlanTerms): Quota {
  const standard = planQuotas[plan];
  if (plan !== "enterprise") return standard;
  return { perMinute: perMinute ?? standard.perMinute, perDay: perDay ?? standard.perDay };
}

/**
 * The terms that an operator asked for.
 *
 * @throws Problem `invalid_request` for figures on a plan that has fixed ones
 */
export function planTerms(asked: { plan: Plan; perMinute?: number; perDay?: number }): PlanTerms {
  const { plan, perMinute = null, perDay = null } = asked;
  if (plan !== "enterprise" && (perMinute !== null || perDay !== null)) {
    throw new Problem("invalid_request", `The plan ${plan} has fixed limits: only enterprise takes figures of its own.`);
  }
  return { plan, perMinute, perDay };
}

/**
 * An account's name as it is kept: trimmed, 1 to 200 characters, without control characters.
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
