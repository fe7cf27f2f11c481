import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Sql } from "sql-template-tag";
import { ConstraintError, type ConstraintKind } from "./database.ts";
import { unavailable } from "./unavailable.ts";

/** Prepared statements kept per connection. */
const statementsMax = 500;

/** Runs queries on one connection with prepared statements, and translates errors to those of the port. */
export function preparedStatements(connection: DatabaseSync): (query: Sql) => unknown[] {
  const statements = new Map<string, StatementSync>();
  return (query) => {
    try {
      const text = query.sql;
      let statement = statements.get(text);
      if (!statement) {
        if (statements.size >= statementsMax) statements.clear();
        statement = connection.prepare(text);
        statements.set(text, statement);
      }
      const { values } = query;
      const bound = new Array<SQLInputValue>(values.length);
      for (let i = 0; i < values.length; i++) bound[i] = bind(values[i]);
      return statement.all(...bound);
    } catch (error) {
      throw translate(error);
    }
  };
}

/** Binds whole numbers as integers; node:sqlite would bind every number as REAL. */
function bind(value: unknown): SQLInputValue {
  if (typeof value === "string" || value === null || value instanceof Uint8Array) return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  throw new TypeError(`a value of type ${typeof value} cannot be bound`);
}

const constraintKinds: Record<number, ConstraintKind> = { 275: "check", 787: "foreign_key", 1555: "unique", 2067: "unique" };
/** SQLITE_BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN: errors that the caller did not cause. */
const unavailableCodes = new Set([5, 6, 8, 10, 13, 14]);

/** Translates an error of SQLite to one of the port; returns unexpected errors unchanged. */
export function translate(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode;
  if (code === undefined) return error;
  const kind = constraintKinds[code];
  if (kind) return new ConstraintError(kind, { cause: error });
  return unavailableCodes.has(code & 0xff) ? unavailable(error) : error;
}
