import type { DatabaseSync, StatementSync } from "node:sqlite";
import { empty, type Sql } from "sql-template-tag";
import type { Clock } from "../clock.ts";
import { openWorkClock, type WorkClock, type WorkTimer } from "../event-loop.ts";
import { recordedEvent, type Origin, type RecordedEvent } from "../events.ts";
import { admitNext, admitNextOf, vacate, type FairShare } from "../jobs/fair-share.ts";
import { queues } from "../queues.ts";
import {
  andThen,
  clientGone,
  othersWait,
  tookTooLong,
  type Awaitable,
  type Batch,
  type CallerKey,
  type Handle,
  type Transaction,
  unavailable,
} from "./database.ts";
import { DamagedTextError, type Statements, type openSequences } from "./sqlite-statements.ts";
import { portionsOf, type BoundValue } from "./statement.ts";

/** A write that waits, and its outcome once it has run. The caller gets the outcome after the commit. */
export type Job = {
  handle: Handle;
  body: (tx: Transaction) => Awaitable<unknown>;
  /** What the body writes, if others of its kind may be written with it. */
  part: { write: Batch<object, unknown>; input: object } | undefined;
  isDryRun: boolean;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** The processor time that its body has used (ms). */
  usedMs: number;
  isDone: boolean;
  isRefused: boolean;
  /** The result, or the error if it was refused. */
  outcome: unknown;
};

type Control = Record<"begin" | "rollback" | "savepoint" | "release" | "rollbackTo", StatementSync>;

/** The queue of writes. A job whose turn begins is put into `admitted`. */
export type WriteQueue = { turns: FairShare<CallerKey>; admitted: Job[] };

type Engine = Writer & WriteQueue & { control: Control; timer: WorkTimer };

/** A group takes no more jobs after so many, or after so much work (ms). */
const groupMax = 256;
const groupMs = 50;
/** A write of a caller whose writes take longer than this (ms) begins a group, so that those whose turn came before are committed and answered first. */
const longMs = 10;
/** The processor time that a caller's body may use while another caller waits, and the time that it may take in all (ms). */
const bodyMs = queues.writer.turnMs;
const bodyMsMax = 2_000;
/** Reading the clock of the processor costs as much as a statement, so bodies that take less than this (ms) go without. */
const shortMs = 2;
/** The most events of a group that wait in memory, and that are appended to their logs at once. */
const eventsMax = 250;

/** A group of jobs that run in one transaction. */
type Group = {
  engine: Engine;
  work: WorkClock;
  /** Whether its transaction has changed nothing yet. */
  isFresh: boolean;
  /** The events of the jobs that succeeded, in the order of the jobs, until they are appended. */
  events: RecordedEvent[];
  append: (events: readonly RecordedEvent[]) => void;
  onError: (error: unknown) => void;
};

/** Adds the job whose turn it is to the group, and the jobs of its kind that come next. Drops jobs whose client has gone. */
export function takeNext({ turns, admitted }: WriteQueue, group: Job[]): void {
  const isShort = (caller: CallerKey | undefined): boolean => caller === undefined || turns.usage.longest(caller) <= longMs;
  const mayBegin = group.length === 0 ? undefined : isShort;
  for (const from = group.length; group.length === from && group.length < groupMax && admitNext(turns, mayBegin);) {
    const kind = admitted[0]?.part?.write;
    if (kind) admitNextOf(turns, kind, groupMax - group.length - 1);
    for (const job of admitted.splice(0)) {
      if (!job.handle.isGone()) {
        group.push(job);
        continue;
      }
      vacate(turns, job.handle.caller, 0);
      job.reject(clientGone());
    }
  }
}

/** Takes every job that waits, in the order of their turns, which then wait no more. */
export function takeAll({ turns, admitted }: WriteQueue): Job[] {
  const jobs: Job[] = [];
  while (admitNext(turns)) {
    const job = admitted.pop()!;
    vacate(turns, job.handle.caller, 0);
    jobs.push(job);
  }
  return jobs;
}

/**
 * Runs the jobs of a group in one transaction, each in its own savepoint, and adds jobs to it in their turn until it has run for 50 ms, or has 256.
 * Jobs of one kind that follow each other run as one batch first, and those that it leaves out run after them. That may change their order,
 * which no caller can notice: none has had an answer yet. Gives other work of the process a turn every 10 ms.
 *
 * @param group the first jobs
 * @param append puts the events of these jobs into the logs of their accounts, within the transaction: at the end, and earlier
 *   whenever many wait, so that a group of large writes does not hold all its events in memory
 * @param onError called with the error of each body that failed
 * @throws if SQLite has rolled back the whole group, as on a full disk
 */
export async function runJobs(engine: Engine, group: Job[], append: Group["append"], onError: Group["onError"]): Promise<void> {
  const { writer, control, turns } = engine;
  const context: Group = { engine, work: openWorkClock(engine.timer), isFresh: true, events: [], append, onError };
  const { work, events } = context;
  const endsAt = work.now() + groupMs;
  for (let from = 0; from < group.length;) {
    const neighbours = group.slice(from);
    from = group.length;
    try {
      if (!writer.isTransaction) control.begin.run();
      await runNeighbours(context, neighbours);
    } finally {
      for (const { handle, usedMs } of neighbours) vacate(turns, handle.caller, usedMs);
    }
    if (events.length >= eventsMax) await appendAll(context);
    if (work.now() < endsAt) takeNext(engine, group);
  }
  if (events.length > 0) await appendAll(context);
}

async function appendAll({ events, append, work }: Group): Promise<void> {
  while (events.length > 0) {
    append(events.splice(0, eventsMax));
    await work.giveTurn();
  }
}

async function runNeighbours(group: Group, neighbours: readonly Job[]): Promise<void> {
  if (neighbours.length > 1) await runBatch(group, neighbours);
  group.isFresh = false;
  for (const job of neighbours) {
    if (job.isDone) continue;
    const ran = runAlone(group, job);
    if (ran) await ran;
    const turn = group.work.giveTurn();
    if (turn) await turn;
  }
}

/**
 * Runs jobs as one batch. The first batch of a transaction has no savepoint, for which SQLite would copy each page that the batch changes: if it
 * fails, the whole transaction is rolled back and begins again.
 */
async function runBatch({ engine, work, isFresh, events }: Group, jobs: readonly Job[]): Promise<void> {
  const { writer, control } = engine;
  const time = openBodyTime({ engine, work }, undefined);
  const { tx, end, recorded } = openTransaction(engine, jobs[0]!.handle.origin, time.take);
  if (!isFresh) control.savepoint.run();
  try {
    const parts = jobs.map(({ part }) => part!);
    const results = await parts[0]!.write(
      tx,
      parts.map(({ input }) => input),
    );
    if (!isFresh) control.release.run();
    for (const event of recorded) events.push(event);
    jobs.forEach((job, i) => {
      job.isDone = results[i] !== undefined;
      job.outcome = results[i];
    });
  } catch (error) {
    if (!writer.isTransaction) throw error;
    for (const step of isFresh ? [control.rollback, control.begin] : [control.rollbackTo, control.release]) step.run();
  } finally {
    end();
    const eachMs = time.usedMs() / jobs.length;
    for (const job of jobs) job.usedMs += eachMs;
  }
}

/** Runs a job, at once if its body awaits nothing. */
function runAlone(group: Group, job: Job): Promise<void> | undefined {
  const { engine, events, onError } = group;
  const { writer, control, sequences } = engine;
  const time = openBodyTime(group, job.handle.caller);
  const { tx, end, recorded } = openTransaction(engine, job.handle.origin, time.take);
  const counts = job.isDryRun ? sequences.counts() : undefined;
  const stop = (): void => {
    end();
    job.usedMs += time.usedMs();
  };
  const rollBack = (): void => {
    control.rollbackTo.run();
    control.release.run();
    if (counts) sequences.restore(counts); // nothing stores the identifiers that a dry run has used
  };
  const refuse = (error: unknown): void => {
    stop();
    if (!writer.isTransaction) throw error; // SQLite rolled back the whole group, as on a full disk
    rollBack();
    onError(error);
    job.isRefused = true;
    job.outcome = error;
  };
  const finish = (value: unknown): void => {
    const refusal = time.refusal();
    if (refusal) return refuse(refusal); // the body went on after the statement that was refused
    stop();
    if (job.isDryRun) rollBack();
    else {
      control.release.run();
      for (const event of recorded) events.push(event);
    }
    job.outcome = value;
  };
  control.savepoint.run();
  let value: unknown;
  try {
    value = job.body(tx);
  } catch (error) {
    refuse(error);
    return undefined;
  }
  if (value instanceof Promise) return value.then(finish, refuse);
  finish(value);
  return undefined;
}

/**
 * The time of one body. Each statement first calls `take`, which gives other work of the process its turn every 10 ms, and refuses the body of a
 * caller that has used 250 ms of the processor, or has taken two seconds, while another caller waits. A body that delays no caller may take
 * longer, on a slow machine for example; so may work that belongs to no caller, which is divided into short transactions where it arises
 * (decision 0102).
 */
function openBodyTime({ engine: { turns }, work }: Pick<Group, "engine" | "work">, caller: CallerKey | undefined) {
  const begunAt = work.now();
  /** What the clock of the processor showed when the body began. Until it has run for some ms, its time is taken for that of the processor. */
  let begunCpu: number | undefined;
  let refusal: Error | undefined;
  const usedMs = (): number => (begunCpu === undefined ? work.now() - begunAt : work.cpu() - begunCpu);

  function isOver(ms: number): boolean {
    if (ms > shortMs) begunCpu ??= work.cpu() - ms;
    if (ms <= bodyMs || caller === undefined) return false;
    return othersWait(turns, caller) && (ms > bodyMsMax || usedMs() > bodyMs);
  }

  return {
    usedMs,
    refusal: () => refusal,
    take: (): Promise<void> | undefined => {
      const at = work.now();
      if (refusal === undefined && isOver(at - begunAt)) refusal = tookTooLong();
      if (refusal) throw refusal;
      return work.giveTurn(at);
    },
  };
}

/** The writer of an engine, within one of its transactions. */
type Writer = {
  writer: DatabaseSync;
  write: Statements;
  sequences: ReturnType<typeof openSequences>;
  clock: Clock;
};

/** About the most bytes that one INSERT has, so that it takes few ms even for rows with long texts and many indexes. */
const insertBytes = 4_096;

/** Returns the most rows, of `width` values each, that one INSERT may have. */
function rowsOfInsert(values: readonly BoundValue[], width: number): number {
  let longest = 1;
  for (let from = 0; from < values.length; from += width) {
    let bytes = 0;
    for (let i = from; i < from + width; i++) bytes += typeof values[i] === "string" ? (values[i] as string).length : 8;
    longest = Math.max(longest, bytes);
  }
  return Math.max(1, Math.floor(insertBytes / longest));
}

type Portion = ReturnType<typeof portionsOf>[number];

/** Runs a statement for each portion, one after another. Returns the results, without a promise if no statement waits for its turn. */
function eachPortion<R>(portions: readonly Portion[], run: (portion: Portion) => Awaitable<R>): Awaitable<R[]> {
  const results: R[] = [];
  const runFrom = (first: number): Awaitable<R[]> => {
    for (let i = first; i < portions.length; i++) {
      const result = run(portions[i]!);
      if (result instanceof Promise) return result.then((value) => (results.push(value), runFrom(i + 1)));
      results.push(result);
    }
    return results;
  };
  return runFrom(0);
}

/**
 * The transaction of one body, and the events that it recorded. It refuses every use after `end`.
 *
 * @param takeTime called before each statement, which waits for the promise that it returns. May throw
 */
function openTransaction({ writer, write, sequences, clock }: Writer, origin: Origin, takeTime: () => Promise<void> | undefined) {
  let open = true;
  const recorded: RecordedEvent[] = [];
  const requireOpen = () => {
    if (!open) throw new Error("the transaction is over");
  };
  const inTime = <T>(run: () => T): Awaitable<T> => {
    requireOpen();
    const turn = takeTime();
    if (!turn) return run();
    return turn.then(() => {
      requireOpen();
      return run();
    });
  };
  const tx: Transaction = {
    forUpdate: empty,
    skipLocked: () => empty,
    query: async <R>(query: Sql) => inTime(() => write.rows(query) as R[]),
    rows: (statement, values) => inTime(() => write.arrays(statement, values)),
    run: (statement, values) => inTime(() => write.run(statement, values)),
    insert: ({ sequence, statementFor }, rows) => {
      requireOpen();
      const ids = rows.map(() => sequences.next(sequence));
      const values: BoundValue[] = [];
      for (const [i, row] of rows.entries()) values.push(ids[i]!, ...row);
      const width = values.length / rows.length;
      const portions = portionsOf(values, width, rowsOfInsert(values, width));
      return andThen(
        eachPortion(portions, (portion) => tx.run(statementFor(portion.rows), portion.values)),
        () => ids,
      );
    },
    updateEach: ({ statementFor }, rows) => {
      const portions = portionsOf(rows.flat(), rows[0]?.length ?? 1);
      return andThen(
        eachPortion(portions, (portion) => tx.rows(statementFor(portion.rows), portion.values)),
        (updated) => updated.flat(),
      );
    },
    giveTurn: takeTime,
    reportDamage: (what) => unavailable(new DamagedTextError(what)), // reported where the body ends
    record: (event, of) => {
      requireOpen();
      recorded.push(recordedEvent(event, origin, clock, of));
    },
    script: async (text) => {
      writer.exec(text);
      sequences.load(); // a migration may have changed them
    },
    lock: async () => undefined, // there is a single writer
    tryLock: async () => true,
    startOver: () => undefined,
  };
  return { tx, end: () => void (open = false), recorded };
}
