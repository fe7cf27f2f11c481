import sql from "sql-template-tag";
import { hourMs, dayMs } from "../../platform/clock.ts";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";

/**
 * A limit of the authority. The service counts uses too, and stops before the authority refuses: a refusal gives a shop owner no useful reason, and
 * may count against later tries. The window slides, which is the strictest way to count, so the service never allows more than the authority.
 */
export type Limit = { count: number; perMs: number };

/**
 * - `failures`: failed authorizations of one name.
 * - `duplicates`: certificates for one name.
 * - `domain`: certificates for the names of one registrable domain.
 * - `orders`: ACME orders of this service's account at the authority.
 */
export type LimitName = "failures" | "duplicates" | "domain" | "orders";

/** Null: no limit. */
export type Budget = Record<LimitName, Limit | null>;

export const letsEncryptBudget: Budget = {
  failures: { count: 5, perMs: hourMs },
  duplicates: { count: 5, perMs: 7 * dayMs },
  domain: { count: 50, perMs: 7 * dayMs },
  orders: { count: 300, perMs: 3 * hourMs },
};

/** The times (ms since the epoch) at which each limit was used, in any order. */
export type LimitUses = Record<LimitName, number[]>;

/**
 * `new`: the name has no valid certificate. `renewal`: exempt from `domain` and `orders`. `ari`: a renewal within the authority's window, with
 * `replaces` (RFC 9773): exempt from all.
 */
export type OrderKind = "new" | "renewal" | "ari";

const limitsOf: Record<OrderKind, LimitName[]> = {
  new: ["failures", "duplicates", "domain", "orders"],
  renewal: ["failures", "duplicates"],
  ari: [],
};

/** The limit that is used up, and when (ms) it allows the next order. */
export type LimitReached = { retryAt: number; limit: LimitName };

/** Returns the limit that delays an order longest; null if the order may be placed now. */
export function limitReached(budget: Budget, uses: LimitUses, kind: OrderKind, now: number): LimitReached | null {
  let reached: LimitReached | null = null;
  for (const limit of limitsOf[kind]) {
    const retryAt = freeAt(budget[limit], uses[limit], now);
    if (retryAt > now && retryAt > (reached?.retryAt ?? 0)) reached = { retryAt, limit };
  }
  return reached;
}

function freeAt(limit: Limit | null, times: number[], now: number): number {
  if (limit === null) return now;
  const latest = times.filter((at) => now - at < limit.perMs).toSorted((a, b) => b - a);
  const blocking = latest[limit.count - 1];
  return blocking === undefined ? now : blocking + limit.perMs;
}

const unitMs: Record<string, number> = { m: 60_000, h: hourMs, d: dayMs };
const countMax = 100_000;

/**
 * Parses `ACME_BUDGET`, such as `failures=5/1h,duplicates=5/7d,domain=50/7d,orders=300/3h`, in minutes, hours or days (at most 30 days). Default
 * for each limit: that of Let's Encrypt. `orders=off` removes a limit.
 *
 * @throws TypeError that names the part that is wrong
 */
export function parseBudget(text: string): Budget {
  const budget = { ...letsEncryptBudget };
  const named = new Set<string>();
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "") continue;
    const [, name = "", value = ""] = /^(\w+)=(\S+)$/.exec(part) ?? [];
    if (!isLimitName(name)) throw new TypeError(`ACME_BUDGET: "${part}" is not failures=, duplicates=, domain= or orders=`);
    if (named.has(name)) throw new TypeError(`ACME_BUDGET: ${name} is given twice`);
    named.add(name);
    budget[name] = value === "off" ? null : parseLimit(part, value);
  }
  return budget;
}

function parseLimit(part: string, value: string): Limit {
  const [, count = "", amount = "", unit = ""] = /^(\d{1,6})\/(\d{1,5})([mhd])$/.exec(value) ?? [];
  const limit = { count: Number(count), perMs: Number(amount) * (unitMs[unit] ?? 0) };
  if (limit.count < 1 || limit.count > countMax || limit.perMs <= 0 || limit.perMs > 30 * dayMs) {
    throw new TypeError(`ACME_BUDGET: "${part}" is not a count and a time such as 5/1h, 50/7d or 10/30m, or off`);
  }
  return limit;
}

const isLimitName = (name: string): name is LimitName => Object.hasOwn(letsEncryptBudget, name);

/** The subjects of the limits. Each limit counts uses by one of these: a name, its registrable domain, or the account at the authority. */
export type LimitSubjects = { hostname: string; registrableDomain: string; directoryUrl: string };

const subjectOf = (limit: LimitName, { hostname, registrableDomain, directoryUrl }: LimitSubjects): string =>
  limit === "orders" ? directoryUrl : limit === "domain" ? registrableDomain : hostname;

/**
 * Returns the latest uses of each limit within its window, at most as many as the limit allows. Uses at another authority do not count; those that
 * an earlier release saved without their authority do.
 */
export async function listUses(db: Queryable, budget: Budget, subjects: LimitSubjects, now: number): Promise<LimitUses> {
  const uses: LimitUses = { failures: [], duplicates: [], domain: [], orders: [] };
  for (const name of Object.keys(uses) as LimitName[]) {
    const limit = budget[name];
    if (limit === null) continue;
    const rows = await db.query<{ at: number }>(sql`
      SELECT at FROM acme_usage WHERE limit_name = ${name} AND subject = ${subjectOf(name, subjects)} AND at > ${now - limit.perMs}
        AND (directory_url IS NULL OR directory_url = ${subjects.directoryUrl})
      ORDER BY at DESC ${limitTo(limit.count)}`);
    uses[name] = rows.map(({ at }) => at);
  }
  return uses;
}

export async function recordUse(tx: Transaction, limit: LimitName, subjects: LimitSubjects, now: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO acme_usage (id, limit_name, subject, at, directory_url)
    VALUES (nextval('acme_usage_ids'), ${limit}, ${subjectOf(limit, subjects)}, ${now}, ${subjects.directoryUrl})`);
}

const keptMs = 31 * dayMs;

/** Deletes uses that no limit counts any more. */
export async function deleteOldUsage(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`DELETE FROM acme_usage WHERE id IN (SELECT id FROM acme_usage WHERE at <= ${now - keptMs} ${limit}) RETURNING 1`,
  );
}
