import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { empty, type Sql } from "sql-template-tag";
import { ConstraintError, type ConstraintKind, type Database, type Transaction } from "./database.ts";
import { openSequences } from "./sqlite-sequences.ts";
import { stopping, unavailable } from "./unavailable.ts";

/** Writes that may share one commit. */
const groupMax = 256;
/** Writes that may wait; further ones are refused as `unavailable`. */
const queueMax = 10_000;
/** Prepared statements kept per connection. */
const statementsMax = 500;

type Job = { body: (tx: Transaction) => Promise<unknown>; resolve: (value: unknown) => void; reject: (error: unknown) => void };

/**
 * The embedded engine: one writer connection, one reader connection, WAL with `synchronous=FULL`.
 * Writes that wait in the same turn of the event loop share one transaction (group commit), each in a savepoint of
 * its own, so a failing body takes back only its own changes; nobody is answered before the shared commit.
 *
 * @param file path of the database file, made if absent
 */
export function openSqlite(file: string): Database {
  const writer = connect(file, false);
  const sequences = openSequences(writer);
  const write = preparedStatements(writer);
  const reader = connect(file, true);
  const read = preparedStatements(reader);
  const snapshot = openSnapshot(reader);
  const control = {
    begin: writer.prepare("BEGIN IMMEDIATE"),
    commit: writer.prepare("COMMIT"),
    rollback: writer.prepare("ROLLBACK"),
    savepoint: writer.prepare("SAVEPOINT job"),
    release: writer.prepare("RELEASE job"),
    rollbackTo: writer.prepare("ROLLBACK TO job"),
  };

  let queue: Job[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;

  async function drain(): Promise<void> {
    await new Promise(setImmediate);
    while (queue.length > 0) {
      const group = queue.length <= groupMax ? queue : queue.slice(0, groupMax);
      queue = queue.slice(group.length);
      await commitGroup(group);
    }
    draining = undefined;
  }

  async function commitGroup(group: Job[]): Promise<void> {
    const settle: (() => void)[] = [];
    try {
      control.begin.run();
      for (const job of group) settle.push(await runJob(job));
      sequences.save();
      snapshot.release();
      control.commit.run();
    } catch (error) {
      if (writer.isTransaction) control.rollback.run();
      for (const job of group) job.reject(translate(error));
      return;
    }
    for (const answer of settle) answer();
  }

  async function runJob(job: Job): Promise<() => void> {
    let open = true;
    const tx: Transaction = {
      forUpdate: empty,
      query: async <R>(query: Sql) => {
        if (!open) throw new Error("the transaction is over");
        return write(query) as R[];
      },
      script: async (text) => {
        writer.exec(text);
        sequences.load(); // a migration may have changed them
      },
      lock: async () => undefined, // there is a single writer
      tryLock: async () => true,
    };
    control.savepoint.run();
    try {
      const value = await job.body(tx);
      control.release.run();
      return () => job.resolve(value);
    } catch (error) {
      if (!writer.isTransaction) throw error; // the engine gave up the whole group, as on a full disk
      control.rollbackTo.run();
      control.release.run();
      return () => job.reject(error);
    } finally {
      open = false;
    }
  }

  return {
    engine: "sqlite",
    query: async <R>(query: Sql) => {
      if (closed) throw stopping();
      snapshot.take();
      return read(query) as R[];
    },
    write: <T>(body: (tx: Transaction) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(stopping());
        if (queue.length >= queueMax) return reject(unavailable());
        queue.push({ body, resolve: resolve as Job["resolve"], reject });
        draining ??= drain();
      }),
    load: () => ({ reads: 0, writes: queue.length }),
    close: async () => {
      closed = true;
      await draining;
      reader.close();
      writer.close();
    },
  };
}

/**
 * Reads share one transaction from the first of them to the next commit, and so do not each lock the log of the file,
 * which costs more than the read. It ends before a commit, so what is read next is never older than what is committed.
 */
function openSnapshot(reader: DatabaseSync): { take(): void; release(): void } {
  const begin = reader.prepare("BEGIN");
  const commit = reader.prepare("COMMIT");
  return {
    take: () => void (reader.isTransaction || begin.run()),
    release: () => void (reader.isTransaction && commit.run()),
  };
}

function connect(file: string, readOnly: boolean): DatabaseSync {
  const connection = new DatabaseSync(file, { readOnly, timeout: 5_000 });
  if (!readOnly) connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  connection.exec("PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 1073741824");
  return connection;
}

/** Runs queries on one connection, keeping the statements it prepared; errors come out as the port's. */
function preparedStatements(connection: DatabaseSync): (query: Sql) => unknown[] {
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

/** Integers are bound as such: node:sqlite would bind every number as REAL. */
function bind(value: unknown): SQLInputValue {
  if (typeof value === "string" || value === null || value instanceof Uint8Array) return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  throw new TypeError(`a value of type ${typeof value} cannot be bound`);
}

const constraintKinds: Record<number, ConstraintKind> = { 275: "check", 787: "foreign_key", 1555: "unique", 2067: "unique" };
/** SQLITE_BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN: nothing the caller did. */
const unavailableCodes = new Set([5, 6, 8, 10, 13, 14]);

function translate(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode;
  if (code === undefined) return error;
  const kind = constraintKinds[code];
  if (kind) return new ConstraintError(kind, { cause: error });
  return unavailableCodes.has(code & 0xff) ? unavailable(error) : error;
}
