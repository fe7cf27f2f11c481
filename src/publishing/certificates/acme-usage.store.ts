import sql from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import type { Budget, LimitName, Spent } from "./budget.ts";

/** What the subjects of each limit are: the name, its registrable domain, and the account at the authority. */
export type Subjects = { hostname: string; registrableDomain: string; directoryUrl: string };

const subjectOf = (limit: LimitName, { hostname, registrableDomain, directoryUrl }: Subjects): string =>
  limit === "orders" ? directoryUrl : limit === "domain" ? registrableDomain : hostname;

/** The latest uses of each limit, no more of each than it allows. */
export async function listSpent(db: Queryable, budget: Budget, subjects: Subjects, now: number): Promise<Spent> {
  const spent: Spent = { failures: [], duplicates: [], domain: [], orders: [] };
  for (const name of Object.keys(spent) as LimitName[]) {
    const limit = budget[name];
    if (limit === null) continue;
    const rows = await db.query<{ at: number }>(sql`
      SELECT at FROM spends WHERE limit_name = ${name} AND subject = ${subjectOf(name, subjects)} AND at > ${now - limit.perMs}
      ORDER BY at DESC LIMIT ${limit.count}`);
    spent[name] = rows.map(({ at }) => at);
  }
  return spent;
}

export async function spendOne(tx: Transaction, limit: LimitName, subjects: Subjects, now: number): Promise<void> {
  await tx.query(
    sql`INSERT INTO spends (id, limit_name, subject, at) VALUES (nextval('spend_ids'), ${limit}, ${subjectOf(limit, subjects)}, ${now})`,
  );
}

const keptMs = 31 * 86_400_000;

/** Deletes uses that no limit counts any more. */
export async function deleteOldUsage(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`DELETE FROM spends WHERE id IN (SELECT id FROM spends WHERE at <= ${now - keptMs} ${limit}) RETURNING 1`,
  );
}
