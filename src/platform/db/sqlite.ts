import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Sql } from "sql-template-tag";
import { openBounds, type Bounds } from "../bounds.ts";
import { systemClock, type Clock } from "../clock.ts";
import { systemWorkTimer, type WorkTimer } from "../event-loop.ts";
import { runInTurn } from "../jobs/fair-share.ts";
import { openHistogram } from "../metrics.ts";
import { batchOfOne, directly, systemHandle, type Around, type Awaitable, type CallerKey, type Database, type Handle } from "./database.ts";
import { openEventChain } from "./sqlite-events.ts";
import { fdatasyncInPool, openWal, type Flush } from "./sqlite-log.ts";
import { openRowCache } from "./sqlite-row-cache.ts";
import { recoverLog } from "./sqlite-recovery.ts";
import { openSequences } from "./sqlite-sequences.ts";
import { giveBackPages } from "./sqlite-space.ts";
import { openSnapshot } from "./sqlite-snapshot.ts";
import { preparedStatements, translate, type StorageFault } from "./sqlite-statements.ts";
import { enqueue, noteFault, prepareControl, refusalOf, type Engine } from "./sqlite-writer.ts";

/** Buckets of the histogram of writes in a commit. */
const commitBounds = [1, 2, 4, 8, 16, 32, 64, 128];

export type SqliteOptions = {
  /** Lets tests delay the disk, or make it fail. */
  flush?: Flush | undefined;
  /** The time of events whose origin has none. Default: the system's clock. */
  clock?: Clock | undefined;
  /** Measures how long bodies run. Default: the system's clocks. */
  timer?: WorkTimer | undefined;
  /** Where the queues of writes and of pages are opened, for their metrics. */
  bounds?: Pick<Bounds, "queue"> | undefined;
  /** Called after each commit that added events, with their accounts. */
  onEvents?: ((accountIds: readonly number[]) => void) | undefined;
  /** Called once when the disk fails to flush the log or a checkpoint. */
  onFlushFailed?: ((error: unknown) => void) | undefined;
  /** Called with each error that shows a damaged file, or a disk that takes no writes. */
  onFault?: ((fault: StorageFault, error: unknown) => void) | undefined;
};

/**
 * The embedded engine: one writer connection, one reader connection, WAL. The writes that wait in the same turn of the event
 * loop, or while the disk is busy, share one transaction (group commit), each in its own savepoint, so a body that fails rolls
 * back only its own changes. No call returns, and no query sees a change, before the log is on the disk. If the disk fails to
 * flush the log, every later call is refused as `unavailable`: it is unknown what is on the disk, and a second flush may report
 * success although the system has dropped the pages. A new process has to open the file. If a page is damaged, reads go on, and
 * writes are refused.
 *
 * @param file path of the database file, created if absent
 * @throws DamagedLogError if the last process's log has lost acknowledged transactions
 */
export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  return handleOf(openEngine(file, options), systemHandle, directly);
}

function handleOf(engine: Engine, handle: Handle, around: Around): Database {
  const read = <R>(work: () => R): Awaitable<R> => around("SELECT", () => look(engine, work));
  const database: Database = {
    engine: "sqlite",
    query: async <R>(query: Sql) => read(() => engine.read.rows(query) as R[]),
    rows: (statement, values) => read(() => engine.read.arrays(statement, values)),
    find: (statement, key) => read(() => engine.rowCache.find(statement, key)),
    findAll: (statement, accountId, listing) => read(() => engine.rowCache.findAll(statement, accountId, listing)),
    write: async (body, { isDryRun = false } = {}) =>
      around("transaction", () => enqueue(engine, { handle, body, part: undefined, isDryRun })),
    batch: async (write, input) =>
      around("transaction", () => enqueue(engine, { handle, body: batchOfOne(write, input), part: { write, input }, isDryRun: false })),
    scan: (work) => scan(engine, handle, work),
    as: (other) => handleOf(engine, { ...handle, ...other }, around),
    around: (outer) => handleOf(engine, handle, (operation, work) => outer(operation, () => around(operation, work))),
    giveBackSpace: () =>
      database.write(async (tx) => {
        const { isDone, isMore } = await giveBackPages(tx);
        engine.shortens ||= isDone;
        return isMore;
      }),
    load: () => ({ reads: 0, writes: engine.turns.inUse + engine.turns.waiting, commitSizes: engine.commitSizes }),
    close: () => (engine.closing ??= close(engine)),
  };
  return database;
}

/** Reads at once. @throws Problem `unavailable` */
function look<R>(engine: Engine, read: () => R): R {
  const refusal = refusalOf(engine);
  if (refusal) throw refusal;
  try {
    engine.snapshot.open();
    return read();
  } catch (error) {
    engine.snapshot.failed();
    throw noteFault(engine, translate(error));
  }
}

/** Begins each page in a turn of the event loop of its own: with one place, other work runs between any two pages. */
function scan<R>({ scans }: Engine, { caller }: Handle, read: () => Awaitable<R>): Promise<R> {
  return runInTurn(scans, caller, async () => {
    await nextTurn();
    return read();
  });
}

function openEngine(file: string, options: SqliteOptions): Engine {
  const { flush = fdatasyncInPool, onFlushFailed = () => undefined, onFault = () => undefined } = options;
  const { clock = systemClock, onEvents = () => undefined, bounds = openBounds(), timer = systemWorkTimer } = options;
  recoverLog(file);
  const writer = connect(file);
  const sequences = openSequences(writer);
  const write = preparedStatements(writer);
  const reader = connect(file, { readOnly: true });
  const read = preparedStatements(reader);
  const rowCache = openRowCache(writer, read);
  const snapshot = openSnapshot(reader, () => rowCache.check());
  const wal = openWal(file, writer, flush);
  const chain = openEventChain(write);
  const hooks = { flush, onFlushFailed, onFault, clock, onEvents };
  const parts = { writer, reader, write, read, sequences, snapshot, rowCache, chain, wal, control: prepareControl(writer), ...hooks };
  const state = {
    turns: bounds.queue<CallerKey>("writer"),
    admitted: [],
    scans: bounds.queue<CallerKey>("scans"),
    timer,
    commitSizes: openHistogram(commitBounds),
    shortens: false,
    draining: undefined,
    closed: false,
    closing: undefined,
    isDamaged: false,
    failure: undefined,
  };
  return { ...parts, ...state };
}

async function close(engine: Engine): Promise<void> {
  engine.closed = true;
  await engine.draining;
  await engine.wal.close();
  // The last connection that closes copies the log into the database file, unless it is read-only. After a failed flush the
  // log stays as it is, for the next process to make durable.
  const { reader, writer } = engine;
  for (const connection of engine.failure === undefined ? [reader, writer] : [writer, reader]) connection.close();
}

function connect(file: string, { readOnly = false } = {}): DatabaseSync {
  const connection = new DatabaseSync(file, { readOnly, timeout: 5_000 });
  if (!readOnly)
    // auto_vacuum has an effect only before the file's first page; the log is cut to the limit when it restarts.
    connection.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_size_limit = 16777216");
  if (!readOnly)
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON");
  // Without memory-mapped reads, a file that the disk cannot read is an error of one query; with them a signal would end the process.
  connection.exec("PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0");
  return connection;
}
