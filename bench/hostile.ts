import { residentMiB } from "./cpu.ts";
import { median, type Figure } from "./figures.ts";
import { hostileBatches } from "./hostile/batches.ts";
import { openScene, type Scene } from "./hostile/scene.ts";
import { described, findDearest, openMeter, type Cost } from "./hostile/search.ts";
import { memoryOfSessions } from "./hostile/sessions.ts";
import { longestWait } from "./hostile/together.ts";
import { measurePaging } from "./paging.ts";

const generated = 10_000;
const seed = 1;
const rounds = 3;
const batchRepetitions = 7;

/**
 * What one request can cost all the others: the dearest that a search finds, in CPU of the service, and what all of it does
 * to its memory and to somebody who waits. Reads `/proc`, so it needs Linux.
 */
export async function measureHostile(): Promise<Figure[]> {
  const scene = await openScene();
  try {
    const sessions = await memoryOfSessions(scene);
    const open = await findDearest(scene, scene.open, generated, seed);
    const keyed = await findDearest(scene, scene.keyed, generated, seed);
    const batches = await costsOfBatches(scene);
    for (const [name, costs] of Object.entries({ open, keyed, batches })) report(name, costs);
    const queues = [open, keyed, batches].map((costs) => costs.map(({ request }) => request));
    const waits: number[] = [];
    for (let round = 0; round < rounds; round++) waits.push(await longestWait(scene, queues));
    return [
      atMost(5, open[0]!.ms, "ms of CPU", "the costliest request without a key, of 10,000 generated ones"),
      atMost(25, keyed[0]!.ms, "ms of CPU", "the costliest request with a key or a session, of 10,000 generated ones"),
      atMost(60, batches[0]!.ms, "ms of CPU", "/pets/batch with 1 MiB of anything"),
      ...(await measurePaging()),
      atMost(450, residentMiB(scene.shop.pid), "MiB", "memory after all of these"),
      atMost(64, sessions, "MiB", "memory of 200 HTTP/2 sessions that never open their window"),
      atMost(100, median(waits), "ms", "longest wait of /healthz while all of these run at once"),
    ];
  } finally {
    await scene.close();
  }
}

async function costsOfBatches(scene: Scene): Promise<Cost[]> {
  const meter = await openMeter(scene);
  const costs: Cost[] = [];
  for (const request of hostileBatches(scene.shop.key)) costs.push(await meter.measureAlone(request, batchRepetitions));
  meter.close();
  return costs.toSorted((a, b) => b.ms - a.ms);
}

function atMost(bound: number, ours: number, unit: string, what: string): Figure {
  return { what: `${what} / ${bound} ${unit}`, ours, against: bound, unit, ratio: ours / bound, goal: "≤ 1" };
}

/** Prints the costliest requests on standard error, so that standard output holds only the table. */
function report(name: string, costs: Cost[]): void {
  for (const cost of costs.slice(0, 12)) console.error(`${name}: ${described(cost)}`);
}
