import { DatabaseSync } from "node:sqlite";
import { empty, type Sql } from "sql-template-tag";
import type { Database, Transaction } from "./database.ts";
import { fdatasyncInPool, openLog, type Flush } from "./sqlite-log.ts";
import { openSequences } from "./sqlite-sequences.ts";
import { openSnapshot } from "./sqlite-snapshot.ts";
import { preparedStatements, translate } from "./sqlite-statements.ts";
import { stopping, unavailable } from "./unavailable.ts";

/** Writes that may share one commit. */
const groupMax = 256;
/** Writes that may wait; further ones are refused as `unavailable`. */
const queueMax = 10_000;

type Job = { body: (tx: Transaction) => Promise<unknown>; resolve: (value: unknown) => void; reject: (error: unknown) => void };

/**
 * The embedded engine: one writer connection, one reader connection, WAL. Writes that wait in the same turn of the event
 * loop, or while the disk is busy with those before them, share one transaction (group commit), each in a savepoint of its
 * own, so a failing body takes back only its own changes. Nobody is answered, and no query sees a change, before the log
 * is on the disk. Where a disk fails to keep it, all is unavailable until the process starts anew: what it has is unknown.
 *
 * @param file path of the database file, made if absent
 * @param flush lets tests hold up the disk, or fail it
 */
export function openSqlite(file: string, { flush = fdatasyncInPool }: { flush?: Flush } = {}): Database {
  const writer = connect(file, false);
  const sequences = openSequences(writer);
  const write = preparedStatements(writer);
  const reader = connect(file, true);
  const read = preparedStatements(reader);
  const snapshot = openSnapshot(reader);
  const log = openLog(file, writer, flush);
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

  function refused(): Error | undefined {
    if (closed) return stopping();
    return failure === undefined ? undefined : unavailable(failure);
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
      if (writer.isTransaction) control.rollback.run();
      for (const job of group) job.reject(translate(error));
      return;
    }
    try {
      await log.flush();
    } catch (error) {
      failure = error;
      for (const job of [...group, ...queue.splice(0)]) job.reject(unavailable(error));
      return;
    }
    snapshot.release();
    log.shorten();
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
    load: () => ({ reads: 0, writes: queue.length }),
    close: async () => {
      closed = true;
      await draining;
      reader.close();
      log.close();
      writer.close();
    },
  };
}

function connect(file: string, readOnly: boolean): DatabaseSync {
  const connection = new DatabaseSync(file, { readOnly, timeout: 5_000 });
  if (!readOnly)
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON");
  connection.exec("PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 1073741824");
  return connection;
}
