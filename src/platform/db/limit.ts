import sql, { type Sql } from "sql-template-tag";

/**
 * `LIMIT` with a number of rows. SQLite plans a statement again whenever a bare parameter after LIMIT is bound, which costs as
 * much as five short reads; for a sum it does not.
 */
export function limitTo(rows: number): Sql {
  return sql`LIMIT ${rows} + 0`;
}
