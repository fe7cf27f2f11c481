import cluster, { type Worker } from "node:cluster";
import { HistoryError } from "../platform/db/migrate.ts";
import { gauge, type Metric } from "../platform/metrics.ts";
import { SettingError } from "./setting.ts";

/**
 * One scrape sees all workers, whichever of them answers it: that worker asks the supervisor, which asks every worker. Each sample gets the
 * label `worker`.
 */

/** How long a worker may take to answer; one that takes longer is shown as down. */
const answerMs = 1_000;

type WorkerAnswer = { number: number; metrics: Metric[] | undefined };
/** From a worker to the supervisor. */
type Request = { petstore: "gather"; id: number } | { petstore: "collected"; id: number; metrics: Metric[] };
/** From the supervisor to a worker. */
type Reply = { petstore: "collect"; id: number } | { petstore: "gathered"; id: number; all: WorkerAnswer[] };

/** Returns a function that resolves with the metrics of all workers; outside of a worker, with those of this process. */
export function joinMetrics(collect: () => Promise<Metric[]>): () => Promise<Metric[]> {
  if (!cluster.isWorker) return collect;
  const waiting = new Map<number, (metrics: Metric[]) => void>();
  let requests = 0;
  const send = (message: Request): void => void process.send?.(message);
  process.on("message", (message: Reply) => {
    if (message.petstore === "collect") void collect().then((metrics) => send({ petstore: "collected", id: message.id, metrics }));
    if (message.petstore === "gathered") waiting.get(message.id)?.(joined(message.all));
  });
  return async () => {
    const id = ++requests;
    const { promise, resolve } = Promise.withResolvers<Metric[]>();
    waiting.set(id, resolve);
    const timer = setTimeout(() => resolve(collect()), 2 * answerMs); // the supervisor always answers, unless it is about to end
    send({ petstore: "gather", id });
    return promise.finally(() => {
      clearTimeout(timer);
      waiting.delete(id);
    });
  };
}

/** Answers the workers' requests for the metrics of all of them. For the supervisor. */
export function answerWorkers(workers: () => { number: number; worker: Worker }[], count: number): void {
  const gathering = new Map<number, (worker: Worker, metrics: Metric[]) => void>();
  let requests = 0;
  const send = (worker: Worker, message: Reply): void => {
    worker.send(message, (error) => void error); // a worker that has just ended gets no answer
  };

  /** Asks every worker at once. */
  async function gather(): Promise<WorkerAnswer[]> {
    const id = ++requests;
    const asked = workers();
    const found = new Map<Worker, Metric[]>();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, answerMs);
      gathering.set(id, (worker, metrics) => {
        found.set(worker, metrics);
        if (found.size < asked.length) return;
        clearTimeout(timer);
        resolve();
      });
      for (const { worker } of asked) send(worker, { petstore: "collect", id });
    });
    gathering.delete(id);
    const workerOf = new Map(asked.map(({ number, worker }) => [number, worker]));
    return Array.from({ length: count }, (_, index) => {
      const worker = workerOf.get(index + 1);
      return { number: index + 1, metrics: worker && found.get(worker) };
    });
  }

  cluster.on("message", (worker, message: Request) => {
    if (message.petstore === "collected") gathering.get(message.id)?.(worker, message.metrics);
    if (message.petstore === "gather") void gather().then((all) => send(worker, { petstore: "gathered", id: message.id, all }));
  });
}

/** One family for each name, with the samples of all workers. */
function joined(all: WorkerAnswer[]): Metric[] {
  const families = new Map<string, Metric>();
  for (const { number, metrics } of all) {
    const up = { ...gauge("petstore_worker_up", "Whether the worker answered this scrape.", metrics ? 1 : 0) };
    for (const metric of [up, ...(metrics ?? [])]) {
      const samples = metric.samples.map((sample) => ({ ...sample, labels: { worker: String(number), ...sample.labels } }));
      const family = families.get(metric.name);
      if (family) family.samples.push(...samples);
      else families.set(metric.name, { ...metric, samples });
    }
  }
  return [...families.values()];
}

/**
 * The report of a worker to its supervisor: it catches signals, it takes requests, or it cannot start. `isLasting` says that another start
 * would fail in the same way, because a setting or the schema is wrong.
 */
export type Report = { petstore: "catching" } | { petstore: "ready" } | { petstore: "failed"; isLasting: boolean };

/** Reports to the supervisor, if there is one. */
export function report(message: Report): void {
  if (cluster.isWorker && process.connected) process.send?.(message);
}

export function reportFailure(error: unknown): void {
  report({ petstore: "failed", isLasting: isLasting(error) });
}

/** Whether a setting or the schema is the reason for an error. */
function isLasting(error: unknown): boolean {
  if (error instanceof SettingError || error instanceof HistoryError) return true;
  return error instanceof Error && error.cause !== undefined && isLasting(error.cause);
}
