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
/** Writes that may wait; further ones are refused as `unavailable`. */
const queueMax = 10_000;

export type SqliteOptions = {
  /** Lets tests delay the disk, or make it fail. */
  flush?: Flush | undefined;
  /** Called once when the disk fails to flush the log or a checkpoint. */
  onFlushFailed?: ((error: unknown) => void) | undefined;
};

type Job = { body: (tx: Transaction) => Promise<unknown>; resolve: (value: unknown) => void; reject: (error: unknown) => void };

/**
 * The embedded engine: one writer connection, one reader connection, WAL. Writes that wait in the same turn of the event loop,
 * or while the disk is busy with those before them, share one transaction (group commit), each in a savepoint of its own, so a
 * failing body takes back only its own changes. Nobody is answered, and no query sees a change, before the log is on the disk.
 * If the disk fails to flush it, every later call is refused as `unavailable`: it is unknown what the disk has, and a second
 * flush may report success although the system has dropped the pages. A new process has to open the file.
 *
 * @param file path of the database file, made if absent
 * @throws DamagedLogError if the last process's log has lost acknowledged transactions
 */
export function openSqlite(file: string, { flush = fdatasyncInPool, onFlushFailed = () => undefined }: SqliteOptions = {}): Database {
  recoverLog(file);
  const writer = connect(file, false);
  const sequences = openSequences(writer);
  const write = preparedStatements(writer);
  const reader = connect(file, true);
  const read = preparedStatements(reader);
  const snapshot = openSnapshot(reader);
  const log = openWal(file, writer, flush);
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
  let failure: unknown;
  let closing: Promise<void> | undefined;

  function refused(): Error | undefined {
    if (closed) return stopping();
    return failure === undefined ? undefined : unavailable(failure);
  }

  function fail(error: unknown): void {
    failure = error;
    onFlushFailed(error);
    for (const job of queue.splice(0)) job.reject(unavailable(error));
  }

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
      snapshot.hold();
      control.commit.run();
    } catch (error) {
      if (isFailedFlush(error)) fail(error);
      if (writer.isTransaction) control.rollback.run();
      for (const job of group) job.reject(translate(error));
      return;
    }
    try {
      await log.flush();
      snapshot.release();
      log.shorten();
    } catch (error) {
      fail(error);
      for (const job of group) job.reject(unavailable(error));
      return;
    }
    for (const answer of settle) answer();
  }

  async function runJob(job: Job): Promise<() => void> {
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

  async function close(): Promise<void> {
    closed = true;
    await draining;
    log.close();
    // The last connection that closes copies the log into the database file, unless it is read-only: after a failed flush the log
    // stays as it is, for the next process to make durable.
    for (const connection of failure === undefined ? [reader, writer] : [writer, reader]) connection.close();
  }

  const database: Database = {
    engine: "sqlite",
    query: async <R>(query: Sql) => {
      const refusal = refused();
      if (refusal) throw refusal;
      snapshot.take();
      return read(query) as R[];
    },
    write: <T>(body: (tx: Transaction) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        const refusal = refused() ?? (queue.length >= queueMax ? unavailable() : undefined);
        if (refusal) return reject(refusal);
        queue.push({ body, resolve: resolve as Job["resolve"], reject });
        draining ??= drain();
      }),
    forAccount: () => database, // there are no connections to share
    load: () => ({ reads: 0, writes: queue.length }),
    close: () => (closing ??= close()),
  };
  return database;
}

function connect(file: string, readOnly: boolean): DatabaseSync {
  const connection = new DatabaseSync(file, { readOnly, timeout: 5_000 });
  if (!readOnly)
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON");
  connection.exec("PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 1073741824");
  return connection;
}
