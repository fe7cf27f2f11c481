import { join } from "node:path";
import { quotaOf } from "../callers/accounts/accounts.ts";
import type { Limiter } from "../callers/limits/limits.ts";
import { openMemoryLimiter } from "../callers/limits/memory.ts";
import type { RedisLimiterOptions } from "../callers/limits/redis.ts";
import { openStateFile } from "../callers/limits/state-file.ts";
import type { Clock } from "../platform/clock.ts";
import type { Settings } from "./settings.ts";

const addressQuota = quotaOf({ plan: "free", perMinute: null, perDay: null });

type Log = { info(fields: object, text: string): void; warn(fields: object, text: string): void };

/** How long Redis may take to answer, and the clock that it counts by. Default: the limiter's own. */
export type RedisTiming = Pick<RedisLimiterOptions, "answerMs" | "redisClock">;

/** `save` stores the counts that only this process has. `close` does the same, and closes the limiter. */
export type LimiterHandle = { limiter: Limiter; save(): Promise<void>; close(): Promise<void> };

/**
 * Opens the limiter of the settings: in Redis, which need not answer yet, or in this process, with the counts that its last run stored in
 * the data folder.
 */
export async function openLimiter(
  { redisUrl, redisCa, dataDir }: Pick<Settings, "redisUrl" | "redisCa" | "dataDir">,
  { clock, log, liveNodes = () => 1, redis }: { clock: Clock; log: Log; liveNodes?: () => number; redis?: RedisTiming | undefined },
): Promise<LimiterHandle> {
  if (redisUrl !== "") {
    const { openRedisLimiter } = await import("../callers/limits/redis.ts");
    const limiter = await openRedisLimiter({ url: redisUrl, ca: redisCa || undefined, addressQuota, clock, log, liveNodes, ...redis });
    return { limiter, save: () => Promise.resolve(), close: async () => limiter.close() };
  }
  const limiter = openMemoryLimiter({ clock, addressQuota });
  const counters = openStateFile(join(dataDir, "limits.state"), limiter);
  await counters.load();
  return { limiter, save: () => counters.save(), close: () => counters.save() };
}
