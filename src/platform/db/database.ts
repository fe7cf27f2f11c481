import type { Sql } from "sql-template-tag";
import { systemOrigin, type EventDraft, type Origin } from "../events.ts";
import type { FairShare } from "../jobs/fair-share.ts";
import type { Histogram } from "../metrics.ts";
import { overloaded, Problem } from "../problem.ts";
import type { BoundValue, Insertion, RowUpdate, Statement } from "./statement.ts";

/** A value, or a promise of it: the embedded engine answers at once, a server later. */
export type Awaitable<T> = T | Promise<T>;

/** Calls `use` with a value: at once, or after the promise of it. Returns a promise only if it has to wait. */
export function andThen<T, U>(value: Awaitable<T>, use: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** A row as an engine returns it: numbers, text, bytes and nulls; a boolean may come as 0 or 1, so mappers say `Boolean(row.x)`. */
export type Row = Record<string, unknown>;

export interface Queryable {
  /**
   * Runs one statement and returns its rows. Values may be text, numbers, booleans, null and bytes.
   *
   * @throws TypeError for any other value, such as `undefined` or a date
   */
  query<R = Row>(query: Sql): Promise<R[]>;
  /**
   * Runs a prepared statement and returns its rows, each an array of the columns' values. Returns or throws without a promise if the
   * engine is embedded: for the statements of frequent requests.
   */
  rows<R extends unknown[]>(statement: Statement<R>, values: readonly BoundValue[]): Awaitable<R[]>;
  /** Reports that a stored text, named by `what`, is damaged. Returns the refusal of the request. */
  reportDamage(what: string): Problem;
}

export interface Transaction extends Queryable {
  /** Inserts rows with new identifiers, and returns these in ascending order. `RETURNING` would nearly double the cost in SQLite. */
  insert(insertion: Insertion, rows: readonly BoundValue[][]): Awaitable<number[]>;
  /** Runs the update with each of these rows of values, in their order if the engine locks rows. Returns the updated rows in any order. */
  updateEach<R extends unknown[]>(update: RowUpdate<R>, rows: readonly BoundValue[][]): Awaitable<R[]>;
  /** Runs a prepared statement without `RETURNING`, and returns how many rows it changed. */
  run(statement: Statement, values: readonly BoundValue[]): Awaitable<number>;
  /**
   * Adds an event to its account's log if the transaction commits; if it is rolled back, there is no event (decision 0074).
   *
   * @param origin who makes the change, where it is not who makes the write. Default: the origin of the write
   */
  record(event: EventDraft, origin?: Partial<Origin>): void;
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
   * Gives other work of the process a turn if this transaction has held the thread for 10 ms: for loops over many rows. Each statement
   * begins with it. Does nothing on a server, where each statement waits.
   */
  giveTurn(): Awaitable<void>;
  /**
   * Releases every lock of the transaction: throws, and the body runs again from the start. Does nothing on an engine with a
   * single writer, whose transactions lock nothing.
   */
  startOver(): void;
}

/**
 * A kind of write, declared once for any number of inputs. An engine runs those that wait at the same time as one batch, in one transaction with
 * fewer statements than each would need alone. Locks rows in the common order, as bodies do.
 *
 * Returns a result for each input, in their order, or undefined for an input that it leaves out. The engine writes such an input as a batch of one, which
 * returns a result or throws. If a batch of several throws, it changes nothing, and the engine writes each of its inputs as a batch of one.
 *
 * Declared as a method: TypeScript then compares its parameters loosely, so batches of all types fit one queue.
 */
export type Batch<Input extends object, Result> = {
  write(tx: Transaction, inputs: readonly Input[]): Awaitable<readonly (Result | undefined)[]>;
}["write"];

/** Returns the body that writes one input. */
export function batchOfOne<Input extends object, Result>(
  write: Batch<Input, Result>,
  input: Input,
): (tx: Transaction) => Awaitable<Result> {
  return (tx) =>
    andThen(write(tx, [input]), ([result]) => {
      if (result === undefined) throw new Error("a batch of one has no result");
      return result;
    });
}

/** Whose turns work takes: those of an account, by its id, or those of a caller without one, by its address. */
export type CallerKey = number | string;

/** For whom work is done. */
export type Handle = {
  /**
   * Whose turns the work takes. Callers take turns: the next write is that of the caller that has used least of the writer lately, or least of
   * the connections, and each gets at most its share of them. Work of no caller never waits behind theirs.
   */
  caller: CallerKey | undefined;
  /** Who makes the changes, for their events. */
  origin: Origin;
  /** Whether nobody waits for the outcome any more. A write for which it says so when its turn begins is refused, and does nothing. */
  isGone: () => boolean;
};

/** The work of no caller, of which the system is the origin. */
export const systemHandle: Handle = { caller: undefined, origin: systemOrigin, isGone: () => false };

/** Runs a read or a transaction: for what is done before and after each. */
export type Around = <T>(operation: "SELECT" | "transaction", work: () => Awaitable<T>) => Awaitable<T>;

export const directly: Around = (_operation, work) => work();

export type WriteOptions = {
  /**
   * For a write that takes longer than a request: how long (ms) each statement may take. The embedded engine has no such bound. It resolves such a
   * write only once the log is copied into the file, because the log may have grown so long that the next write would wait too long for the copy.
   */
  statementMs?: number;
  /** How long (ms) each statement waits for a lock, on a server. Default: `statementMs`, and without it 2 seconds. */
  lockMs?: number;
  /** Whether to return the body's result, or throw its error, and change nothing. Default: false. */
  isDryRun?: boolean;
};

/**
 * The storage port. Both engines keep the same promises, and one contract suite holds them to it:
 * - `query` sees committed changes, never an open transaction.
 * - `write` runs its body in a transaction and resolves after the commit is durable. A body that throws changes
 *   nothing, and `write` rejects with its error. A body awaits only its transaction, may run more than once, and stops after
 *   a statement that failed. Each statement sees what is committed when it starts (READ COMMITTED), so a body locks the rows
 *   that its decisions depend on (`forUpdate`), or changes them by conditional statements.
 * - A broken constraint raises `ConstraintError`. A full queue, a failing disk or a server that does not answer raises the
 *   `unavailable` problem, and so does every call after `close`.
 * - `nextval('name')` in SQL returns a new identifier of that sequence, never one that it has returned before.
 */
export interface Database extends Queryable {
  readonly engine: "sqlite" | "postgres";
  write<T>(body: (tx: Transaction) => Awaitable<T>, options?: WriteOptions): Promise<T>;
  /**
   * Writes an input in a batch with those of its kind that wait. Rejects as if it had been written alone. The caller makes a new `input` for each call.
   *
   * @param handle for whom, as in `as`
   */
  batch<Input extends object, Result>(write: Batch<Input, Result>, input: Input, handle?: Partial<Handle>): Promise<Result>;
  /**
   * Reads one page of many rows: each step of a loop over awaited reads goes through it (decision 0095). The embedded engine answers a read
   * without a turn of the event loop, so there a page first waits for its turn among the pages of all accounts, one in each turn of the
   * event loop. A server's connections take turns already, so there it only reads. A page takes a few ms: at most a few hundred rows.
   *
   * @throws Problem `unavailable` if the page gets no turn
   */
  scan<T>(read: () => Awaitable<T>): Promise<T>;
  /** Returns the same database for the work of another caller or origin. Until then work is the system's, and of no caller. */
  as(handle: Partial<Handle>): Database;
  /** Returns the same database, each of whose reads and transactions runs in `around`, as do those of the handles that are made from it. */
  around(around: Around): Database;
  load(): DatabaseLoad;
  /**
   * Gives some of the free space of the database's file back to the disk, without delaying other writes for more than a few ms. Returns whether
   * another call would give back more: always false for an engine that reuses space on its own, as PostgreSQL's autovacuum does.
   */
  giveBackSpace(): Promise<boolean>;
  /**
   * Reports a file of the embedded database that was removed, replaced or cut short, as each write does. With a server, only the lock of the folder can be lost: writes are
   * refused from then on.
   */
  checkFiles(): void;
  close(): Promise<void>;
}

export type DatabaseLoad = {
  /** Reads and transactions that run or wait now. */
  reads: number;
  writes: number;
  /** How many writes shared each commit of the embedded database. */
  commitSizes?: Histogram;
  /** Connections that run a transaction, work that waits for a connection, and work that was refused a connection since the start. */
  pool?: {
    connections: number;
    connectionsMax: number;
    waiting: { reads: number; writes: number };
    refused: { reads: number; writes: number };
    /** How long (s) work waited for a connection, if none was free. */
    waits: { reads: Histogram; writes: Histogram };
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

/** The refusal of work that the store cannot do now. The cause is only logged. */
export function unavailable(cause?: unknown): Problem {
  return new Problem("unavailable", "The store cannot take this now. Try again.", { headers: { "retry-after": "1" }, cause });
}

/** The refusal of work that arrives while the store is closing. */
export function stopping(): Problem {
  return new Problem("unavailable", "The service is stopping.");
}

/** The refusal of a write whose client has gone before it began: nobody reads it. */
export function clientGone(): Problem {
  return overloaded("The client closed its connection before the change had its turn.");
}

/** Whether work of another caller waits. Work of no caller does not count. */
export function othersWait({ waiting, queues }: FairShare<CallerKey>, caller: CallerKey): boolean {
  const own = (queues.get(caller)?.length ?? 0) + (queues.get(undefined)?.length ?? 0);
  return waiting > own;
}

/** The refusal of a body that has taken too long while another caller waits. */
export function tookTooLong(): Error {
  return overloaded("This change took too long while others waited, so nothing was changed. Try again, in smaller parts if it has many.");
}
