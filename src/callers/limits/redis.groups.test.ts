import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { free } from "../../../test/support/limits-contract.ts";
import { openLine } from "../../../test/support/line.ts";
import { areComplete, askRedis, moveSlot, ownerOf, startCluster, startSentinels } from "../../../test/support/redis-groups.ts";
import { areShared, assertAdmitted, moreThan, openLoad, openNode, openNodes } from "../../../test/support/redis-limiter.ts";
import { startRedis } from "../../../test/support/redis-process.ts";
import { throwAwayCertificate } from "../../../test/support/test-edge.ts";
import { until } from "../../../test/support/until.ts";
import type { Limiter } from "./limits.ts";
import { prefixesOf } from "./redis.generation.ts";
import type { Quota } from "./windows.ts";

const quota: Quota = { perMinute: 20_000, perDay: 100_000 };
/** The key of account 1 in a cluster. */
const accountKey = `${prefixesOf("cluster")[1]}account:1`;

/** Says how long the nodes took to count together again, beginning when the servers could. */
async function sayWhenShared(t: TestContext, limiters: Limiter[]): Promise<void> {
  const start = performance.now();
  await until(() => areShared(limiters));
  t.diagnostic(`shared again ${Math.round(performance.now() - start)} ms after the servers`);
}

test("with Sentinel, three nodes admit exactly the quota while the master is killed, and count together on its replica", async (t) => {
  const { master, replica, url } = await startSentinels(t);
  const { limiters } = await openNodes(t, url, 3, { answerMs: 2_000 });
  const running = openLoad(limiters, quota);
  await moreThan(running, 300);
  await master.stop();
  await until(() => !areShared(limiters));
  await until(async () => (await askRedis(replica, (client) => client.info("replication"))).includes("role:master"));
  await sayWhenShared(t, limiters);
  assertAdmitted(await running.stop(), quota.perMinute, limiters.length);
});

test("with Sentinel, users and passwords are those of the URL", async (t) => {
  const { master, replica, ports, url } = await startSentinels(t);
  for (const server of [master, replica])
    await askRedis(server, (client) =>
      client.acl("SETUSER", "shop", "on", ">data pass", "~petstore:limits:*", "&petstore:limits:*", "+@all"),
    );
  for (const port of ports)
    await askRedis({ url: `redis://127.0.0.1:${port}` }, async (client) => {
      await client.call("ACL", "SETUSER", "finder", "on", ">find+ pass", "+@all", "&*");
      await client.call("ACL", "SETUSER", "default", "off");
    });
  const login = url.replace("://", "://shop:data%20pass@");
  const limiter = await openNode(`${login}?sentinelUsername=finder&sentinelPassword=find+%20pass`);
  t.after(() => limiter.close());
  assert.equal(limiter.mode(), "shared");
  const refused = await openNode(login);
  t.after(() => refused.close());
  assert.equal(refused.mode(), "alone");
});

test("in a cluster, accounts, addresses and members count on all masters, each account with all its keys on one", async (t) => {
  const { masters, url } = await startCluster(t);
  const limiter = await openNode(url);
  t.after(() => limiter.close());
  assert.equal(limiter.mode(), "shared");
  for (let account = 1; account <= 32; account++) {
    assert.equal((await limiter.account(account, account, free)).remaining, 59);
    assert.equal((await limiter.publishable(account, "192.0.2.1", free)).minuteRemaining, 29);
    assert.equal((await limiter.address(`192.0.2.${account}`)).remaining, 59);
    assert.equal((await limiter.dashboard(account)).remaining, 299);
  }
  for (let i = 0; i < 90; i++) await limiter.account(5, 7, free);
  assert.ok((await limiter.strikeStatus(5, 7, free)).bannedUntil !== undefined);
  assert.equal(await limiter.unban(7), true);
  assert.equal((await limiter.account(5, 7, free)).verdict, "rate_limit_exceeded");
  const counts = await Promise.all(masters.map(async (one) => (await askRedis(one, (client) => client.keys("*:account:*"))).length));
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    32,
  );
  assert.ok(
    counts.every((count) => count >= 8),
    String(counts),
  );
  assert.equal(limiter.mode(), "shared");
});

test("in a cluster, three nodes admit exactly the quota while a master is killed, and count together on its replica", async (t) => {
  const { servers, url } = await startCluster(t);
  const { limiters } = await openNodes(t, url, 3, { answerMs: 2_000 });
  const running = openLoad(limiters, quota);
  await moreThan(running, 300);
  const owner = (await ownerOf(servers, accountKey))!;
  await owner.stop();
  await until(() => !areShared(limiters));
  const left = servers.filter((one) => one !== owner);
  await until(async () => (await areComplete(left)) && (await ownerOf(left, accountKey)) !== undefined);
  await sayWhenShared(t, limiters);
  assertAdmitted(await running.stop(), quota.perMinute, limiters.length);
});

test("in a cluster, three nodes admit exactly the quota while the account's slot moves to another master", async (t) => {
  const { masters, url } = await startCluster(t);
  const { limiters } = await openNodes(t, url, 3, { answerMs: 2_000 });
  const running = openLoad(limiters, quota);
  await moreThan(running, 300);
  const from = (await ownerOf(masters, accountKey))!;
  const to = masters.find((one) => one !== from)!;
  await moveSlot({ key: accountKey, from, to, masters }, () => moreThan(running, 100));
  assert.equal(await ownerOf(masters, accountKey), to);
  await sayWhenShared(t, limiters);
  assertAdmitted(await running.stop(), quota.perMinute, limiters.length);
});

/** Opens lines to servers on which an answer takes nearly half a second, and returns the URL that leads through them. */
async function slowUrl(t: TestContext, url: string): Promise<string> {
  let slow = url;
  for (const [host] of url.matchAll(/127\.0\.0\.1:\d+/g)) {
    const line = await openLine(`redis://${host}`);
    t.after(() => line.close());
    line.delay(235);
    slow = slow.replace(host, new URL(line.url).host);
  }
  return slow;
}

for (const [name, start] of Object.entries({ Sentinel: startSentinels, "a cluster": startCluster })) {
  test(`a node finds the servers of ${name} over a link on which each answer takes 470 ms`, async (t) => {
    const limiter = await openNode(await slowUrl(t, (await start(t)).url));
    t.after(() => limiter.close());
    assert.equal(limiter.mode(), "shared");
  });
}

test("a node connects with TLS and a password over a link on which each answer takes 470 ms", async (t) => {
  const { cert, key } = throwAwayCertificate("localhost");
  const folder = temporaryFolder(t);
  const files = { cert: join(folder, "server.crt"), key: join(folder, "server.key") };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  const redis = await startRedis({ tls: files, password: "hush" });
  t.after(() => redis.remove());
  const limiter = await openNode((await slowUrl(t, redis.url)).replace("127.0.0.1", "localhost"), { ca: cert });
  t.after(() => limiter.close());
  assert.equal(limiter.mode(), "shared");
});

test("a password with signs that URLs encode, and a database, are those of the URL", async (t) => {
  const redis = await startRedis({ password: "50%off +/?#@:é" });
  t.after(() => redis.remove());
  const limiter = await openNode(`${redis.url}/3`);
  t.after(() => limiter.close());
  assert.equal(limiter.mode(), "shared");
  const keyspace = await askRedis(redis, (client) => client.info("keyspace"));
  assert.ok(keyspace.includes("db3:") && !keyspace.includes("db0:"), keyspace);
});

test("a node forgets a server that has left the cluster, and asks those that are left", async (t) => {
  const { servers, masters, url } = await startCluster(t);
  const limiter = await openNode(url);
  t.after(() => limiter.close());
  const gone = servers.slice(2).find((one) => !masters.includes(one))!;
  const left = servers.filter((one) => one !== gone);
  const id = await askRedis(gone, (client) => client.cluster("MYID"));
  await gone.stop();
  for (const one of left) await askRedis(one, (client) => client.cluster("FORGET", id));
  const reconnect = async (): Promise<void> => {
    for (const one of masters) await askRedis(one, (client) => client.call("CLIENT", "KILL", "TYPE", "normal"));
    await until(() => !areShared([limiter]));
    await until(() => areShared([limiter]));
  };
  await reconnect();
  let asked = 0;
  const listener = createServer((socket) => ((asked += 1), socket.destroy())).listen(Number(new URL(gone.url).port), "127.0.0.1");
  t.after(() => listener.close());
  await once(listener, "listening");
  for (let i = 0; i < 3; i++) await reconnect();
  assert.equal(asked, 0);
});
