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
  const learned = new Set<string>();
  let version = "";
  const learn = (facts: RedisFacts): void => {
    version = facts.version;
    if (learned.has(facts.server)) return;
    learned.add(facts.server);
    const time = clockFinding(`Redis at ${facts.server}`, facts.now, clock());
    found.push(...warningsOf(facts), ...(time.level === "ok" ? [] : [time]));
  };
  try {
    await probeRedis(parseRedisUrl(redisUrl), redisCa || undefined, answerMs, learn);
  } catch (error) {
    const { isAnswer, remedyOf, withoutArguments } = await import("../callers/limits/redis.refusals.ts");
    const reason = withoutArguments(reasonOf(error));
    const isOld = Number.parseInt(version, 10) < oldestVersion;
    const remedy = isOld ? `use Redis ${oldestVersion} or later, or Valkey, in place of ${version}` : remedyOf(error);
    if (isAnswer(error)) found.push(fault("redis", `Redis answers, but refuses to count (${reason})`, remedy));
    else found.push(fault("redis", `Redis does not answer (${reason})`, remedy, { isUnreachable: true }));
    return found;
  }
  const isInTime = found.every(({ check }) => check !== "clock");
  return [...found, ok("redis", "Redis counts"), ...(isInTime ? [ok("clock", "the same as that of Redis")] : [])];
}

function warningsOf({ server, eviction, isListing }: RedisFacts): Finding[] {
  const mayEvict = `Redis at ${server} may evict counts (maxmemory-policy ${eviction})`;
  const mayNotList = `a node that starts may not read what the others have counted in Redis at ${server}`;
  return [
    ...(eviction === undefined ? [] : [warning("redis", mayEvict, `set maxmemory-policy to noeviction ${where}`)]),
    ...(isListing ? [] : [warning("redis", mayNotList, `give the user of REDIS_URL the command SCAN ${where}`)]),
  ];
}
