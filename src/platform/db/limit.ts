import sql, { type Sql } from "sql-template-tag";

/**
 * `LIMIT` of a number of rows. SQLite plans a statement anew whenever a bare parameter after LIMIT is bound, which costs
 * five times a short read; as a sum it does not.
 */
export function limitTo(rows: number): Sql {
  return sql`LIMIT ${rows} + 0`;
}
