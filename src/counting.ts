import { join } from "node:path";
import { quotaOf } from "./callers/accounts/accounts.ts";
import type { Limiter } from "./callers/limits/limits.ts";
import { openMemoryLimiter } from "./callers/limits/memory.ts";
import { openRedisLimiter, type RedisLimiterOptions } from "./callers/limits/redis.ts";
import { openStateFile } from "./callers/limits/state-file.ts";
import type { Clock } from "./platform/clock.ts";
import type { Settings } from "./settings.ts";

const addressQuota = quotaOf({ plan: "free", perMinute: null, perDay: null });

type Log = { info(fields: object, text: string): void; warn(fields: object, text: string): void };

/** How long Redis is waited for, and by what clock it counts: the limiter's own unless told. */
export type RedisTiming = Pick<RedisLimiterOptions, "answerMs" | "silentMs" | "redisClock">;

/** `save` keeps what this process alone has counted; `close` does so too, and lets go. */
export type Counting = { limiter: Limiter; save(): Promise<void>; close(): Promise<void> };

/**
 * Opens the limiter that the settings ask for: in Redis, which need not be there yet, or in this process, going on from
 * what the data folder has of its last run.
 */
export async function openCounting(
  { redisUrl, dataDir }: Pick<Settings, "redisUrl" | "dataDir">,
  { clock, log, redis }: { clock: Clock; log: Log; redis?: RedisTiming | undefined },
): Promise<Counting> {
  if (redisUrl !== "") {
    const limiter = await openRedisLimiter({ url: redisUrl, addressQuota, clock, log, ...redis });
    return { limiter, save: () => Promise.resolve(), close: async () => limiter.close() };
  }
  const limiter = openMemoryLimiter({ clock, addressQuota });
  const counters = openStateFile(join(dataDir, "limits.state"), limiter);
  await counters.load();
  return { limiter, save: () => counters.save(), close: () => counters.save() };
}
