import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Sql } from "sql-template-tag";
import { ConstraintError, type ConstraintKind, type Row } from "./database.ts";
import type { BoundValue, Statement } from "./statement.ts";
import { unavailable } from "./turns.ts";

/** Prepared statements kept per connection. */
const statementsMax = 500;

type Prepared = { statement: StatementSync; names: string[] };

export type Statements = {
  rows: (query: Sql) => Row[];
  /** Returns how many rows the statement changed. */
  change: (query: Sql) => number;
  /** `rows` and `change` for statements with a fixed text. */
  arrays: <R extends unknown[]>(statement: Statement<R>, values: readonly BoundValue[]) => R[];
  run: (statement: Statement, values: readonly BoundValue[]) => number;
};

/** Runs queries on one connection with prepared statements, and translates errors to those of the port. */
export function preparedStatements(connection: DatabaseSync): Statements {
  const kept = new Map<string, Prepared>();

  function preparedFor(text: string): Prepared {
    let prepared = kept.get(text);
    if (prepared) return prepared;
    if (kept.size >= statementsMax) kept.clear();
    prepared = prepare(connection, text);
    kept.set(text, prepared);
    return prepared;
  }

  const fixed: (StatementSync | undefined)[] = [];
  const fixedFor = ({ place, sqlite }: Pick<Statement, "place" | "sqlite">): StatementSync =>
    (fixed[place] ??= prepare(connection, sqlite).statement);

  return {
    arrays<R extends unknown[]>(statement: Statement<R>, values: readonly BoundValue[]) {
      try {
        return fixedFor(statement).all(...values) as unknown as R[];
      } catch (error) {
        throw translate(error);
      }
    },
    run(statement, values) {
      try {
        return Number(fixedFor(statement).run(...values).changes);
      } catch (error) {
        throw translate(error);
      }
    },
    rows(query) {
      try {
        return rowsOf(preparedFor(query.sql), boundOf(query.values));
      } catch (error) {
        throw translate(error);
      }
    },
    change(query) {
      try {
        return Number(preparedFor(query.sql).statement.run(...boundOf(query.values)).changes);
      } catch (error) {
        throw translate(error);
      }
    },
  };
}

function prepare(connection: DatabaseSync, text: string): Prepared {
  const statement = connection.prepare(text);
  statement.setReturnArrays(true);
  return { statement, names: [] };
}

/** Builds the rows here: the objects that node:sqlite builds are dictionaries, and take three times as long to build and to read. */
function rowsOf(prepared: Prepared, bound: SQLInputValue[]): Row[] {
  const { statement } = prepared;
  const found = statement.all(...bound) as unknown as unknown[][];
  if (found.length === 0) return [];
  const width = found[0]!.length;
  // At the first run, and where a migration has added columns since.
  if (width !== prepared.names.length) prepared.names = statement.columns().map(({ name }) => name);
  const { names } = prepared;
  const rows = new Array<Row>(found.length);
  for (let i = 0; i < found.length; i++) {
    const row: Row = {};
    for (let j = 0; j < width; j++) row[names[j]!] = found[i]![j];
    rows[i] = row;
  }
  return rows;
}

function boundOf(values: readonly unknown[]): SQLInputValue[] {
  const bound = new Array<SQLInputValue>(values.length);
  for (let i = 0; i < values.length; i++) bound[i] = bind(values[i]);
  return bound;
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

/** A fault of the disk or of the database's file. */
export type StorageFault = "damaged" | "unwritable";

/** SQLITE_READONLY, IOERR, FULL, CANTOPEN. */
const unwritableCodes = new Set([8, 10, 13, 14]);
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damagedCodes = new Set([11, 26]);

/** The storage fault that caused an error of SQLite, or a problem made from one; undefined for other errors. */
export function storageFaultOf(error: unknown): StorageFault | undefined {
  const { cause = error } = error as { cause?: unknown };
  const { errcode } = (cause ?? {}) as { errcode?: number };
  if (errcode === undefined) return undefined;
  if (damagedCodes.has(errcode & 0xff)) return "damaged";
  return unwritableCodes.has(errcode & 0xff) ? "unwritable" : undefined;
}

/** Translates an error of SQLite to one of the port; returns unexpected errors unchanged. */
export function translate(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode;
  if (code === undefined) return error;
  const kind = constraintKinds[code];
  if (kind) return new ConstraintError(kind, { cause: error });
  return unavailableCodes.has(code & 0xff) ? unavailable(error) : error;
}
