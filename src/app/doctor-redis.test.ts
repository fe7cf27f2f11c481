import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { free } from "../../test/support/limits-contract.ts";
import { askRedis } from "../../test/support/redis-groups.ts";
import { openLog, openNode } from "../../test/support/redis-limiter.ts";
import { type RedisProcess, startRedis } from "../../test/support/redis-process.ts";
import { unbanInRedis } from "../callers/limits/redis.ts";
import { checkRedis } from "./doctor-redis.ts";

async function openRedis(t: TestContext, settings: string[] = []): Promise<RedisProcess> {
  const redis = await startRedis({ settings });
  t.after(() => redis.remove());
  return redis;
}

async function examined(redisUrl: string) {
  const found = await checkRedis({ redisUrl, redisCa: "" }, Date.now);
  return found.map(({ check, level, message, fix }) => `${level} ${check}: ${message}${fix === null ? "" : ` → ${fix}`}`).join("\n");
}

/** Makes the user of the documentation, after a change of its permissions, and returns its URL. */
async function urlOfUser(redis: RedisProcess, change: (permissions: string) => string): Promise<string> {
  const page = readFileSync(join(import.meta.dirname, "../../docs/operating.md"), "utf8");
  const [, permissions = ""] = /ACL SETUSER petstore on >PASSWORD ([^`]+)/.exec(page) ?? [];
  const words = change(permissions.trim().replace(/\s+/g, " ")).split(" ");
  await askRedis(redis, (client) => client.call("ACL", "SETUSER", "petstore", "reset", "on", ">hush", ...words));
  return redis.url.replace("://", "://petstore:hush@");
}

test("a user with exactly the documented permissions passes, leaves nothing behind, and can do all that the limiter does", async (t) => {
  const redis = await openRedis(t);
  const url = await urlOfUser(redis, (permissions) => permissions);
  assert.match(await examined(url), /^ok redis: Redis counts\nok clock: [^\n]+$/);
  assert.deepEqual(await askRedis(redis, (client) => client.keys("*")), []);
  const log = openLog();
  const [limiter, other] = await Promise.all([
    openNode(url, { log, redisClock: undefined, liveNodes: () => 2 }),
    openNode(url, { liveNodes: () => 2 }),
  ]);
  t.after(() => Promise.all([limiter.close(), other.close()]));
  for (let i = 0; i < 90; i++) await limiter.account(1, 1, free);
  for (let i = 0; i < 60; i++) await limiter.publishable(1, "192.0.2.1", free);
  await limiter.dashboard(1);
  await limiter.strikeStatus(1, 1, free);
  await limiter.unban(1);
  await unbanInRedis({ url, ca: undefined }, 1);
  await (await openNode(url, { log })).close(); // reads the counts
  assert.deepEqual(log.lines, []);
});

test("a node whose user may not list counts says so once, and counts all the same", async (t) => {
  const redis = await openRedis(t);
  const url = await urlOfUser(redis, (permissions) => permissions.replace("+scan", ""));
  const log = openLog();
  const limiter = await openNode(url, { log });
  t.after(() => limiter.close());
  assert.match(log.lines.join("\n"), /^warn Redis does not let this node read all counts[^\n]+NOPERM[^\n]+$/);
  assert.equal(limiter.mode(), "shared");
});

test("what Redis refuses is a fault that says so and what to do", async (t) => {
  const redis = await openRedis(t);
  const lacking = async (part: string) => examined(await urlOfUser(redis, (permissions) => permissions.replace(part, "+info")));
  for (const part of ["&petstore:limits:*", "~petstore:limits:*", "+rpush", "+subscribe"])
    assert.match(
      await lacking(part),
      /^fault redis: Redis answers, but refuses to count \([^\n]*(NOPERM|user executing)[^\n]* → give the user of REDIS_URL/,
      part,
    );
  const warned = await lacking("+scan");
  assert.match(
    warned,
    /^warning redis: a node that starts may not read[^\n]+ → give the user of REDIS_URL the command SCAN[^\n]+\nok redis: Redis counts/,
  );
  const replica = await openRedis(t, ["--replicaof", "127.0.0.1", new URL(redis.url).port]);
  assert.match(await examined(replica.url), /refuses to count \(.*READONLY.*: it is a replica → set REDIS_URL to the master/);
  const cluster = await openRedis(t, ["--cluster-enabled", "yes"]);
  assert.match(await examined(cluster.url), /it is a server of a cluster → write REDIS_URL=redis\+cluster/);
  assert.match(await examined("redis://:hush@127.0.0.1:9"), /^fault redis: Redis does not answer \([^\n]*ECONNREFUSED/);
});

test("a policy that evicts counts is a warning of the doctor and of the log, and in a metric", async (t) => {
  const redis = await openRedis(t, ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]);
  assert.match(
    await examined(redis.url),
    /^warning redis: Redis may evict counts \(maxmemory-policy allkeys-lru\) → set maxmemory-policy to noeviction/,
  );
  const log = openLog();
  const limiter = await openNode(redis.url, { log });
  t.after(() => limiter.close());
  assert.equal(limiter.mayLoseCounts(), true);
  assert.match(log.lines.join("\n"), /^warn Redis may evict counts[^\n]+noeviction \{"policy":"allkeys-lru"\}$/);
  assert.equal(limiter.mode(), "shared");
});
