import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Limiter } from "../../src/callers/limits/limits.ts";
import { openRedisLimiter, type RedisLimiterOptions } from "../../src/callers/limits/redis.ts";
import type { Decision, Quota } from "../../src/callers/limits/windows.ts";
import { free, noon } from "./limits-contract.ts";
import { openLine } from "./line.ts";
import { until } from "./until.ts";

/** A log that keeps its lines. `events` emits the level of each. */
export function openLog() {
  const events = new EventEmitter();
  const lines: string[] = [];
  const write = (level: string) => (fields: object, text: string) => {
    lines.push(`${level} ${text} ${JSON.stringify(fields)}`);
    events.emit(level);
  };
  return { lines, events, info: write("info"), warn: write("warn") };
}

/** Opens a node's limiter. By default an answer may take 30 seconds, because other tests run at the same time. */
export async function openNode(url: string, options: Partial<RedisLimiterOptions> = {}) {
  const limiter = newNode(url, options);
  await limiter.join();
  return limiter;
}

/** Makes a node's limiter that has not joined the others. */
export function newNode(url: string, options: Partial<RedisLimiterOptions> = {}) {
  const clock = () => noon;
  return openRedisLimiter({ url, addressQuota: free, clock, redisClock: clock, log: openLog(), answerMs: 30_000, ...options });
}

export type RedisNode = Awaited<ReturnType<typeof openNodes>>["nodes"][number];

/** Opens nodes that use the Redis at a URL, each with its own line (where the URL names one server) and log. */
export async function openNodes(t: TestContext, url: string, count: number, options: Partial<RedisLimiterOptions> = {}) {
  const nodes = await Promise.all(
    Array.from({ length: count }, async () => {
      const line = await openLine(url.includes("+") ? "redis://127.0.0.1:9" : url);
      const log = openLog();
      const limiter = await openNode(url.includes("+") ? url : line.url, { liveNodes: () => count, log, ...options });
      t.after(async () => (await limiter.close(), line.close()));
      return { line, log, limiter };
    }),
  );
  await until(() => nodes.every(({ limiter }) => limiter.mode() === "shared"));
  for (const { log } of nodes) log.lines.length = 0;
  return { nodes, limiters: nodes.map(({ limiter }): Limiter => limiter) };
}

const isPass = ({ verdict }: Decision) => verdict === "pass";

/** Sends requests of account 1 to each node, all at once. */
export function requestFromEach(limiters: Limiter[], times: number, quota: Quota): Promise<Decision[]> {
  return Promise.all(Array.from({ length: times * limiters.length }, async (_, i) => limiters[i % limiters.length]!.account(1, 1, quota)));
}

/** The same, and counts those that pass. */
export async function passes(limiters: Limiter[], times: number, quota: Quota): Promise<number> {
  return (await requestFromEach(limiters, times, quota)).filter(isPass).length;
}

export const areShared = (limiters: Limiter[]): boolean => limiters.every((limiter) => limiter.mode() === "shared");

/** How many requests of a node wait for their answers at once. */
const atOnce = 6;

/** Fails if more than the quota was admitted, or less by more than the requests whose answer a fault took: Redis may have counted those. */
export function assertAdmitted(admitted: number, quota: number, nodes: number): void {
  assert.ok(admitted <= quota && admitted >= quota - nodes * atOnce, `${admitted} of ${quota} were admitted`);
}

/** Sends requests without a pause. `passed` counts those that passed; `stop` ends it once all nodes count together, and asks for the rest of the quota. */
export function openLoad(limiters: Limiter[], quota: Quota) {
  const state = { passed: 0, ends: false };
  const clients = limiters.map(async (limiter) => {
    while (!state.ends) {
      const passed = await passes([limiter], atOnce, quota);
      state.passed += passed;
      await sleep(4);
    }
  });
  return {
    passed: () => state.passed,
    async stop() {
      await until(() => areShared(limiters));
      state.ends = true;
      await Promise.all(clients);
      return state.passed + (await passes(limiters, quota.perMinute, quota));
    },
  };
}

export async function moreThan(running: { passed: () => number }, more: number): Promise<void> {
  const before = running.passed();
  while (running.passed() < before + more) await sleep(1);
}
