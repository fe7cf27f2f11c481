/**
 * What limits cost: `node bench/limits.ts`. The memory decision in nanoseconds, the bytes of an account that was active
 * in the minute, and the limiter in Redis beside a bare `INCR` on the same sort of connection.
 */
import { Redis } from "iovalkey";
import { pushLimitHeaders, type Quota } from "../src/callers/limits/limits.ts";
import { type MemoryLimiter, openMemoryLimiter } from "../src/callers/limits/memory.ts";
import { startRedis } from "../src/callers/limits/redis-process.ts";
import { openRedisLimiter } from "../src/callers/limits/redis.ts";

const free: Quota = { perMinute: 60, perDay: 1_000 };
const plenty: Quota = { perMinute: 1e9, perDay: 1e9 };
const accounts = 100_000;

export type LimitFigures = {
  decisionNs: number;
  decisionAndHeadersNs: number;
  refusalNs: number;
  snapshotMs: number;
  bytesPerAccount: number;
  redisPerSecond: number;
  incrPerSecond: number;
  redisRatio: number;
};

/** Measures all of it, in about ten seconds. */
export async function measureLimits(): Promise<LimitFigures> {
  const bytesPerAccount = measureMemory();
  const limiter = openMemoryLimiter({ clock: Date.now, addressQuota: free });
  const decisionNs = nsOf((i) => limiter.account(i % accounts, i % accounts, plenty));
  const decisionAndHeadersNs = nsOf((i) => pushLimitHeaders([], limiter.account(i % accounts, i % accounts, plenty)));
  const refusalNs = nsOf((i) => limiter.account(i % accounts, i % accounts, { perMinute: 1, perDay: 1 }));
  const snapshotMs = msOfSnapshot(limiter);
  return { decisionNs, decisionAndHeadersNs, refusalNs, snapshotMs, bytesPerAccount, ...(await measureRedis()) };
}

/** The median of seven rounds. */
function nsOf(work: (i: number) => unknown): number {
  const operations = 500_000;
  const rounds = Array.from({ length: 7 }, () => {
    const start = performance.now();
    for (let i = 0; i < operations; i++) work(i);
    return ((performance.now() - start) * 1e6) / operations;
  });
  return median(rounds);
}

function msOfSnapshot(limiter: MemoryLimiter): number {
  const start = performance.now();
  let characters = 0;
  for (const piece of limiter.snapshot()) characters += piece.length;
  if (characters === 0) throw new Error("the snapshot is empty");
  return performance.now() - start;
}

function measureMemory(): number {
  if (globalThis.gc === undefined) throw new Error("run with --expose-gc");
  gc!();
  const before = process.memoryUsage().heapUsed;
  const limiter = openMemoryLimiter({ clock: Date.now, addressQuota: free });
  for (let i = 0; i < accounts * 5; i++) limiter.account(i % accounts, i % accounts, free);
  gc!();
  const bytes = process.memoryUsage().heapUsed - before;
  return bytes / limiter.size();
}

/** Both by turns, five rounds each, 64 requests at once on one connection. */
async function measureRedis(): Promise<Pick<LimitFigures, "redisPerSecond" | "incrPerSecond" | "redisRatio">> {
  const server = await startRedis();
  const bare = new Redis(server.url);
  const log = { info: () => undefined, warn: () => undefined };
  const limiter = await openRedisLimiter({ url: server.url, addressQuota: free, clock: Date.now, log });
  const incr: number[] = [];
  const limited: number[] = [];
  for (let round = 0; round < 6; round++) {
    const [bareRate, limitedRate] = [
      await perSecond((i) => bare.incr(`bare:${i % 1_000}`)),
      await perSecond((i) => limiter.account(i % 1_000, i % 1_000, plenty)),
    ];
    if (round === 0) continue;
    incr.push(bareRate);
    limited.push(limitedRate);
  }
  if (limiter.mode() !== "shared") throw new Error("Redis was lost while measuring");
  await limiter.close();
  bare.disconnect();
  await server.remove();
  return { redisPerSecond: median(limited), incrPerSecond: median(incr), redisRatio: median(limited.map((rate, i) => rate / incr[i]!)) };
}

async function perSecond(request: (i: number) => unknown): Promise<number> {
  const requests = 60_000;
  let next = 0;
  const client = async () => {
    while (next < requests) await request(next++);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: 64 }, client));
  return (requests * 1000) / (performance.now() - start);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

if (import.meta.main) {
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  globalThis.gc = runInNewContext("gc") as NodeJS.GCFunction;
  console.table(await measureLimits());
}
