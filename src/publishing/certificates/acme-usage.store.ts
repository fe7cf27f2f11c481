import sql from "sql-template-tag";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import type { Budget, LimitName, LimitUses } from "./budget.ts";

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

const keptMs = 31 * 86_400_000;

/** Deletes uses that no limit counts any more. */
export async function deleteOldUsage(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`DELETE FROM acme_usage WHERE id IN (SELECT id FROM acme_usage WHERE at <= ${now - keptMs} ${limit}) RETURNING 1`,
  );
}
