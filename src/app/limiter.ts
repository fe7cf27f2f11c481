import { join } from "node:path";
import { quotaOf } from "../callers/accounts/accounts.ts";
import type { Limiter } from "../callers/limits/limits.ts";
import { openMemoryLimiter } from "../callers/limits/memory.ts";
import type { RedisLimiterOptions } from "../callers/limits/redis.ts";
import { openStateFile } from "../callers/limits/state-file.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import type { Settings } from "./settings.ts";

const addressQuota = quotaOf({ plan: "free", perMinute: null, perDay: null });

type Log = { info(fields: object, text: string): void; warn(fields: object, text: string): void };

/** How long Redis may take to answer, and the clock that it counts by. Default: the limiter's own. */
export type RedisTiming = Pick<RedisLimiterOptions, "answerMs" | "redisClock">;

/**
 * `join` lets the limiter decide, once this process knows the other nodes; it resolves when all count together, or when Redis cannot be reached. `save`
 * stores the counts that only this process has. `close` does the same, and closes the limiter.
 */
export type LimiterHandle = { limiter: Limiter; join(): Promise<void>; save(): Promise<void>; close(): Promise<void> };

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
    const limiter = openRedisLimiter({ url: redisUrl, ca: redisCa || undefined, addressQuota, clock, log, liveNodes, ...redis });
    return { limiter, join: () => limiter.join(), save: () => Promise.resolve(), close: async () => limiter.close() };
  }
  const limiter = openMemoryLimiter({ clock, addressQuota });
  const counters = openStateFile(join(dataDir, "limits.state"), limiter);
  await counters.load();
  return { limiter, join: () => Promise.resolve(), save: () => counters.save(), close: () => counters.save() };
}

/** Ends a ban without becoming a node: in the data folder, which no service may use, or in Redis. */
export async function unbanIn(settings: Pick<Settings, "redisUrl" | "redisCa" | "dataDir">, keyId: number): Promise<boolean> {
  const { redisUrl: url, redisCa } = settings;
  if (url !== "") return (await import("../callers/limits/redis.ts")).unbanInRedis({ url, ca: redisCa || undefined }, keyId);
  const opened = await openLimiter(settings, { clock: systemClock, log: { info() {}, warn() {} } });
  try {
    return await opened.limiter.unban(keyId);
  } finally {
    await opened.close();
  }
}
