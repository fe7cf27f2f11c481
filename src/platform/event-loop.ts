import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { acquire, release, type FairShare, type Refusal } from "./jobs/fair-share.ts";
import { gauge, type Metric } from "./metrics.ts";

const resolutionMs = 10;
const windowMs = 60_000;

type Histogram = ReturnType<typeof monitorEventLoopDelay>;

export type EventLoopDelay = {
  metrics(): Metric[];
  /** Begins the next window. Called by a timer. */
  turn(): void;
  stop(): void;
};

/**
 * Measures how long ready work waits for the event loop. Two histograms take turns, and each is emptied every two
 * minutes: the older one always covers the last one to two minutes, however often it is read.
 */
export function watchEventLoop(): EventLoopDelay {
  let [older, newer] = [openHistogram(), openHistogram()];

  function turn(): void {
    older.reset();
    [older, newer] = [newer, older];
  }

  const timer = setInterval(turn, windowMs).unref();
  return {
    turn,
    stop() {
      clearInterval(timer);
      older.disable();
      newer.disable();
    },
    metrics: () => [
      {
        name: "nodejs_eventloop_delay_seconds",
        type: "summary",
        help: "How long ready work waited for the event loop in the last one to two minutes, by quantile.",
        samples: [0.5, 0.99].map((quantile) => ({ labels: { quantile: `${quantile}` }, value: delayOf(older, quantile) })),
      },
      gauge("nodejs_eventloop_delay_max_seconds", "The longest of these waits.", delayOf(older, 1)),
    ],
  };
}

function openHistogram(): Histogram {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  return histogram;
}

/** The delay in seconds. The histogram holds the time from one timer to the next, in ns: the delay plus the timer's interval. */
function delayOf(histogram: Histogram, quantile: number): number {
  const ns = quantile === 1 ? histogram.max : histogram.percentile(quantile * 100);
  return Math.max(0, ns / 1e6 - resolutionMs) / 1_000;
}

/** The longest (ms) that a loop keeps the event loop. */
const turnMs = 10;

/** The most turns that other work has before a long loop goes on. */
const turnsMax = 8;
/** A turn that takes less (ms) had nothing to do. */
const idleTurnMs = 0.05;

/**
 * Gives other work turns of the event loop, until a turn has nothing to do, or the work has taken as long as the loop before. One turn would be
 * too few: in each, Node accepts one connection of those that wait, and an answer leaves in the turn after its request.
 */
async function giveTurns(now: () => number): Promise<void> {
  const endsAt = now() + turnMs;
  for (let turns = 0, at = now(); turns < turnsMax && at < endsAt; turns++) {
    const begunAt = at;
    await nextTurn();
    at = now();
    if (at - begunAt < idleTurnMs) return;
  }
}

/**
 * Returns a function to call in each step of a long loop. It resolves after other work had its turn of the event loop if the last one was
 * over 10 ms ago; otherwise it returns undefined.
 */
export function openTurns(now: () => number = () => performance.now()): () => Promise<void> | undefined {
  let since = now();
  return () => (now() - since < turnMs ? undefined : giveTurns(now).then(() => void (since = now())));
}

/** Clocks (ms) that are never adjusted: of time, and of the processor time of this thread. */
export type WorkTimer = { now: () => number; cpu: () => number };

export const systemWorkTimer: WorkTimer = {
  now: () => performance.now(),
  cpu() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  },
};

/** Measures work that gives other work of the process its turn. Its clocks stand still during those turns. */
export type WorkClock = WorkTimer & {
  /**
   * Lets other work have a turn of the event loop if the last turn was over 10 ms ago; otherwise returns undefined.
   *
   * @param at what `now` returns
   */
  giveTurn: (at?: number) => Promise<void> | undefined;
};

/** Starts the clocks of one piece of work. */
export function openWorkClock({ now, cpu }: WorkTimer): WorkClock {
  const others = { ms: 0, cpuMs: 0 };
  let turn: { done: Promise<void>; ms: number; cpuMs: number } | undefined;
  const work: WorkTimer = {
    now: () => turn?.ms ?? now() - others.ms,
    cpu: () => turn?.cpuMs ?? cpu() - others.cpuMs,
  };
  let since = work.now();

  async function waitFor(begun: { ms: number; cpuMs: number }): Promise<void> {
    await giveTurns(now);
    others.ms = now() - begun.ms;
    others.cpuMs = cpu() - begun.cpuMs;
    turn = undefined;
    since = begun.ms;
  }

  return {
    ...work,
    giveTurn(at = work.now()) {
      if (turn) return turn.done;
      if (at - since < turnMs) return undefined;
      const begun = { ms: at, cpuMs: work.cpu() };
      turn = { done: waitFor(begun), ...begun };
      return turn.done;
    },
  };
}

/** Runs a job in the turn of its key, or calls `refused`. */
export type RunInTurn<K> = (key: K, job: () => void, refused: () => void) => void;

/**
 * Returns a function that runs jobs in the turns of their keys, in each turn of the event loop as many as the queue has places: however many
 * arrive at once, other events wait for these at most. It calls `refused` for a job that gets no turn.
 */
export function openLoopTurns<K>(share: FairShare<K>): RunInTurn<K> {
  let ended: { key: K; ms: number }[] = [];

  function releaseAll(): void {
    const held = ended;
    ended = [];
    for (const { key, ms } of held) release(share, key, ms);
  }

  return (key, job, refused) => {
    const run = (refusal: Refusal | undefined): void => {
      if (refusal !== undefined) return refused();
      const begunAt = performance.now();
      try {
        job();
      } finally {
        if (ended.push({ key, ms: performance.now() - begunAt }) === 1) setImmediate(releaseAll);
      }
    };
    const acquired = acquire(share, key);
    if (acquired instanceof Promise) void acquired.then(run);
    else run(acquired);
  };
}
