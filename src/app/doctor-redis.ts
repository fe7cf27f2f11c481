import type { RedisFacts } from "../callers/limits/redis.probe.ts";
import { parseRedisUrl } from "../callers/limits/redis.url.ts";
import { answerMs, clockFinding, fault, ok, reasonOf, warning, type Finding } from "./findings.ts";
import type { Settings } from "./settings.ts";

const oldestVersion = 4;
const where = "(docs/operating.md, “Limits on Redis”)";

/** Checks whether the limiter can count in the Redis of `REDIS_URL`, by doing what the limiter does. */
export async function checkRedis({ redisUrl, redisCa }: Pick<Settings, "redisUrl" | "redisCa">, clock: () => number): Promise<Finding[]> {
  if (redisUrl === "") return [ok("redis", "not set: this process counts limits alone")];
  const { probeRedis } = await import("../callers/limits/redis.probe.ts");
  const found: Finding[] = [];
  let facts: RedisFacts | undefined;
  const learn = (learned: RedisFacts): void => {
    if (facts) return; // every server of a cluster is learned
    facts = learned;
    if (learned.eviction !== undefined)
      found.push(
        warning("redis", `Redis may evict counts (maxmemory-policy ${learned.eviction})`, `set maxmemory-policy to noeviction ${where}`),
      );
    if (!learned.isListing)
      found.push(
        warning(
          "redis",
          "a node that starts may not read what the others have counted",
          `give the user of REDIS_URL the command SCAN ${where}`,
        ),
      );
  };
  try {
    await probeRedis(parseRedisUrl(redisUrl), redisCa || undefined, answerMs, learn);
  } catch (error) {
    const { isAnswer, remedyOf, withoutArguments } = await import("../callers/limits/redis.refusals.ts");
    const reason = withoutArguments(reasonOf(error));
    const isOld = facts !== undefined && Number.parseInt(facts.version, 10) < oldestVersion;
    const remedy = isOld ? `use Redis ${oldestVersion} or later, or Valkey, in place of ${facts?.version}` : remedyOf(error);
    if (isAnswer(error)) found.push(fault("redis", `Redis answers, but refuses to count (${reason})`, remedy));
    else found.push(fault("redis", `Redis does not answer (${reason})`, remedy, { isUnreachable: true }));
    return found;
  }
  return [...found, ok("redis", "Redis counts"), ...(facts ? [clockFinding("Redis", facts.now, clock())] : [])];
}
