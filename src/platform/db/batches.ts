import type { Sql } from "sql-template-tag";
import type { Database } from "./database.ts";
import { limitTo } from "./limit.ts";

/** Rows deleted in one transaction, so that no other write waits long. */
const batchMax = 1_000;

/**
 * Deletes all that a statement picks, however much it is, a thousand rows in a transaction. What is cut short is finished
 * by the next call.
 *
 * @param deleting makes the statement, which deletes as many rows as `limit` lets through and returns one for each
 */
export async function deleteInBatches(db: Database, deleting: (limit: Sql) => Sql): Promise<void> {
  const some = deleting(limitTo(batchMax));
  while ((await db.write((tx) => tx.query(some))).length === batchMax);
}
