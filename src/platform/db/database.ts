import type { Sql } from "sql-template-tag";

/** A row as an engine gives it: numbers, text, bytes and nulls; a boolean may come as 0 or 1, so mappers say `Boolean(row.x)`. */
export type Row = Record<string, unknown>;

export interface Queryable {
  /**
   * Runs one statement and gives its rows (none, unless it selects or returns some). Bound may be text, numbers, booleans,
   * null and bytes; anything else, `undefined` and dates included, is a `TypeError`.
   */
  query<R = Row>(query: Sql): Promise<R[]>;
}

export interface Transaction extends Queryable {
  /** ` FOR UPDATE` where the engine locks rows; nothing where there is a single writer anyway. */
  readonly forUpdate: Sql;
  /**
   * Locks the rows of this table (or alias) and skips those that another transaction has locked. Empty on an engine
   * with a single writer.
   */
  skipLocked(table: string): Sql;
  /** Runs a script of several statements without values, for migrations. */
  script(text: string): Promise<void>;
  /** Waits until no other transaction, on whatever node, has locked this name, and locks it until this one ends. */
  lock(name: string): Promise<void>;
  /** Locks the name until the transaction ends; false, without waiting, where another transaction has it. */
  tryLock(name: string): Promise<boolean>;
  /**
   * Gives up every lock of the transaction: throws, and the body runs again from its beginning. Does nothing on an engine with a
   * single writer, whose transactions lock nothing.
   */
  startOver(): void;
}

export type WriteOptions = {
  /** Time that each statement may take, where the engine bounds it: for work that is longer than a request's. */
  statementMs?: number;
};

/**
 * The storage port. Both engines keep the same promises, and one contract suite holds them to it:
 * - `query` sees what is committed, never an open transaction.
 * - `write` runs its body in a transaction and resolves after the commit is durable. A body that throws changes
 *   nothing and its error is the caller's. A body awaits nothing but its transaction, may be run again, and does not go
 *   on after a statement that failed. Each statement sees what is committed when it begins (READ COMMITTED), so a body
 *   locks the rows that it decides by (`forUpdate`) or changes them by conditional statements.
 * - A broken constraint raises `ConstraintError`; a full queue, a failing disk or a server that does not answer raises the
 *   `unavailable` problem, and so does whatever comes after `close`.
 * - `nextval('name')` in SQL gives a new identifier of that sequence, never one that was given before.
 */
export interface Database extends Queryable {
  readonly engine: "sqlite" | "postgres";
  write<T>(body: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * The same database for the work of one account, which gets at most its share of the connections. Work through any
   * other handle belongs to no account, and never waits behind the accounts' work.
   */
  forAccount(accountId: number): Database;
  load(): DatabaseLoad;
  close(): Promise<void>;
}

export type DatabaseLoad = {
  /** Reads and transactions that run or wait at this moment. */
  reads: number;
  writes: number;
  /** Connections that run a transaction, what waits for a connection, and what was refused one since the start. */
  pool?: {
    connections: number;
    connectionsMax: number;
    waiting: { reads: number; writes: number };
    refused: { reads: number; writes: number };
  };
};

export type ConstraintKind = "unique" | "foreign_key" | "check";

/** A constraint of the schema refused a change. Stores turn those that they expect into a `Problem`. */
export class ConstraintError extends Error {
  readonly kind: ConstraintKind;

  constructor(kind: ConstraintKind, options?: ErrorOptions) {
    super(`${kind} constraint`, options);
    this.name = "ConstraintError";
    this.kind = kind;
  }
}

/** Whether `error` is a broken constraint of this kind. */
export function breaks(kind: ConstraintKind, error: unknown): boolean {
  return error instanceof ConstraintError && error.kind === kind;
}
