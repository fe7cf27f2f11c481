import sql, { empty, join, type Sql } from "sql-template-tag";

/** How many rows of work to take: `each` of one account at most, together with those of it that are `running` here. */
export type Share = { count: number; each: number; running: ReadonlyMap<number, number> };

/** SQL to follow other conditions: of no account of which `each` are held already. */
export function andUncrowded(accountId: Sql, held: ReadonlyMap<number, number>, each: number): Sql {
  const crowded = [...held].filter(([, own]) => own >= each).map(([account]) => account);
  return crowded.length === 0 ? empty : sql`AND ${accountId} NOT IN (${join(crowded)})`;
}
