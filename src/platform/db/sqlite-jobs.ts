import type { StatementSync } from "node:sqlite";
import type { Origin, RecordedEvent } from "../events.ts";
import type { Awaitable, Together, Transaction } from "./database.ts";
import { openTransaction, type Writer } from "./sqlite-transactions.ts";

/** A write that waits, and its outcome once it has run. The caller gets the outcome after the commit. */
export type Job = {
  body: (tx: Transaction) => Awaitable<unknown>;
  together: Together<unknown> | undefined;
  undoes: boolean;
  origin: Origin;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  isDone: boolean;
  isRefused: boolean;
  /** The result, or the error if it was refused. */
  outcome: unknown;
};

type Control = Record<"savepoint" | "release" | "rollbackTo", StatementSync>;
type Engine = Writer & { control: Control };

/** The most events of a group that wait in memory. When it is reached, they are appended to their logs before the next job runs. */
const eventsMax = 1_000;

/** The events of the jobs of a group that succeeded, in the order of the jobs. */
type GroupEvents = RecordedEvent[];

/**
 * Runs the jobs of a group in one transaction, each in its own savepoint, in their order. Neighbours of one kind run together first, and
 * those that this leaves out run after them. That may change their order, which no caller can notice: none has had an answer yet.
 *
 * @param append puts the events of these jobs into the logs of their accounts, within the transaction: at the end, and earlier
 *   whenever many wait, so that a group of large writes does not hold all its events in memory
 * @param onError called with the error of each body that failed
 * @throws if SQLite has rolled back the whole group, as on a full disk
 */
export async function runJobs(
  engine: Engine,
  group: readonly Job[],
  append: (events: readonly RecordedEvent[]) => void,
  onError: (error: unknown) => void,
): Promise<void> {
  const events: GroupEvents = [];
  const appendFrom = (count: number): void => {
    if (events.length >= count) append(events.splice(0));
  };
  for (let from = 0; from < group.length;) {
    const end = endOfKind(group, from);
    const neighbours = group.slice(from, end);
    if (neighbours.length > 1) await runTogether(engine, neighbours, events);
    appendFrom(eventsMax);
    for (const job of neighbours) {
      if (job.isDone) continue;
      const ran = runAlone(engine, job, events, onError);
      if (ran) await ran;
      appendFrom(eventsMax);
    }
    from = end;
  }
  appendFrom(1);
}

/** The end of the neighbours that run together with the job at `from`, which may be that job alone. */
function endOfKind(group: readonly Job[], from: number): number {
  const kind = group[from]?.together?.run;
  let end = from + 1;
  if (kind) while (group[end]?.together?.run === kind) end++;
  return end;
}

async function runTogether(engine: Engine, jobs: readonly Job[], events: GroupEvents): Promise<void> {
  const { writer, control } = engine;
  const { tx, end, recorded } = openTransaction(engine, jobs[0]!.origin);
  control.savepoint.run();
  try {
    const inputs = jobs.map(({ together }) => together!.input as never);
    const outcomes = await jobs[0]!.together!.run(tx, inputs);
    control.release.run();
    for (const event of recorded) events.push(event);
    for (const [i, job] of jobs.entries()) {
      job.outcome = outcomes[i];
      job.isDone = job.outcome !== undefined;
    }
  } catch (error) {
    if (!writer.isTransaction) throw error;
    control.rollbackTo.run();
    control.release.run();
  } finally {
    end();
  }
}

/** Runs a job, at once if its body awaits nothing. */
function runAlone(engine: Engine, job: Job, events: GroupEvents, onError: (error: unknown) => void): Awaitable<void> {
  const { writer, control, sequences } = engine;
  const { tx, end, recorded } = openTransaction(engine, job.origin);
  const counts = job.undoes ? sequences.counts() : undefined;
  const keep = (value: unknown): void => {
    end();
    control.release.run();
    for (const event of recorded) events.push(event);
    job.outcome = value;
  };
  const undo = (error: unknown): void => {
    end();
    if (!writer.isTransaction) throw error; // SQLite rolled back the whole group, as on a full disk
    control.rollbackTo.run();
    control.release.run();
    if (counts) sequences.restore(counts);
    onError(error);
    job.isRefused = true;
    job.outcome = error;
  };
  control.savepoint.run();
  let value: unknown;
  try {
    value = job.body(tx);
  } catch (error) {
    return undo(error);
  }
  return value instanceof Promise ? value.then(keep, undo) : keep(value);
}
