import { residentMiB } from "./cpu.ts";
import { atMost, type Figure } from "./figures.ts";
import { uploadArchives } from "./hostile/archives.ts";
import { hostileBatches } from "./hostile/batches.ts";
import { measureFloods } from "./hostile/floods.ts";
import { measureLongReads } from "./hostile/long-reads.ts";
import { openScene, type Scene } from "./hostile/scene.ts";
import { described, findCostliest, openMeter, type Cost } from "./hostile/search.ts";
import { memoryOfSessions } from "./hostile/sessions.ts";
import { longestWait } from "./hostile/together.ts";
import { measureVisits } from "./hostile/visitors.ts";

const generated = 10_000;
const count = generated.toLocaleString("en");
const seed = 1;
const rounds = 3;
const batchRepetitions = 7;

/**
 * Measures what one request can cost all others: the CPU time of the costliest requests that a search finds, and what the search does to
 * the service's memory and to the latency of other requests. Reads `/proc`, so it needs Linux.
 */
export async function* measureHostile(): AsyncGenerator<Figure> {
  const scene = await openScene();
  try {
    const sessions = await memoryOfSessions(scene);
    const open = await findCostliest(scene, scene.open, generated, seed);
    const keyed = await findCostliest(scene, scene.keyed, generated, seed);
    const batches = await costsOfBatches(scene);
    for (const [name, costs] of Object.entries({ open, keyed, batches })) report(name, costs);
    const queues = [open, keyed, batches].map((costs) => costs.map(({ request }) => request));
    const waits: number[] = [];
    for (let round = 0; round < rounds; round++) waits.push(await longestWait(scene, queues));
    const archives = await uploadArchives(scene, generated, seed);
    console.error(`archives: ${archives.ready} ready, ${archives.failed} failed`);
    yield* [
      atMost("hostile-open", `the costliest request without a key, of ${count} hostile ones`, open[0]!.ms, 5, "ms of CPU"),
      atMost("hostile-keyed", `the costliest request with a key or a session, of ${count} hostile ones`, keyed[0]!.ms, 25, "ms of CPU"),
      atMost("hostile-batch", "`POST /pets/batch` with 1 MiB of anything", batches[0]!.ms, 60, "ms of CPU"),
      atMost("hostile-memory", "memory after all of these", residentMiB(scene.shop.pid), 450, "MiB"),
      atMost("hostile-sessions", "memory of 200 HTTP/2 sessions that never open their window", sessions, 64, "MiB"),
      atMost("hostile-wait", "longest wait of `/healthz` while all of these run at once", waits, 100, "ms"),
      atMost(
        "hostile-archives",
        `longest wait of \`/healthz\` while ${count} generated archives are uploaded`,
        archives.longestMs,
        50,
        "ms",
      ),
      atMost("hostile-archives-memory", "the most memory meanwhile", archives.memoryMiB, 450, "MiB"),
    ];
  } finally {
    await scene.close();
  }
  yield* measureLongReads();
  yield* measureFloods();
  yield* measureVisits();
}

async function costsOfBatches(scene: Scene): Promise<Cost[]> {
  const meter = await openMeter(scene);
  const costs: Cost[] = [];
  for (const request of hostileBatches(scene.shop.key)) costs.push(await meter.measureAlone(request, batchRepetitions));
  meter.close();
  return costs.toSorted((a, b) => b.ms - a.ms);
}

/** Prints the costliest requests to standard error, because standard output is for the table only. */
function report(name: string, costs: Cost[]): void {
  for (const cost of costs.slice(0, 12)) console.error(`${name}: ${described(cost)}`);
}
