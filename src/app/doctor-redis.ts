import type { RedisFacts } from "../callers/limits/redis.probe.ts";
import { parseRedisUrl } from "../callers/limits/redis.url.ts";
import { answerMs, clockFinding, fault, ok, reasonOf, warning, type Finding } from "./findings.ts";
import type { Settings } from "./settings.ts";

const oldestVersion = 4;
const where = "(docs/operating.md, “Limits on Redis”)";

/** Checks whether the limiter can count in the Redis of `REDIS_URL`, by doing what the limiter does. */
export async function checkRedis({ redisUrl, redisCa }: Pick<Settings, "redisUrl" | "redisCa">, clock: () => number): Promise<Finding[]> {
  const place = parseRedisUrl(redisUrl);
  if (!place) return [ok("redis", "not set: this process counts limits alone")];
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
    await probeRedis(place, redisCa || undefined, answerMs, learn);
  } catch (error) {
    return [...found, refusal(reasonOf(error), error instanceof Error && error.name === "ReplyError", facts, place.kind)];
  }
  return [...found, ok("redis", "Redis counts"), ...(facts ? [clockFinding("Redis", facts.now, clock())] : [])];
}

function refusal(reason: string, isAnswer: boolean, facts: RedisFacts | undefined, kind: string): Finding {
  if (!isAnswer)
    return fault("redis", `Redis does not answer (${reason})`, "check the server, REDIS_URL and the network", { isUnreachable: true });
  const message = `Redis answers, but refuses to count (${reason})`;
  if (facts?.isCluster && kind !== "cluster")
    return fault("redis", `${message}: it is a server of a cluster`, `write REDIS_URL=redis+cluster://… ${where}`);
  if (facts?.isReplica) return fault("redis", `${message}: it is a replica`, "set REDIS_URL to the master, or to its sentinels");
  if (facts && Number.parseInt(facts.version, 10) < oldestVersion)
    return fault("redis", `${message}: it is version ${facts.version}`, `use Redis ${oldestVersion} or later, or Valkey`);
  if (/^(NOPERM|WRONGPASS|NOAUTH)|user executing the script can't/.test(reason))
    return fault("redis", message, `give the user of REDIS_URL the commands, keys and channel that the limiter needs ${where}`);
  return fault("redis", message, "do what the message says");
}
