import { EventEmitter } from "node:events";
import { free, noon } from "./limits-contract.ts";
import { openRedisLimiter, type RedisLimiterOptions } from "../../src/callers/limits/redis.ts";

/** A log that is an emitter of its lines' levels, and keeps the lines. */
export function openLog() {
  const events = new EventEmitter();
  const lines: string[] = [];
  const write = (level: string) => (fields: object, text: string) => {
    lines.push(`${level} ${text} ${JSON.stringify(fields)}`);
    events.emit(level);
  };
  return { lines, events, info: write("info"), warn: write("warn") };
}

/** A node that counts in the Redis of a URL; its answers may take long, since other tests run beside. */
export function openNode(url: string, options: Partial<RedisLimiterOptions> = {}) {
  const clock = () => noon;
  return openRedisLimiter({ url, addressQuota: free, clock, redisClock: clock, log: openLog(), answerMs: 30_000, ...options });
}
