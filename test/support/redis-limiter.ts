import { EventEmitter } from "node:events";
import { openRedisLimiter, type RedisLimiterOptions } from "../../src/callers/limits/redis.ts";
import { free, noon } from "./limits-contract.ts";

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
export function openNode(url: string, options: Partial<RedisLimiterOptions> = {}) {
  const clock = () => noon;
  return openRedisLimiter({ url, addressQuota: free, clock, redisClock: clock, log: openLog(), answerMs: 30_000, ...options });
}
