import { cpuMs } from "../cpu.ts";
import { median } from "../figures.ts";
import { openSender, type Sender } from "./connection.ts";
import { seeded } from "./random.ts";
import { hostileRequest, type HostileRequest, type Target } from "./requests.ts";
import type { Scene } from "./scene.ts";

/** The cost of a request for the service, in ms of CPU. */
export type Cost = { request: HostileRequest; ms: number; status: number };

/** The costliest requests of the search are measured again, `repetitions` times each, because garbage collection may fall on any of them. */
const suspectsMax = 60;
const repetitions = 15;
const quietSamples = 60;
const idleMs = 3_000;

/** Finds the costliest of `count` generated requests, the costliest first. The same seed generates the same requests. */
export async function findCostliest(scene: Scene, targets: readonly Target[], count: number, seed: number): Promise<Cost[]> {
  const random = seeded(seed);
  const meter = await openMeter(scene);
  let found: Cost[] = [];
  let before: HostileRequest | undefined;
  for (let i = 0; i < count; i++) {
    const request = hostileRequest(random, targets);
    const { ms, status } = await meter.measure(request);
    found.push({ request, ms, status });
    // work that continues after an answer is charged to the next request, so both are measured again
    if (before && ms > 2) found.push({ request: before, ms, status });
    before = request;
    if (found.length > 4 * suspectsMax) found = costliestFirst(found).slice(0, 2 * suspectsMax);
  }
  const suspects = new Set(costliestFirst(found).map(({ request }) => request));
  const costliest: Cost[] = [];
  for (const request of [...suspects].slice(0, suspectsMax)) costliest.push(await meter.measureAlone(request));
  meter.close();
  return costliestFirst(costliest.filter(({ request, status }) => !hashesPasswords(request, status)));
}

function costliestFirst(costs: Cost[]): Cost[] {
  return costs.toSorted((a, b) => b.ms - a.ms);
}

/** Password hashing is costly on purpose; it is throttled and runs off the event loop. */
function hashesPasswords({ target: { name } }: HostileRequest, status: number): boolean {
  return /(sign-in|password|confirm)$/.test(name) && [200, 401, 403, 429].includes(status);
}

export type Meter = {
  measure(request: HostileRequest): Promise<{ ms: number; status: number }>;
  /** Returns the median of several measurements. */
  measureAlone(request: HostileRequest, times?: number): Promise<Cost>;
  close(): void;
};

/** The share of a processor that the service uses without requests. */
async function idleLoad(origin: string): Promise<number> {
  const before = await cpuMs(origin);
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  return ((await cpuMs(origin)) - before) / idleMs;
}

/** Measures CPU time with the service's metrics, minus the cost of reading them and the service's idle load. */
export async function openMeter({ origin, api, edge }: Scene): Promise<Meter> {
  const senders: Record<Target["listener"], Sender> = { api: openSender(api), edge: openSender(edge) };
  const quiet: number[] = [];
  for (let i = 0; i < quietSamples; i++) quiet.push(-(await cpuMs(origin)) + (await cpuMs(origin)));
  const overhead = median(quiet);
  const idle = await idleLoad(origin);

  async function measure(request: HostileRequest): Promise<{ ms: number; status: number }> {
    const before = await cpuMs(origin);
    const start = performance.now();
    const status = await senders[request.target.listener].send(request);
    const elapsed = performance.now() - start;
    return { ms: (await cpuMs(origin)) - before - overhead - idle * elapsed, status };
  }

  return {
    measure,
    async measureAlone(request, times = repetitions) {
      const costs: { ms: number; status: number }[] = [];
      for (let i = 0; i < times; i++) costs.push(await measure(request));
      return { request, ms: median(costs.map(({ ms }) => ms)), status: costs[0]!.status };
    },
    close: () => Object.values(senders).forEach((sender) => sender.close()),
  };
}

/** Describes a request in one line. */
export function described({ request: { target, method, url, headers, body, chunkBytes }, ms, status }: Cost): string {
  const own = headers.filter(([, value]) => value.length > 100).map(([name, value]) => `${name}: ${value.slice(0, 30)}… (${value.length})`);
  const path = url.length > 120 ? `${url.slice(0, 120)}… (${url.length})` : url;
  const bytes = body && `${body.length} bytes${chunkBytes === undefined ? "" : ` by ${chunkBytes}`}: ${body.toString("latin1", 0, 60)}…`;
  return [`${ms.toFixed(1)} ms`, status, target.listener, method, path, ...own, bytes].filter((part) => part !== undefined).join(" ");
}
