import type { Sql } from "sql-template-tag";

/** A row as an engine returns it: numbers, text, bytes and nulls; a boolean may come as 0 or 1, so mappers say `Boolean(row.x)`. */
export type Row = Record<string, unknown>;

export interface Queryable {
  /**
   * Runs one statement and returns its rows. Values may be text, numbers, booleans, null and bytes.
   *
   * @throws TypeError for any other value, such as `undefined` or a date
   */
  query<R = Row>(query: Sql): Promise<R[]>;
}

export interface Transaction extends Queryable {
  /** ` FOR UPDATE` if the engine locks rows; empty if it has a single writer. */
  readonly forUpdate: Sql;
  /**
   * Locks the rows of this table (or alias) and skips those that another transaction has locked. Empty if the engine
   * has a single writer.
   */
  skipLocked(table: string): Sql;
  /** Runs a script of several statements without values, for migrations. */
  script(text: string): Promise<void>;
  /** Locks this name on all nodes until the transaction ends, after waiting for any other transaction that has locked it. */
  lock(name: string): Promise<void>;
  /** Locks the name until the transaction ends; returns false without waiting if another transaction has locked it. */
  tryLock(name: string): Promise<boolean>;
  /**
   * Releases every lock of the transaction: throws, and the body runs again from the start. Does nothing on an engine with a
   * single writer, whose transactions lock nothing.
   */
  startOver(): void;
}

export type WriteOptions = {
  /** Time (ms) for each statement, if the engine bounds it: for work that takes longer than a request. */
  statementMs?: number;
};

/**
 * The storage port. Both engines keep the same promises, and one contract suite holds them to it:
 * - `query` sees what is committed, never an open transaction.
 * - `write` runs its body in a transaction and resolves after the commit is durable. A body that throws changes
 *   nothing, and `write` rejects with its error. A body awaits only its transaction, may run more than once, and stops after
 *   a statement that failed. Each statement sees what is committed when it starts (READ COMMITTED), so a body locks the rows
 *   that it decides by (`forUpdate`) or changes them by conditional statements.
 * - A broken constraint raises `ConstraintError`. A full queue, a failing disk or a server that does not answer raises the
 *   `unavailable` problem, and so does every call after `close`.
 * - `nextval('name')` in SQL returns a new identifier of that sequence, never one that it has returned before.
 */
export interface Database extends Queryable {
  readonly engine: "sqlite" | "postgres";
  write<T>(body: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * Returns the same database for the work of one account, which gets at most its share of the connections. Work through
   * another handle belongs to no account, and never waits behind the accounts' work.
   */
  forAccount(accountId: number): Database;
  load(): DatabaseLoad;
  close(): Promise<void>;
}

export type DatabaseLoad = {
  /** Reads and transactions that run or wait now. */
  reads: number;
  writes: number;
  /** Connections that run a transaction, work that waits for a connection, and work that was refused one since the start. */
  pool?: {
    connections: number;
    connectionsMax: number;
    waiting: { reads: number; writes: number };
    refused: { reads: number; writes: number };
  };
};

export type ConstraintKind = "unique" | "foreign_key" | "check";

/** A constraint of the schema refused a change. Stores turn the expected ones into a `Problem`. */
export class ConstraintError extends Error {
  readonly kind: ConstraintKind;

  constructor(kind: ConstraintKind, options?: ErrorOptions) {
    super(`${kind} constraint`, options);
    this.name = "ConstraintError";
    this.kind = kind;
  }
}

/** Whether an error is a broken constraint of this kind. */
export function breaks(kind: ConstraintKind, error: unknown): boolean {
  return error instanceof ConstraintError && error.kind === kind;
}

/** Runs a write and rolls it back: returns its result, or throws its error, and changes nothing. */
export async function rolledBack<T>(db: Pick<Database, "write">, body: (tx: Transaction) => Promise<T>): Promise<T> {
  let returned: { result: T } | undefined;
  try {
    await db.write(async (tx) => {
      returned = { result: await body(tx) };
      throw new RollBack();
    });
  } catch (error) {
    if (!(error instanceof RollBack)) throw error;
  }
  return returned!.result;
}

class RollBack extends Error {}
