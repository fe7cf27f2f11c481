import sql, { type Sql } from "sql-template-tag";
import type { Database } from "./database.ts";

/** Rows per transaction: few enough that no other write waits long. */
const batchMax = 1_000;

/**
 * Deletes or changes all rows that a statement selects, a thousand in each transaction. If it is cut short, the next call
 * finishes the work.
 *
 * @param writing makes the statement, which writes at most as many rows as `limit` allows, never selects them again, and returns one row for each
 */
export async function writeInBatches(db: Database, writing: (limit: Sql) => Sql): Promise<void> {
  const some = writing(limitTo(batchMax));
  while ((await db.write((tx) => tx.query(some))).length === batchMax);
}

/** The most rows of a step, and the time (ms) after which it takes no further row: a fraction of what one body may take of the writer. */
export const stepRowsMax = 50;
const stepMs = 20;

/** Begins a step of long work, which has its own transaction. Returns a function that says whether the step should end. */
export function openStep(now: () => number = () => performance.now()): () => boolean {
  const endsAt = now() + stepMs;
  return () => now() >= endsAt;
}

/** Steps of one call of `giveBackFreeSpace`. */
const stepsMax = 20;

/** Gives free space of the database back to the disk: some megabytes in each call, in many short transactions. */
export async function giveBackFreeSpace(db: Database): Promise<void> {
  for (let step = 0; step < stepsMax; step++) if (!(await db.giveBackSpace())) return;
}

/**
 * `LIMIT` with a number of rows. SQLite plans a statement again whenever a bare parameter after LIMIT is bound, which costs as
 * much as five short reads; for a sum it does not.
 */
export function limitTo(rows: number): Sql {
  return sql`LIMIT ${rows} + 0`;
}
