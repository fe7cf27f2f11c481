import type { Sql } from "sql-template-tag";
import type { Database } from "../../src/platform/db/database.ts";

/** What an engine was asked: the text for SQLite and for PostgreSQL, and the values. */
export type Asked = Pick<Sql, "sql" | "text"> & { values: readonly unknown[] };

/** Returns the same database, and what its reads ask it from now on. */
export function record(db: Database): { db: Database; statements: Asked[] } {
  const statements: Asked[] = [];
  const query: Database["query"] = (statement) => {
    statements.push(statement);
    return db.query(statement);
  };
  const rows: Database["rows"] = (statement, values) => {
    statements.push({ sql: statement.sqlite, text: statement.postgres, values });
    return db.rows(statement, values);
  };
  return { db: { ...db, query, rows }, statements };
}
