import type { Sql } from "sql-template-tag";
import type { Database } from "../../src/platform/db/database.ts";

/** A statement that was run: its text for SQLite and for PostgreSQL, and its values. */
export type RecordedStatement = Pick<Sql, "sql" | "text"> & { values: readonly unknown[] };

/** Returns the same database, and the statements of the reads that it will run. */
export function record(db: Database): { db: Database; statements: RecordedStatement[] } {
  const statements: RecordedStatement[] = [];
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
