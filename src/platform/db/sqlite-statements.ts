import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Sql } from "sql-template-tag";
import { createCache } from "../cache.ts";
import { ConstraintError, unavailable, type ConstraintKind, type Row } from "./database.ts";
import type { BoundValue, Statement } from "./statement.ts";

/** Prepared statements kept per connection. */
const statementsMax = 500;

type PreparedStatement = { statement: StatementSync; names: string[] };

export type Statements = {
  rows: (query: Sql) => Row[];
  /** The same for a statement with a fixed text, whose rows are arrays. */
  arrays: <R extends unknown[]>(statement: Statement<R>, values: readonly BoundValue[]) => R[];
  /** Returns how many rows the statement changed. */
  run: (statement: Statement, values: readonly BoundValue[]) => number;
};

/** Runs queries on one connection with prepared statements, and translates errors to those of the port. */
export function preparedStatements(connection: DatabaseSync): Statements {
  const kept = createCache<string, PreparedStatement>(statementsMax);

  function preparedFor(text: string): PreparedStatement {
    return kept.peek(text) ?? kept.set(text, prepare(connection, text));
  }

  const fixed: (StatementSync | undefined)[] = [];
  const fixedFor = ({ place, sqlite }: Pick<Statement, "place" | "sqlite">): StatementSync =>
    (fixed[place] ??= prepare(connection, sqlite).statement);

  return {
    arrays<R extends unknown[]>(statement: Statement<R>, values: readonly BoundValue[]) {
      try {
        const rows: unknown[] = fixedFor(statement).all(...values);
        return rows as R[];
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
  };
}

function prepare(connection: DatabaseSync, text: string): PreparedStatement {
  const statement = connection.prepare(text);
  statement.setReturnArrays(true);
  return { statement, names: [] };
}

/** Builds the rows here: the objects that node:sqlite builds are dictionaries, and take three times as long to build and to read. */
function rowsOf(prepared: PreparedStatement, bound: SQLInputValue[]): Row[] {
  const { statement } = prepared;
  const all: unknown[] = statement.all(...bound);
  const found = all as unknown[][];
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

/** A fault of the disk or of the database's files. `lost`: a `LostFileError`. */
export type StorageFault = "damaged" | "unwritable" | "lost";

/** A stored text is not what was written, although SQLite could read it. */
export class DamagedTextError extends Error {
  readonly errcode = 11; // SQLITE_CORRUPT
}

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

type Counts = { values: Map<string, number>; used: Set<string> };

export type Sequences = {
  next(name: string): number;
  load(): void;
  save(): void;
  /** The present counts, for `restore` after a body whose identifiers nothing has stored. */
  counts(): Counts;
  restore(counts: Counts): void;
};

/**
 * Gives SQLite the `nextval('name')` of PostgreSQL. Counts in memory, and `save()` saves the counts inside the transaction that
 * used them, so an identifier that a client has seen is never returned again, and costs no statement.
 */
export function openSequences(connection: DatabaseSync): Sequences {
  connection.exec("CREATE TABLE IF NOT EXISTS sequences (name TEXT PRIMARY KEY, value BIGINT NOT NULL)");
  let values = new Map<string, number>();
  const select = connection.prepare("SELECT name, value FROM sequences");
  const upsert = connection.prepare(
    "INSERT INTO sequences (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  let used = new Set<string>();

  function next(name: string): number {
    const value = (values.get(name) ?? 0) + 1;
    values.set(name, value);
    used.add(name);
    return value;
  }

  connection.function("nextval", (name) => next(String(name)));

  /** Loads the counts that are higher in the table. */
  function load(): void {
    for (const row of select.all()) {
      const name = String(row["name"]);
      values.set(name, Math.max(values.get(name) ?? 0, Number(row["value"])));
    }
  }

  load();
  return {
    next,
    load,
    save() {
      for (const name of used) upsert.run(name, BigInt(values.get(name) ?? 0));
      used.clear();
    },
    counts: () => ({ values: new Map(values), used: new Set(used) }),
    restore(counts) {
      ({ values, used } = counts);
    },
  };
}
