import type { Sql } from "sql-template-tag";
import type { Database } from "./database.ts";
import { limitTo } from "./limit.ts";

/** Rows written in one transaction, so that no other write waits long. */
const batchMax = 1_000;

/**
 * Deletes or changes all that a statement picks, however much it is, a thousand rows in a transaction. What is cut short is
 * finished by the next call.
 *
 * @param writing makes the statement, which writes as many rows as `limit` lets through, picks none of them again, and returns one for each
 */
export async function writeInBatches(db: Database, writing: (limit: Sql) => Sql): Promise<void> {
  const some = writing(limitTo(batchMax));
  while ((await db.write((tx) => tx.query(some))).length === batchMax);
}
