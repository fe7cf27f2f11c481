import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Sql } from "sql-template-tag";
import { openBounds, type Bounds } from "../bounds.ts";
import { systemClock, type Clock } from "../clock.ts";
import { systemOrigin, type Origin, type RecordedEvent } from "../events.ts";
import type { Awaitable, Database, Transaction, WriteOptions } from "./database.ts";
import { openEventChain } from "./sqlite-events.ts";
import { fdatasyncInPool, isFailedFlush, openWal, type Flush } from "./sqlite-log.ts";
import { openRowCache } from "./sqlite-row-cache.ts";
import { recoverLog } from "./sqlite-recovery.ts";
import { openSequences } from "./sqlite-sequences.ts";
import { giveBackPages } from "./sqlite-space.ts";
import { openSnapshot } from "./sqlite-snapshot.ts";
import { runJobs, type Job } from "./sqlite-jobs.ts";
import { preparedStatements, storageFaultOf, translate, type Statements, type StorageFault } from "./sqlite-statements.ts";
import { runInTurn, type FairShare } from "../jobs/fair-share.ts";
import { openHistogram, type Histogram } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { stopping, unavailable } from "./unavailable.ts";

/** Writes that may share one commit. */
const groupMax = 256;
/** Buckets of the histogram of writes in a commit. */
const commitBounds = [1, 2, 4, 8, 16, 32, 64, 128];
/** Writes that may wait. Further ones are refused as `unavailable`. */
const queueMax = 10_000;

export type SqliteOptions = {
  /** Lets tests delay the disk, or make it fail. */
  flush?: Flush | undefined;
  /** The time of events whose origin has none. Default: the system's clock. */
  clock?: Clock | undefined;
  /** Where the queue of pages is opened, for its metrics. */
  bounds?: Pick<Bounds, "queue"> | undefined;
  /** Called after each commit that added events, with their accounts. */
  onEvents?: ((accountIds: readonly number[]) => void) | undefined;
  /** Called once when the disk fails to flush the log or a checkpoint. */
  onFlushFailed?: ((error: unknown) => void) | undefined;
  /** Called with each error that shows a damaged file, or a disk that takes no writes. */
  onFault?: ((fault: StorageFault, error: unknown) => void) | undefined;
};

type Engine = Required<Omit<SqliteOptions, "bounds">> & {
  writer: DatabaseSync;
  reader: DatabaseSync;
  write: Statements;
  read: Statements;
  sequences: ReturnType<typeof openSequences>;
  snapshot: ReturnType<typeof openSnapshot>;
  rowCache: ReturnType<typeof openRowCache>;
  chain: ReturnType<typeof openEventChain>;
  wal: ReturnType<typeof openWal>;
  control: ReturnType<typeof prepareControl>;
  queue: Job[];
  /** The pages of long reads, by account. */
  scans: FairShare<number>;
  commitSizes: Histogram;
  /** Whether the next commit copies the log into the file, however short it is. */
  shortens: boolean;
  draining: Promise<void> | undefined;
  closed: boolean;
  closing: Promise<void> | undefined;
  /** Whether a page was found damaged. From then on nothing is written, because a write could damage more. */
  isDamaged: boolean;
  /** The error of the disk, after which nothing is written or read any more. */
  failure: unknown;
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
  return handleOf(openEngine(file, options), { account: undefined, origin: systemOrigin });
}

/** The account whose turns a handle takes, and the origin of its events. */
type Own = { account: number | undefined; origin: Origin };

function handleOf(engine: Engine, own: Own): Database {
  const database: Database = {
    engine: "sqlite",
    query: async <R>(query: Sql) => look(engine, () => engine.read.rows(query) as R[]),
    rows: (statement, values) => look(engine, () => engine.read.arrays(statement, values)),
    find: (statement, key) => look(engine, () => engine.rowCache.find(statement, key)),
    findAll: (statement, accountId, listing) => look(engine, () => engine.rowCache.findAll(statement, accountId, listing)),
    write: (body, options = {}) => enqueue(engine, body, options, own.origin),
    scan: (read) => scan(engine, own, read),
    forAccount: (account) => handleOf(engine, { ...own, account }),
    actingAs: (origin) => handleOf(engine, { ...own, origin }),
    giveBackSpace: () =>
      database.write(async (tx) => {
        const { isDone, isMore } = await giveBackPages(tx);
        engine.shortens ||= isDone;
        return isMore;
      }),
    load: () => ({ reads: 0, writes: engine.queue.length, commitSizes: engine.commitSizes }),
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
function scan<R>({ scans }: Engine, { account }: Own, read: () => Awaitable<R>): Promise<R> {
  return runInTurn(scans, account, async () => {
    await nextTurn();
    return read();
  });
}

function openEngine(file: string, options: SqliteOptions): Engine {
  const { flush = fdatasyncInPool, onFlushFailed = () => undefined, onFault = () => undefined } = options;
  const { clock = systemClock, onEvents = () => undefined, bounds = openBounds() } = options;
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
    queue: [],
    scans: bounds.queue<number>("scans"),
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

function writeRefusalOf({ isDamaged, queue }: Engine): Error | undefined {
  if (isDamaged) return unavailable(new Error("the database is damaged, and takes no writes"));
  return queue.length >= queueMax ? unavailable() : undefined;
}

type Body<T> = (tx: Transaction) => Awaitable<T>;

function enqueue<T>(engine: Engine, body: Body<T>, options: WriteOptions<T>, own: Origin): Promise<T> {
  const { together, undoes = false, origin = own } = options;
  return new Promise<T>((resolve, reject) => {
    const refusal = refusalOf(engine) ?? writeRefusalOf(engine);
    if (refusal) return reject(refusal);
    const ending = { resolve: resolve as Job["resolve"], reject, isDone: false, isRefused: false, outcome: undefined };
    engine.queue.push({ body, together, undoes, origin, ...ending });
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

/** Never rejects, whatever the file holds: an error here would end the process. */
async function commitGroup(engine: Engine, group: Job[]): Promise<void> {
  const { control, sequences, snapshot, chain, wal } = engine;
  const accountIds = new Set<number>();
  try {
    control.begin.run();
    const append = (events: readonly RecordedEvent[]): void => chain.append(events).forEach((id) => accountIds.add(id));
    await runJobs(engine, group, append, (error) => noteFault(engine, error));
    if (chain.mayWait()) append([]);
    sequences.save();
    snapshot.open();
    control.commit.run();
  } catch (error) {
    if (isFailedFlush(error)) fail(engine, error);
    rollBack(engine);
    chain.forget();
    for (const job of group) job.reject(noteFault(engine, translate(error)));
    return;
  }
  try {
    await wal.flush();
    releaseSnapshot(engine);
    wal.shorten(engine.shortens);
    engine.shortens = false;
  } catch (error) {
    fail(engine, error);
    for (const job of group) job.reject(unavailable(error));
    return;
  }
  engine.commitSizes.observe(group.length);
  for (const { isRefused, outcome, resolve, reject } of group) {
    if (isRefused) reject(outcome);
    else resolve(outcome);
  }
  if (accountIds.size > 0) engine.onEvents([...accountIds]);
}

/** Ends the transaction. If even that fails, the next group cannot begin its own, and tries again to end this one. */
function rollBack(engine: Engine): void {
  try {
    if (engine.writer.isTransaction) engine.control.rollback.run();
  } catch (error) {
    noteFault(engine, error);
  }
}

/** The commit is durable, so a database that cannot be read does not change its outcome. */
function releaseSnapshot(engine: Engine): void {
  try {
    engine.snapshot.release();
  } catch (error) {
    noteFault(engine, error);
  }
  engine.rowCache.settle();
}

/** Reports what an error shows about the disk or the file, and returns the error. */
function noteFault(engine: Engine, error: unknown): unknown {
  const fault = storageFaultOf(error);
  if (fault === "damaged") engine.isDamaged = true;
  if (fault !== undefined) engine.onFault(fault, error instanceof Problem ? error.cause : error);
  return error;
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
