import { DatabaseSync } from "node:sqlite";
import { empty, type Sql } from "sql-template-tag";
import type { Database, Transaction } from "./database.ts";
import { fdatasyncInPool, isFailedFlush, openWal, type Flush } from "./sqlite-log.ts";
import { recoverLog } from "./sqlite-recovery.ts";
import { openSequences } from "./sqlite-sequences.ts";
import { openSnapshot } from "./sqlite-snapshot.ts";
import { preparedStatements, translate } from "./sqlite-statements.ts";
import { stopping, unavailable } from "./unavailable.ts";

/** Writes that may share one commit. */
const groupMax = 256;
/** Writes that may wait. Further ones are refused as `unavailable`. */
const queueMax = 10_000;

export type SqliteOptions = {
  /** Lets tests delay the disk, or make it fail. */
  flush?: Flush | undefined;
  /** Called once when the disk fails to flush the log or a checkpoint. */
  onFlushFailed?: ((error: unknown) => void) | undefined;
};

type Job = { body: (tx: Transaction) => Promise<unknown>; resolve: (value: unknown) => void; reject: (error: unknown) => void };

type Engine = Required<SqliteOptions> & {
  writer: DatabaseSync;
  reader: DatabaseSync;
  write: ReturnType<typeof preparedStatements>;
  read: ReturnType<typeof preparedStatements>;
  sequences: ReturnType<typeof openSequences>;
  snapshot: ReturnType<typeof openSnapshot>;
  wal: ReturnType<typeof openWal>;
  control: ReturnType<typeof prepareControl>;
  queue: Job[];
  draining: Promise<void> | undefined;
  closed: boolean;
  closing: Promise<void> | undefined;
  /** The error of the disk, after which nothing is written or read any more. */
  failure: unknown;
};

/**
 * The embedded engine: one writer connection, one reader connection, WAL. The writes that wait in the same turn of the event
 * loop, or while the disk is busy, share one transaction (group commit), each in its own savepoint, so a body that fails rolls
 * back only its own changes. No call returns, and no query sees a change, before the log is on the disk. If the disk fails to
 * flush the log, every later call is refused as `unavailable`: it is unknown what is on the disk, and a second flush may report
 * success although the system has dropped the pages. A new process has to open the file.
 *
 * @param file path of the database file, created if absent
 * @throws DamagedLogError if the last process's log has lost acknowledged transactions
 */
export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  const engine = openEngine(file, options);
  const database: Database = {
    engine: "sqlite",
    query: async <R>(query: Sql) => {
      const refusal = refusalOf(engine);
      if (refusal) throw refusal;
      engine.snapshot.take();
      return engine.read(query) as R[];
    },
    write: (body) => enqueue(engine, body),
    forAccount: () => database, // there are no connections to share
    load: () => ({ reads: 0, writes: engine.queue.length }),
    close: () => (engine.closing ??= close(engine)),
  };
  return database;
}

function openEngine(file: string, { flush = fdatasyncInPool, onFlushFailed = () => undefined }: SqliteOptions): Engine {
  recoverLog(file);
  const writer = connect(file, false);
  const sequences = openSequences(writer);
  const write = preparedStatements(writer);
  const reader = connect(file, true);
  const read = preparedStatements(reader);
  const snapshot = openSnapshot(reader);
  const wal = openWal(file, writer, flush);
  const parts = { writer, reader, write, read, sequences, snapshot, wal, control: prepareControl(writer), flush, onFlushFailed };
  return { ...parts, queue: [], draining: undefined, closed: false, closing: undefined, failure: undefined };
}

function prepareControl(writer: DatabaseSync) {
  return {
    begin: writer.prepare("BEGIN IMMEDIATE"),
    commit: writer.prepare("COMMIT"),
    rollback: writer.prepare("ROLLBACK"),
    savepoint: writer.prepare("SAVEPOINT job"),
    release: writer.prepare("RELEASE job"),
    rollbackTo: writer.prepare("ROLLBACK TO job"),
  };
}

function refusalOf({ closed, failure }: Engine): Error | undefined {
  if (closed) return stopping();
  return failure === undefined ? undefined : unavailable(failure);
}

function enqueue<T>(engine: Engine, body: (tx: Transaction) => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const refusal = refusalOf(engine) ?? (engine.queue.length >= queueMax ? unavailable() : undefined);
    if (refusal) return reject(refusal);
    engine.queue.push({ body, resolve: resolve as Job["resolve"], reject });
    engine.draining ??= drain(engine);
  });
}

async function drain(engine: Engine): Promise<void> {
  await new Promise(setImmediate);
  while (engine.queue.length > 0) {
    const { queue } = engine;
    const group = queue.length <= groupMax ? queue : queue.slice(0, groupMax);
    engine.queue = queue.slice(group.length);
    await commitGroup(engine, group);
  }
  engine.draining = undefined;
}

async function commitGroup(engine: Engine, group: Job[]): Promise<void> {
  const { writer, control, sequences, snapshot, wal } = engine;
  const settle: (() => void)[] = [];
  try {
    control.begin.run();
    for (const job of group) settle.push(await runJob(engine, job));
    sequences.save();
    snapshot.hold();
    control.commit.run();
  } catch (error) {
    if (isFailedFlush(error)) fail(engine, error);
    if (writer.isTransaction) control.rollback.run();
    for (const job of group) job.reject(translate(error));
    return;
  }
  try {
    await wal.flush();
    snapshot.release();
    wal.shorten();
  } catch (error) {
    fail(engine, error);
    for (const job of group) job.reject(unavailable(error));
    return;
  }
  for (const answer of settle) answer();
}

/** Runs a job in its savepoint. Returns the function that answers it after the commit. */
async function runJob(engine: Engine, job: Job): Promise<() => void> {
  const { writer, control } = engine;
  const { tx, end } = openTransaction(engine);
  control.savepoint.run();
  try {
    const value = await job.body(tx);
    control.release.run();
    return () => job.resolve(value);
  } catch (error) {
    if (!writer.isTransaction) throw error; // SQLite rolled back the whole group, as on a full disk
    control.rollbackTo.run();
    control.release.run();
    return () => job.reject(error);
  } finally {
    end();
  }
}

function openTransaction({ writer, write, sequences }: Engine): { tx: Transaction; end: () => void } {
  let open = true;
  const tx: Transaction = {
    forUpdate: empty,
    skipLocked: () => empty,
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
    startOver: () => undefined,
  };
  return { tx, end: () => void (open = false) };
}

function fail(engine: Engine, error: unknown): void {
  engine.failure = error;
  engine.onFlushFailed(error);
  for (const job of engine.queue.splice(0)) job.reject(unavailable(error));
}

async function close(engine: Engine): Promise<void> {
  engine.closed = true;
  await engine.draining;
  engine.wal.close();
  // The last connection that closes copies the log into the database file, unless it is read-only. After a failed flush the
  // log stays as it is, for the next process to make durable.
  const { reader, writer } = engine;
  for (const connection of engine.failure === undefined ? [reader, writer] : [writer, reader]) connection.close();
}

function connect(file: string, readOnly: boolean): DatabaseSync {
  const connection = new DatabaseSync(file, { readOnly, timeout: 5_000 });
  if (!readOnly)
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON");
  connection.exec("PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 1073741824");
  return connection;
}
