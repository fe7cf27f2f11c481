import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Redis } from "iovalkey";
import { openMemoryLimiter } from "../src/callers/limits/memory.ts";
import { openRedisLimiter } from "../src/callers/limits/redis.ts";
import type { Quota } from "../src/callers/limits/windows.ts";
import { startRedis } from "../test/support/redis-process.ts";
import { atMost, measureAlternately, type Figure } from "./figures.ts";
import { requestsPerSecond } from "./load.ts";
import { firstLine, spawnServer, stop } from "./processes.ts";

const free: Quota = { perMinute: 60, perDay: 1_000 };
const plenty: Quota = { perMinute: 1e9, perDay: 1e9 };
const accounts = 100_000;
const rounds = 5;

/** Measures what limits cost: a decision, the memory of active accounts, requests with and without limits, and Redis against `INCR`. */
export async function* measureLimits(): AsyncGenerator<Figure> {
  yield measureDecision();
  yield measureMemory();
  yield await measureThroughput();
  yield await measureRedis();
}

function measureDecision(): Figure {
  const limiter = openMemoryLimiter({ clock: Date.now, addressQuota: free });
  const ns = roundsOf((i) => limiter.account(i % accounts, i % accounts, plenty));
  return atMost("limits-decision", "a decision of the limiter in memory", ns, 1_000, "ns");
}

/** The time (ns) of an operation in each of seven rounds. */
function roundsOf(work: (i: number) => unknown): number[] {
  const operations = 500_000;
  return Array.from({ length: 7 }, () => {
    const start = performance.now();
    for (let i = 0; i < operations; i++) work(i);
    return ((performance.now() - start) * 1e6) / operations;
  });
}

function measureMemory(): Figure {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  const limiter = openMemoryLimiter({ clock: Date.now, addressQuota: free });
  for (let i = 0; i < accounts * 5; i++) limiter.account(i % accounts, i % accounts, free);
  collect();
  const mib = (process.memoryUsage().heapUsed - before) / 1_048_576;
  if (limiter.size() < accounts) throw new Error("the limiter forgot accounts");
  return atMost("limits-memory", "heap of the limiter with 100,000 accounts active in a minute", mib, 64, "MiB");
}

async function measureThroughput(): Promise<Figure> {
  const limited = await openApi("on");
  const unlimited = await openApi("off");
  const load = (api: { url: string; key: string }) => requestsPerSecond({ url: `${api.url}/pets`, key: api.key, connections: 64 });
  try {
    const figures = await measureAlternately(
      rounds,
      () => load(limited),
      () => load(unlimited),
    );
    return { id: "limits-on-off", what: "`GET /pets` with limits / without", ...figures, unit: "requests/s", goal: "≥ 0.9" };
  } finally {
    await limited.stop();
    await unlimited.stop();
  }
}

async function openApi(limits: "on" | "off"): Promise<{ url: string; key: string; stop(): Promise<void> }> {
  const child = spawnServer([process.execPath, join(import.meta.dirname, "api-server.ts")], {
    env: { ...process.env, LIMITS: limits },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { url, key } = JSON.parse(await firstLine(child)) as { url: string; key: string };
  return { url, key, stop: () => stop(child) };
}

/** Compares the limiter with bare `INCR`, each with 64 requests at once on one connection. */
async function measureRedis(): Promise<Figure> {
  const server = await startRedis();
  const bare = new Redis(server.url);
  const log = { info: () => undefined, warn: () => undefined };
  const limiter = openRedisLimiter({ url: server.url, addressQuota: free, clock: Date.now, log });
  await limiter.join();
  try {
    const figures = await measureAlternately(
      rounds,
      () => perSecond((i) => limiter.account(i % 1_000, i % 1_000, plenty)),
      () => perSecond((i) => bare.incr(`bare:${i % 1_000}`)),
    );
    if (limiter.mode() !== "shared") throw new Error("Redis was lost while measuring");
    return { id: "limits-redis", what: "a decision in Redis / bare `INCR`, 64 at once", ...figures, unit: "decisions/s", goal: "≥ 0.8" };
  } finally {
    await limiter.close();
    bare.disconnect();
    await server.remove();
  }
}

async function perSecond(request: (i: number) => unknown): Promise<number> {
  const requests = 60_000;
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < requests) await request(next++);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: 64 }, client));
  return (requests * 1_000) / (performance.now() - start);
}
