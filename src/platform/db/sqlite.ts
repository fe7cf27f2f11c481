import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Sql } from "sql-template-tag";
import { openBounds, type Bounds } from "../bounds.ts";
import { systemClock, type Clock } from "../clock.ts";
import { systemWorkTimer, type WorkTimer } from "../event-loop.ts";
import type { RecordedEvent } from "../events.ts";
import { addWaiting, runInTurn, type FairShare, type Refusal } from "../jobs/fair-share.ts";
import { openHistogram, type Histogram } from "../metrics.ts";
import { Problem } from "../problem.ts";
import {
  batchOfOne,
  directly,
  stopping,
  systemHandle,
  unavailable,
  type Around,
  type Awaitable,
  type CallerKey,
  type Database,
  type Handle,
  type Transaction,
} from "./database.ts";
import { openEventChain } from "./sqlite-events.ts";
import { logBytesKept, LostFileError } from "./sqlite-files.ts";
import { runJobs, takeAll, takeNext, type Job, type WriteQueue } from "./sqlite-jobs.ts";
import { fdatasyncInPool, isFailedFlush, openWal, type Flush } from "./sqlite-log.ts";
import { recoverLog } from "./sqlite-recovery.ts";
import { openSnapshot } from "./sqlite-snapshot.ts";
import { giveBackPages } from "./sqlite-space.ts";
import {
  DamagedTextError,
  openSequences,
  preparedStatements,
  storageFaultOf,
  translate,
  type Statements,
  type StorageFault,
} from "./sqlite-statements.ts";

/** The size (KiB) of the page cache of each connection (decision 0066). */
const [readerCacheKib, writerCacheKib] = [32_768, 16_384];

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
  /** Called once when the disk fails to flush the log or a checkpoint; every later call is refused as `unavailable`. */
  onFlushFailed?: ((error: unknown) => void) | undefined;
  /** Path of the lock that this process has on the folder: without it the engine takes no writes. */
  lock?: string | undefined;
  /** Called with each error that shows a damaged or lost file, or a disk that takes no writes. */
  onFault?: ((fault: StorageFault, error: unknown) => void) | undefined;
};

/**
 * The embedded engine: one writer connection, one reader connection, WAL. The writes that wait in the same turn of the event
 * loop, or while the disk is busy, share one transaction (group commit), each in its own savepoint, so a body that fails rolls
 * back only its own changes. No call returns, and no query sees a change, before the log is on the disk. If the disk fails to
 * flush the log, every later call is refused as `unavailable`: it is unknown what is on the disk, and a second flush may report
 * success although the system has dropped the pages. A new process has to open the file. If a page is damaged, or a file is removed or
 * replaced, reads go on, and writes are refused.
 *
 * @param file path of the database file, created if absent
 * @throws DamagedLogError, LostLogError if the last process's log has lost acknowledged transactions, or is gone
 */
export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  return handleOf(openEngine(file, options), systemHandle, directly);
}

function handleOf(engine: Engine, handle: Handle, around: Around): Database {
  const read = <R>(work: () => R): Awaitable<R> => around("SELECT", () => readNow(engine, work));
  const database: Database = {
    engine: "sqlite",
    query: async <R>(query: Sql) => read(() => engine.read.rows(query) as R[]),
    rows: (statement, values) => read(() => engine.read.arrays(statement, values)),
    write: async (body, { isDryRun = false, statementMs } = {}) => {
      const outcome = await around("transaction", () => enqueue(engine, { handle, body, part: undefined, isDryRun }));
      if (statementMs !== undefined) await engine.shortening;
      return outcome;
    },
    batch: async (write, input, other) => {
      const job = { handle: { ...handle, ...other }, body: batchOfOne(write, input), part: { write, input }, isDryRun: false };
      return around("transaction", () => enqueue(engine, job));
    },
    scan: (work) => scan(engine, handle, work),
    as: (other) => handleOf(engine, { ...handle, ...other }, around),
    around: (outer) => handleOf(engine, handle, (operation, work) => outer(operation, () => around(operation, work))),
    giveBackSpace: () =>
      database.write(async (tx) => {
        const { isDone, isMore } = await giveBackPages(tx);
        engine.shortens ||= isDone;
        return isMore;
      }),
    checkFiles: () => void requireFiles(engine),
    reportDamage(what) {
      const problem = unavailable(new DamagedTextError(what));
      noteFault(engine, problem);
      return problem;
    },
    load: () => ({ reads: 0, writes: engine.turns.inUse + engine.turns.waiting, commitSizes: engine.commitSizes }),
    close: () => (engine.closing ??= close(engine)),
  };
  return database;
}

/** Reads in the present snapshot. @throws Problem `unavailable` */
function readNow<R>(engine: Engine, read: () => R): R {
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
  const snapshot = openSnapshot(reader);
  const wal = openWal(file, writer, flush, options.lock);
  const chain = openEventChain(write);
  const hooks = { flush, onFlushFailed, onFault, clock, onEvents };
  const parts = { writer, reader, write, read, sequences, snapshot, chain, wal, control: prepareControl(writer), ...hooks };
  const state = {
    turns: bounds.queue<CallerKey>("writer"),
    admitted: [],
    scans: bounds.queue<CallerKey>("scans"),
    timer,
    commitSizes: openHistogram(commitBounds),
    shortens: false,
    draining: undefined,
    shortening: undefined,
    closed: false,
    closing: undefined,
    isDamaged: false,
    lost: undefined,
    isRescued: false,
    failure: undefined,
  };
  return { ...parts, ...state };
}

async function close(engine: Engine): Promise<void> {
  engine.closed = true;
  await engine.draining;
  // The last connection that closes copies the log into the database file and removes it, unless it is read-only. After a failed flush the
  // log stays as it is, for the next process to make durable; after the loss of a file, because the files at the paths may be others.
  const keepsLog = engine.failure !== undefined || (engine.lost !== undefined && !engine.isRescued);
  const { reader, writer } = engine;
  if (!keepsLog) releaseSnapshot(engine);
  await engine.wal.close({ keepsLog });
  for (const connection of keepsLog ? [writer, reader] : [reader, writer]) connection.close();
}

function connect(file: string, { readOnly = false } = {}): DatabaseSync {
  const connection = new DatabaseSync(file, { readOnly, timeout: 5_000 });
  if (!readOnly)
    // auto_vacuum has an effect only before the file's first page; the log is cut to the limit when it restarts.
    connection.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_size_limit = ${logBytesKept}`);
  if (!readOnly)
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON");
  // Without memory-mapped reads, a file that the disk cannot read is an error of one query; with them a signal would end the process.
  connection.exec(`PRAGMA cache_size = -${readOnly ? readerCacheKib : writerCacheKib}; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0`);
  return connection;
}

/** The parts of the embedded engine. */
type Engine = WriteQueue & {
  writer: DatabaseSync;
  reader: DatabaseSync;
  write: Statements;
  read: Statements;
  sequences: ReturnType<typeof openSequences>;
  snapshot: ReturnType<typeof openSnapshot>;
  chain: ReturnType<typeof openEventChain>;
  wal: ReturnType<typeof openWal>;
  control: ReturnType<typeof prepareControl>;
  clock: Clock;
  timer: WorkTimer;
  /** The pages of long reads. */
  scans: FairShare<CallerKey>;
  commitSizes: Histogram;
  onEvents: (accountIds: readonly number[]) => void;
  onFlushFailed: (error: unknown) => void;
  onFault: (fault: StorageFault, error: unknown) => void;
  /** Whether the next commit copies the log into the file, however short it is. */
  shortens: boolean;
  draining: Promise<void> | undefined;
  /** The newest attempt to copy the log into the file; undefined before the first. */
  shortening: Promise<void> | undefined;
  closed: boolean;
  closing: Promise<void> | undefined;
  /** Whether a page was found damaged. From then on nothing is written, because a write could damage more. */
  isDamaged: boolean;
  /** The file that was removed or replaced. From then on nothing is written. */
  lost: LostFileError | undefined;
  /** Whether all that was in a lost log is in the database. */
  isRescued: boolean;
  /** The error of the disk, after which nothing is written or read any more. */
  failure: unknown;
};

/** The statements that begin and end transactions. */
function prepareControl(writer: DatabaseSync) {
  return {
    begin: writer.prepare("BEGIN IMMEDIATE"),
    commit: writer.prepare("COMMIT"),
    rollback: writer.prepare("ROLLBACK"),
    savepoint: writer.prepare("SAVEPOINT job"),
    release: writer.prepare("RELEASE job"),
    rollbackTo: writer.prepare("ROLLBACK TO job"),
  } satisfies Record<string, StatementSync>;
}

/** Why the engine answers nothing any more, if it does not. */
function refusalOf({ closed, failure }: Engine): Error | undefined {
  if (closed) return stopping();
  return failure === undefined ? undefined : unavailable(failure);
}

function writeRefusalOf(engine: Engine): Error | undefined {
  if (engine.isDamaged) return unavailable(new Error("the database is damaged, and takes no writes"));
  if (engine.lost) return unavailable(engine.lost);
  return refusalOf(engine);
}

type Write<T> = Pick<Job, "handle" | "part" | "isDryRun"> & { body: (tx: Transaction) => Awaitable<T> };

/** Makes a write wait for its turn. Returns its outcome, after the commit. */
function enqueue<T>(engine: Engine, { handle, body, part, isDryRun }: Write<T>): Promise<T> {
  const { turns, admitted } = engine;
  return new Promise<T>((resolve, reject) => {
    const refusal = writeRefusalOf(engine);
    if (refusal) return reject(refusal);
    const ending = { resolve: resolve as Job["resolve"], reject, usedMs: 0, isDone: false, isRefused: false, outcome: undefined };
    const job: Job = { handle, body, part, isDryRun, ...ending };
    const settle = (late: Refusal | undefined): void => void (late === undefined ? admitted.push(job) : reject(turns.refusal(late)));
    const full = addWaiting(turns, handle.caller, settle, part?.write);
    if (full !== undefined) return reject(turns.refusal(full));
    engine.draining ??= drain(engine);
  });
}

async function drain(engine: Engine): Promise<void> {
  await new Promise(setImmediate);
  while (engine.turns.waiting > 0) await commitGroup(engine);
  engine.draining = undefined;
}

/** Runs and commits the writes whose turn it is. Never rejects, whatever the file holds: an error here would end the process. */
async function commitGroup(engine: Engine): Promise<void> {
  const { control, sequences, snapshot, chain, wal } = engine;
  const group: Job[] = [];
  const accountIds = new Set<number>();
  if (!requireFiles(engine)) return;
  takeNext(engine, group);
  if (group.length === 0) return; // their clients have gone
  try {
    const append = (events: readonly RecordedEvent[]): void => appendEvents(engine, events, accountIds);
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
  } catch (error) {
    if (error instanceof LostFileError) lose(engine, error);
    else fail(engine, error);
    for (const job of group) job.reject(unavailable(error));
    return;
  }
  engine.commitSizes.observe(group.length);
  for (const { isRefused, outcome, resolve, reject } of group) {
    if (isRefused) reject(outcome);
    else resolve(outcome);
  }
  if (accountIds.size > 0) engine.onEvents([...accountIds]);
  await (engine.shortening = shortenLog(engine));
}

/** Shortens a long log before the next commit. Afterwards reads begin a new snapshot, in the file, because one in the log would keep the log from its restart. */
async function shortenLog(engine: Engine): Promise<void> {
  try {
    const hasTried = await engine.wal.shorten(engine.shortens);
    engine.shortens = false;
    if (hasTried) releaseSnapshot(engine);
  } catch (error) {
    fail(engine, error);
  }
}

/** Appends events to the logs of their accounts, which use the writer for as long as that takes. Adds these accounts to `accountIds`. */
function appendEvents({ chain, turns, timer }: Engine, events: readonly RecordedEvent[], accountIds: Set<number>): void {
  const clock = events.length > 10 ? timer.cpu : timer.now;
  const begunAt = clock();
  const byAccount = chain.append(events);
  const eachMs = (clock() - begunAt) / Math.max(1, events.length);
  for (const [accountId, own] of byAccount) {
    accountIds.add(accountId);
    turns.usage.add(accountId, eachMs * own.length);
  }
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
}

/** Reports what an error shows about the disk or the file, and returns the error. */
function noteFault(engine: Engine, error: unknown): unknown {
  const fault = storageFaultOf(error);
  if (fault === "unwritable" && !requireFiles(engine)) return error; // which says more
  if (fault === "damaged") engine.isDamaged = true;
  if (fault !== undefined) engine.onFault(fault, error instanceof Problem ? error.cause : error);
  return error;
}

function fail(engine: Engine, error: unknown): void {
  engine.failure = error;
  engine.onFlushFailed(error);
  for (const job of takeAll(engine)) job.reject(unavailable(error));
}

/** Whether every file that the engine has open is in its place. Reports one that is not. */
function requireFiles(engine: Engine): boolean {
  if (engine.lost === undefined)
    try {
      engine.wal.requireFiles();
      return true;
    } catch (error) {
      engine.lost = error as LostFileError;
    }
  lose(engine, engine.lost);
  return false;
}

/** Refuses writes from now on. Copies a log that was lost alone into the database, as soon as no other process reads an older snapshot. */
function lose(engine: Engine, lost: LostFileError): void {
  engine.lost = lost;
  for (const job of takeAll(engine)) job.reject(unavailable(lost));
  if (lost.isLog && !engine.isRescued) {
    releaseSnapshot(engine);
    engine.isRescued = engine.wal.rescue();
  }
  engine.onFault("lost", engine.isRescued ? new Error(`${lost.message.split(":")[0]}: nothing is lost; restart the service`) : lost);
}
