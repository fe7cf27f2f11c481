import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { free } from "../../test/support/limits-contract.ts";
import { freePort } from "../../test/support/ports.ts";
import { addressOf, spawnServer } from "../../test/support/process.ts";
import { askRedis, portOf, startCluster, startSentinels } from "../../test/support/redis-groups.ts";
import { openLog, openNode } from "../../test/support/redis-limiter.ts";
import { type RedisProcess, startRedis } from "../../test/support/redis-process.ts";
import { throwAwayCertificate } from "../../test/support/test-edge.ts";
import { until } from "../../test/support/until.ts";
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

const toKeep = "set maxmemory-policy to noeviction (docs/operating.md, “Limits on Redis”)";
const giveToUser = /^give the user of REDIS_URL the commands, keys and channels that the limiter needs/;

/** A user that lacks one of the documented permissions. */
async function urlWithout(t: TestContext, part: string): Promise<string> {
  return urlOfUser(await openRedis(t), (permissions) => permissions.replace(part, "+info"));
}

/** A server of a cluster with these slots. */
async function clusterServer(t: TestContext, slots: number[], settings: string[] = []): Promise<RedisProcess> {
  const redis = await openRedis(t, ["--cluster-enabled", "yes", "--cluster-port", String(await freePort()), ...settings]);
  await askRedis(redis, (client) => client.call("CLUSTER", "ADDSLOTSRANGE", ...slots));
  return redis;
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
  assert.match(
    await examined(url),
    /^warning redis: a node that starts may not read[^\n]+ in Redis at 127\.0\.0\.1:\d+ → give the user of REDIS_URL the command SCAN[^\n]+\nok redis: Redis counts/,
  );
});

/** Waits until a server of a cluster serves its slots. */
async function serves(redis: RedisProcess): Promise<void> {
  await until(async () => (await askRedis(redis, (client) => client.cluster("INFO"))).includes("cluster_state:ok"));
}

/** Servers that cannot count: the URL of each, what it answers, and what to do. */
const refusals: Record<string, (t: TestContext) => Promise<[url: string, answer: RegExp, remedy: RegExp]>> = {
  "a user without the channel": async (t) => [await urlWithout(t, "&petstore:limits:*"), /channel/, giveToUser],
  "a user that may not subscribe": async (t) => [await urlWithout(t, "+subscribe"), /NOPERM.*subscribe/, giveToUser],
  "a user that may not publish": async (t) => [await urlWithout(t, "+publish"), /publish|user executing/i, giveToUser],
  "a user without the keys": async (t) => [await urlWithout(t, "~petstore:limits:*"), /NOPERM.*keys/, giveToUser],
  "a user without one command of the scripts": async (t) => [await urlWithout(t, "+rpush"), /user executing/i, giveToUser],
  "a wrong password": async (t) => {
    const redis = await openRedis(t, ["--requirepass", "right"]);
    return [redis.url.replace("://", "://:wrong@"), /WRONGPASS/, /^correct the user and the password/];
  },
  "no password": async (t) => [(await openRedis(t, ["--requirepass", "right"])).url, /NOAUTH/, /^correct the user and the password/],
  "a replica": async (t) => {
    const [master, replica] = [await openRedis(t), await openRedis(t)];
    await askRedis(replica, (client) => client.replicaof("127.0.0.1", portOf(master)));
    return [replica.url, /READONLY/, /^set REDIS_URL to the master or to its sentinels/];
  },
  "a server of a cluster": async (t) => {
    const redis = await clusterServer(t, [0, 16_383]);
    await serves(redis);
    return [redis.url, /CROSSSLOT/, /^begin REDIS_URL with redis\+cluster:/];
  },
  "a cluster without some slots": async (t) => {
    const redis = await clusterServer(t, [0, 8_000]);
    return [redis.url.replace("redis", "redis+cluster"), /CLUSTERDOWN/, /^give each slot of the cluster a server/];
  },
  "a cluster that goes on without some slots": async (t) => {
    const redis = await clusterServer(t, [0, 8_000], ["--cluster-require-full-coverage", "no"]);
    await serves(redis);
    return [redis.url.replace("redis", "redis+cluster"), /CLUSTERDOWN no server has slot \d+/, /^give each slot of the cluster a server/];
  },
  "a single server in place of a cluster": async (t) => [
    (await openRedis(t)).url.replace("redis", "redis+cluster"),
    /cluster support disabled/,
    /^begin REDIS_URL with redis:\/\//,
  ],
  "sentinels that know no such master": async (t) => {
    const { url } = await startSentinels(t);
    return [url.replace(/shop$/, "nowhere"), /No such master/, /^end REDIS_URL with the name/];
  },
  "a server in place of sentinels": async (t) => [
    `${(await openRedis(t)).url.replace("redis", "redis+sentinel")}/shop`,
    /unknown command.*SENTINEL/i,
    /^name sentinels in REDIS_URL/,
  ],
  "a server without AUTH": async (t) => {
    const { url } = await openRedis(t, ["--rename-command", "AUTH", ""]);
    return [url.replace("://", "://petstore:hush@"), /unknown command 'auth'/, /^look up this answer/];
  },
  "no room": async (t) => [(await openRedis(t, ["--maxmemory", "1"])).url, /OOM/, /^raise maxmemory/],
};

for (const [name, make] of Object.entries(refusals))
  test(`${name}: the log and the doctor say what Redis answers and what to do, and the node counts alone`, async (t) => {
    const [url, answer, remedy] = await make(t);
    const found = await checkRedis({ redisUrl: url, redisCa: "" }, Date.now);
    const refused = found.find(({ level }) => level === "fault");
    assert.match(refused?.message ?? "", /^Redis answers, but refuses to count \(/);
    assert.match(refused?.message ?? "", answer);
    assert.match(refused?.fix ?? "", remedy);
    const log = openLog();
    const limiter = await openNode(url, { log });
    t.after(() => limiter.close());
    assert.equal(limiter.mode(), "alone");
    const [line = ""] = log.lines;
    assert.ok(line.startsWith("warn Redis answers, but refuses to count: until it does, this node admits its share of each limit."), line);
    assert.ok(line.includes(`To fix this, ${refused?.fix}`), line);
    assert.match(line, answer);
    assert.doesNotMatch(`${line}${refused?.message}`, /hush|wrong@/);
    assert.equal(log.lines.length, 1);
  });

test("with a wrong certificate or port Redis cannot be reached, and the log and the doctor say what to do", async (t) => {
  const folder = temporaryFolder(t);
  const { cert, key } = throwAwayCertificate("localhost");
  const files = { cert: join(folder, "server.crt"), key: join(folder, "server.key") };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  const secure = await startRedis({ tls: files });
  t.after(() => secure.remove());
  const plain = await openRedis(t);
  for (const [url, remedy] of [
    [secure.url.replace("127.0.0.1", "localhost"), /^name the certificate authority of Redis in REDIS_CA_FILE/],
    [secure.url.replace("rediss://", "redis://"), /REDIS_URL, which begins with redis:\/\/ or, if Redis has TLS there, with rediss:\/\/$/],
    [plain.url.replace("redis://", "rediss://"), /REDIS_URL, which begins with redis:\/\/ or, if Redis has TLS there, with rediss:\/\/$/],
  ] as const) {
    const [found] = await checkRedis({ redisUrl: url, redisCa: "" }, Date.now);
    assert.match(found?.message ?? "", /^Redis does not answer \(/);
    assert.match(found?.fix ?? "", remedy);
    const log = openLog();
    await (await openNode(url, { log })).close();
    const [line = ""] = log.lines;
    assert.match(line, /^warn Redis cannot be reached: until it can, /);
    assert.ok(line.includes(`To fix this, ${found?.fix}`), line);
  }
});

test("while Redis refuses to count, the service is ready and its metric says so; it counts in Redis again once Redis lets it", async (t) => {
  const [master, replica] = [await openRedis(t), await openRedis(t)];
  await askRedis(replica, (client) => client.replicaof("127.0.0.1", portOf(master)));
  const server = spawnServer(t, temporaryFolder(t), { REDIS_URL: replica.url });
  const address = await addressOf(server);
  await server.logged(({ msg }) => msg?.startsWith("Redis answers, but refuses to count") === true);
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
  const metrics = async () => (await fetch(`${address}/metrics`)).text();
  assert.match(await metrics(), /^petstore_limiter_mode\{mode="alone"\} 1$/m);
  await askRedis(replica, (client) => client.replicaof("NO", "ONE"));
  await server.logged(({ msg }) => msg?.startsWith("Redis answers again") === true);
  assert.match(await metrics(), /^petstore_limiter_mode\{mode="shared"\} 1$/m);
});

test("a policy that evicts counts is a warning of the doctor and of the log, and in a metric", async (t) => {
  const redis = await openRedis(t, ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]);
  assert.match(
    await examined(redis.url),
    /^warning redis: Redis at 127\.0\.0\.1:\d+ may evict counts \(maxmemory-policy allkeys-lru\) → set maxmemory-policy to noeviction/,
  );
  const log = openLog();
  const limiter = await openNode(redis.url, { log });
  t.after(() => limiter.close());
  assert.equal(limiter.mayLoseCounts(), true);
  assert.match(log.lines.join("\n"), /^warn Redis may evict counts[^\n]+noeviction \{"policy":"allkeys-lru"\}$/);
  assert.equal(limiter.mode(), "shared");
});

test("the doctor names each master of a cluster whose policy evicts counts, and no other", async (t) => {
  const { masters, url } = await startCluster(t);
  const evicting = masters.slice(1);
  for (const one of evicting)
    await askRedis(one, async (client) => {
      await client.config("SET", "maxmemory", "100mb");
      await client.config("SET", "maxmemory-policy", "allkeys-lru");
    });
  const lines = (await examined(url)).split("\n");
  assert.deepEqual(
    lines.slice(0, -2).toSorted(),
    evicting
      .map((one) => `warning redis: Redis at 127.0.0.1:${portOf(one)} may evict counts (maxmemory-policy allkeys-lru) → ${toKeep}`)
      .toSorted(),
  );
  assert.deepEqual(lines.slice(-2), ["ok redis: Redis counts", "ok clock: the same as that of Redis"]);
});
