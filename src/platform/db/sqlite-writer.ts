import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { WorkTimer } from "../event-loop.ts";
import type { RecordedEvent } from "../events.ts";
import { addWaiting, type FairShare, type Refusal } from "../jobs/fair-share.ts";
import type { Histogram } from "../metrics.ts";
import { Problem } from "../problem.ts";
import type { Awaitable, CallerKey, Transaction } from "./database.ts";
import type { openEventChain } from "./sqlite-events.ts";
import { runJobs, takeAll, takeNext, type Job, type WriteQueue } from "./sqlite-jobs.ts";
import { isFailedFlush, type openWal } from "./sqlite-log.ts";
import type { openRowCache } from "./sqlite-row-cache.ts";
import type { openSequences } from "./sqlite-sequences.ts";
import type { openSnapshot } from "./sqlite-snapshot.ts";
import { storageFaultOf, translate, type Statements, type StorageFault } from "./sqlite-statements.ts";
import type { Clock } from "../clock.ts";
import { stopping, unavailable } from "./turns.ts";

/** The parts of the embedded engine. */
export type Engine = WriteQueue & {
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
  closed: boolean;
  closing: Promise<void> | undefined;
  /** Whether a page was found damaged. From then on nothing is written, because a write could damage more. */
  isDamaged: boolean;
  /** The error of the disk, after which nothing is written or read any more. */
  failure: unknown;
};

/** The statements that begin and end transactions. */
export function prepareControl(writer: DatabaseSync) {
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
export function refusalOf({ closed, failure }: Engine): Error | undefined {
  if (closed) return stopping();
  return failure === undefined ? undefined : unavailable(failure);
}

function writeRefusalOf(engine: Engine): Error | undefined {
  if (engine.isDamaged) return unavailable(new Error("the database is damaged, and takes no writes"));
  return refusalOf(engine);
}

type Write<T> = Pick<Job, "handle" | "part" | "isDryRun"> & { body: (tx: Transaction) => Awaitable<T> };

/** Makes a write wait for its turn. Returns its outcome, after the commit. */
export function enqueue<T>(engine: Engine, { handle, body, part, isDryRun }: Write<T>): Promise<T> {
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
  await shortenLog(engine);
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
  engine.rowCache.settle();
}

/** Reports what an error shows about the disk or the file, and returns the error. */
export function noteFault(engine: Engine, error: unknown): unknown {
  const fault = storageFaultOf(error);
  if (fault === "damaged") engine.isDamaged = true;
  if (fault !== undefined) engine.onFault(fault, error instanceof Problem ? error.cause : error);
  return error;
}

function fail(engine: Engine, error: unknown): void {
  engine.failure = error;
  engine.onFlushFailed(error);
  for (const job of takeAll(engine)) job.reject(unavailable(error));
}
