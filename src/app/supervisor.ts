import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { requireFree } from "../platform/listening.ts";
import { type Logger, openLog } from "../platform/log.ts";
import { logFormatOf, placesOf, type Settings } from "./settings.ts";
import type { Signals } from "./signals.ts";
import { answerWorkers, type Report } from "./worker-metrics.ts";

/**
 * Runs several nodes on one machine: workers, which are separate processes that accept connections from the same ports. The supervisor
 * restarts each worker that ends, and passes signals on. It opens neither the database nor a data folder.
 */

/** How long after the drain workers may take to stop before they are killed. */
const stopMsMax = 30_000;

/** The longest drain, assumed where the settings cannot be read. */
const drainSecondsMax = 3_600;

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

/** The place of one worker, which has the same data folder and number each time that it is started. */
type Slot = { number: number; worker: Worker | undefined; isCatching: boolean };

type Supervisor = {
  settings: Settings;
  log: Logger;
  slots: Slot[];
  stop: AbortController;
  /** Why all workers end, if no worker has said so. */
  reason?: string;
};

/**
 * Starts `WORKERS` nodes, and resolves when they have stopped. If a worker cannot start, and `afterEnd` expects that it never will, all workers
 * and this process end with its exit code. The worker has said why.
 *
 * @param read returns the settings, which a reload reads again
 * @throws if a port is taken; Error with one line if a worker that signals ended never became ready
 */
export async function supervise(read: () => Settings, signals: Signals): Promise<void> {
  const settings = read();
  await requireFree(placesOf(settings));
  const { log, close: closeLog } = openLog(settings.logLevel, logFormatOf(settings));
  const slots = Array.from({ length: settings.workers }, (_, index): Slot => ({ number: index + 1, worker: undefined, isCatching: false }));
  const supervisor: Supervisor = { settings, log, slots, stop: new AbortController() };
  // Workers accept connections from one queue: a connection that the supervisor had handed to a dying worker would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: main, args: ["serve"], serialization: "advanced" });
  signals.onHangUp(() => reloadAll(slots));
  const ended = Promise.withResolvers<number>();
  answerWorkers(() => slots.flatMap(({ number, worker }) => (worker?.isConnected() ? [{ number, worker }] : [])), slots.length);
  void superviseAll(supervisor).then(ended.resolve, ended.reject);
  const first = await Promise.race([signals.stop, ended.promise]);
  if (typeof first === "string") stopAll(supervisor, first, read);
  const code = await ended.promise;
  log.info({ code }, "all workers have ended");
  closeLog();
  if (supervisor.reason !== undefined) throw new Error(supervisor.reason);
  if (code !== 0) process.exit(code);
}

/** Starts the first worker alone: if none can start, only that one says why. Resolves with an exit code when all have ended. */
async function superviseAll(supervisor: Supervisor): Promise<number> {
  const { slots, stop } = supervisor;
  const [first, ...rest] = slots;
  const begun = Promise.withResolvers<void>();
  const runs = [run(supervisor, first!, begun.resolve)];
  await Promise.race([begun.promise, runs[0]]);
  if (!stop.signal.aborted) runs.push(...rest.map((slot) => run(supervisor, slot, () => undefined)));
  const codes = await Promise.all(runs);
  return Math.max(...codes);
}

/**
 * Runs the worker of a slot until the supervisor stops, and starts it again whenever it ends, unless `afterEnd` says that all are to end.
 * Returns the last exit code.
 */
async function run(supervisor: Supervisor, slot: Slot, onReady: () => void): Promise<number> {
  const { log, stop } = supervisor;
  let ends = noExits;
  for (;;) {
    const ending = await runOnce(supervisor, slot, onReady);
    const { code, signal } = ending;
    if (stop.signal.aborted) return code ?? 0;
    const after = afterEnd(ends, ending);
    ends = after.ends;
    if ("exitCode" in after.next) {
      const { exitCode, reason } = after.next;
      if (reason !== undefined) supervisor.reason ??= reason;
      endAll(supervisor, "SIGINT", 0);
      return exitCode;
    }
    const { nextMs } = after.next;
    log.error({ worker: slot.number, code, signal, nextMs }, "a worker ended; starting it again");
    await sleep(nextMs, undefined, { signal: stop.signal }).catch(() => undefined);
    if (stop.signal.aborted) return code ?? 0;
  }
}

/** Starts a worker, and resolves when it has ended. */
function runOnce({ settings, log }: Supervisor, slot: Slot, onReady: () => void): Promise<WorkerExit> {
  const { dataDir } = settings;
  const own = slot.number === 1 ? dataDir : join(dataDir, `worker-${slot.number}`);
  const worker = cluster.fork({ WORKERS: "1", DATA_DIR: own });
  const startedAt = performance.now();
  let [wasReady, isLasting] = [false, false];
  Object.assign(slot, { worker, isCatching: false });
  log.info({ worker: slot.number, pid: worker.process.pid }, "starting a worker");
  worker.on("message", (message: Report | { petstore: "other" }) => {
    if (message.petstore === "catching") slot.isCatching = true;
    if (message.petstore === "failed") isLasting = message.isLasting;
    if (message.petstore !== "ready") return;
    wasReady = true;
    onReady();
  });
  worker.on("error", (error) => log.error({ err: error, worker: slot.number }, "a worker cannot be reached"));
  return new Promise((resolve) => {
    worker.once("exit", (code: number | null, signal: string | null) => {
      slot.worker = undefined;
      const ranMs = performance.now() - startedAt;
      void lastReport(worker).then(() => resolve({ code, signal, wasReady, isLasting, ranMs }));
    });
  });
}

/** Resolves when the channel of a worker that ended has closed, after its last report. */
async function lastReport(worker: Worker): Promise<void> {
  if (worker.isConnected()) await once(worker, "disconnect", { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
}

/** Passes a signal on to all workers, which then have the time of the drain to stop. */
function stopAll(supervisor: Supervisor, signal: NodeJS.Signals, read: () => Settings): void {
  supervisor.log.info({ signal }, "stopping the workers");
  endAll(supervisor, signal, signal === "SIGINT" ? 0 : drainSecondsNow(read) * 1_000);
}

/** Sends a signal to all workers, and kills those that do not stop in time. */
function endAll({ slots, stop }: Supervisor, signal: NodeJS.Signals, drainMs: number): void {
  stop.abort();
  signalAll(slots, signal);
  setTimeout(() => signalAll(slots, "SIGKILL"), drainMs + stopMsMax).unref();
}

/** Returns `DRAIN_SECONDS`, which a reload may have changed; the longest drain if the settings cannot be read. */
function drainSecondsNow(read: () => Settings): number {
  try {
    return read().drainSeconds;
  } catch {
    return drainSecondsMax;
  }
}

/** Reloads the workers. One that does not catch signals yet has not read the settings either. */
function reloadAll(slots: Slot[]): void {
  signalAll(
    slots.filter(({ isCatching }) => isCatching),
    "SIGHUP",
  );
}

function signalAll(slots: Slot[], signal: NodeJS.Signals): void {
  for (const { worker } of slots) worker?.process.kill(signal);
}

/** The pause before a worker that ended is started again: doubles with each end in a row. */
const pauseMs = 500;
const pauseMsMax = 30_000;
/** After a run of this length the pause begins again at its shortest. */
const steadyMs = 60_000;
/** Failed starts in a row after which all workers end. */
const startsMax = 5;

/** How a worker ended. `code` is null if a signal ended it. */
export type WorkerExit = {
  code: number | null;
  signal: string | null;
  /** Whether this run took requests. */
  wasReady: boolean;
  /** Whether a wrong setting or schema ended it. */
  isLasting: boolean;
  ranMs: number;
};

/** How often one worker has ended in a row: in all, before it was ready, and before it was ready because of a wrong setting or schema. */
export type ExitCounts = { inRow: number; failedInRow: number; lastingInRow: number; hasBeenReady: boolean };

export const noExits: ExitCounts = { inRow: 0, failedInRow: 0, lastingInRow: 0, hasBeenReady: false };

/** The next step: another start after a pause, or the end of all workers. `reason` is the line for an end that the worker did not explain. */
type NextStep = { nextMs: number } | { exitCode: number; reason?: string };

/**
 * Decides what the supervisor does after a worker has ended. All workers end if one fails at its first start, if it fails five times in a
 * row because a setting or the schema is wrong, or if signals end it five times in a row before it was ever ready. Any other end, such
 * as that of a full disk, ends one worker only, however often.
 */
export function afterEnd(before: ExitCounts, ending: WorkerExit): { ends: ExitCounts; next: NextStep } {
  const { code, signal, wasReady, isLasting, ranMs } = ending;
  const ends: ExitCounts = {
    inRow: ranMs > steadyMs ? 1 : before.inRow + 1,
    failedInRow: wasReady ? 0 : before.failedInRow + 1,
    lastingInRow: !wasReady && isLasting ? before.lastingInRow + 1 : 0,
    hasBeenReady: before.hasBeenReady || wasReady,
  };
  if (code !== null && !ends.hasBeenReady) return { ends, next: { exitCode: code || 1 } };
  if (ends.lastingInRow >= startsMax) return { ends, next: { exitCode: code || 1 } };
  if (!ends.hasBeenReady && ends.failedInRow >= startsMax) {
    return { ends, next: { exitCode: 1, reason: `a worker was ended by ${signal} ${startsMax} times before it was ready` } };
  }
  return { ends, next: { nextMs: Math.min(pauseMsMax, pauseMs * 2 ** Math.min(ends.inRow - 1, 10)) } };
}
