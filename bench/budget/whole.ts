import type { Awaitable } from "../../src/platform/db/database.ts";

/** Measures the CPU (µs) of one request, event or statement in one short round. */
export type Measure = () => Promise<number>;

/** Something that is measured, with its name. */
export type Named = { what: string; us: Measure };

/** A whole, such as a read, and its steps. */
export type Whole = {
  name: string;
  /** The service itself. */
  us: Measure;
  /** In their order. Each is measured together with those before it: its cost is what it adds. */
  steps: Named[];
  /** Parts of these steps, each measured alone, in a loop in which everything is in the caches of the processor. They count in no sum. */
  parts: { measure: () => Promise<readonly number[]>; what: readonly string[] };
  /** Enough for each figure to have met a quiet moment. */
  rounds: number;
  close: () => Promise<void>;
};

/** Parts, each of which is measured alone. */
export function asParts(parts: readonly Named[]): Whole["parts"] {
  return {
    what: parts.map(({ what }) => what),
    async measure() {
      const found: number[] = [];
      for (const { us } of parts) found.push(await us());
      return found;
    },
  };
}

/** How many times fewer rounds a quick measurement has. */
const quicker = 8;

/** The least costs (µs) of many rounds. */
export type Budget = { name: string; wholeUs: number; steps: [what: string, us: number][]; parts: [what: string, us: number][] };

/** The most of a whole that its steps may leave unexplained, or exceed. */
export const unexplainedMax = 0.1;

/** Measures a whole and its steps in turns, so that a slow moment of the machine slows all of them, and keeps the least of each. */
export async function measureWhole({ name, us, steps, parts, rounds, close }: Whole, { isQuick }: { isQuick: boolean }): Promise<Budget> {
  const least = [us, ...steps.map((step) => step.us)].map((measure) => ({ measure, us: Infinity }));
  let leastParts = parts.what.map(() => Infinity);
  for (let round = 0; round < (isQuick ? rounds / quicker : rounds); round++) {
    for (const one of least) one.us = Math.min(one.us, await one.measure());
    const found = await parts.measure();
    leastParts = leastParts.map((value, i) => Math.min(value, found[i]!));
  }
  await close();
  const [whole, ...sums] = least.map((one) => one.us) as [number, ...number[]];
  return {
    name,
    wholeUs: whole,
    steps: steps.map(({ what }, i) => [what, sums[i]! - (sums[i - 1] ?? 0)]),
    parts: parts.what.map((what, i) => [what, leastParts[i]!]),
  };
}

/** The share of a whole that its steps explain. */
export function explained({ wholeUs, steps }: Budget): number {
  return steps.reduce((sum, [, us]) => sum + us, 0) / wholeUs;
}

/** Whether the steps of a budget add up. */
export function addsUp(budget: Budget): boolean {
  return Math.abs(1 - explained(budget)) <= unexplainedMax;
}

/** The CPU (µs) that all threads of this process use during some work. */
export async function cpuUs(work: () => Awaitable<unknown>): Promise<number> {
  const before = process.cpuUsage();
  const done = work();
  if (done instanceof Promise) await done;
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** The CPU (µs) of one call of some work, of so many one after another. */
export async function cpuUsEach(times: number, work: () => Awaitable<unknown>): Promise<number> {
  const us = await cpuUs(async () => {
    for (let time = 0; time < times; time++) {
      const done = work();
      if (done instanceof Promise) await done;
    }
  });
  return us / times;
}
