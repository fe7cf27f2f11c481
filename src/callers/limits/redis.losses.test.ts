import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Redis } from "iovalkey";
import { free } from "../../../test/support/limits-contract.ts";
import { openLine } from "../../../test/support/line.ts";
import { areShared, assertAdmitted, moreThan, openLoad, openNode, openNodes, passes } from "../../../test/support/redis-limiter.ts";
import { type RedisProcess, startRedis } from "../../../test/support/redis-process.ts";
import { until } from "../../../test/support/until.ts";
import type { Limiter } from "./limits.ts";
import type { Quota } from "./windows.ts";

const quota: Quota = { perMinute: 3_000, perDay: 100_000 };
const accountKey = "petstore:limits:account:1";

/** Starts a Redis with a client that may do anything, and nodes. */
async function openScene(t: TestContext, count: number) {
  const redis = await startRedis({ settings: ["--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0"] });
  t.after(() => redis.remove());
  const admin = adminOf(t, redis);
  const scene = await openNodes(t, redis.url, count, { answerMs: 2_000 });
  return { redis, admin, ...scene };
}

function adminOf(t: TestContext, { url }: RedisProcess): Redis {
  const admin = new Redis(url, { retryStrategy: () => 50 });
  admin.on("error", () => undefined);
  t.after(() => admin.disconnect());
  return admin;
}

type Scene = Awaited<ReturnType<typeof openScene>>;
type Load = ReturnType<typeof openLoad>;

/** Faults that make Redis forget requests that it has answered. Each resolves once nodes can have noticed. */
const faults: Record<string, (t: TestContext, scene: Scene, running: Load) => Promise<unknown>> = {
  "FLUSHALL while connections stay open": (_t, { admin }) => admin.flushall(),
  "FLUSHALL twice in a row": async (_t, { admin, nodes }) => {
    await admin.flushall();
    await until(() => nodes.some(({ log }) => log.lines.length > 0));
    await admin.flushall();
  },
  "DEL of the account's count": (_t, { admin }) => admin.del(accountKey),
  "DEL of the counts of scripts": async (_t, { admin }) => admin.del(...(await admin.keys("petstore:limits:runs:*"))),
  "an older copy that is loaded while connections stay open": async (_t, { admin }, running) => {
    await admin.save();
    await moreThan(running, 300);
    await admin.call("DEBUG", "RELOAD", "NOSAVE");
  },
  "a restart with an older copy": async (_t, { admin, redis }, running) => {
    await admin.save();
    await moreThan(running, 300);
    await redis.stop();
    await redis.start();
  },
  "a replica that lags behind and is promoted": async (t, { redis, nodes }, running) => {
    const replica = await startRedis();
    t.after(() => replica.remove());
    const replication = await openLine(redis.url);
    t.after(() => replication.close());
    const admin = adminOf(t, replica);
    await admin.replicaof("127.0.0.1", Number(new URL(replication.url).port));
    await until(async () => (await admin.exists(accountKey)) === 1);
    replication.cut();
    await moreThan(running, 300);
    await redis.stop();
    for (const { line } of nodes) line.leadTo(replica.url);
    await admin.replicaof("NO", "ONE");
  },
};

for (const [name, fault] of Object.entries(faults)) {
  for (const count of [1, 3]) {
    test(`${name}: ${count === 1 ? "one node admits" : "three nodes together admit"} exactly the quota`, async (t) => {
      const scene = await openScene(t, count);
      const running = openLoad(scene.limiters, quota);
      await moreThan(running, 300);
      await fault(t, scene, running);
      await until(() => scene.nodes.every(({ log }) => log.lines.length > 0));
      assertAdmitted(await running.stop(), quota.perMinute, count);
      const lines = scene.nodes.map(({ log }) => log.lines.map((line) => line.slice(0, 30)));
      for (const [first, last] of lines.map((all) => [all[0], all.at(-1)])) {
        assert.match(first!, /^warn Redis (has lost counts|cannot be reached)/);
        assert.match(last!, /^info Redis answers again/);
      }
    });
  }
}

test("a node that sent nothing itself restores the counts that the others have reported", async (t) => {
  const { admin, limiters } = await openScene(t, 3);
  assert.equal(await passes(limiters.slice(0, 1), 2_000, quota), 2_000);
  await limiters[1]!.peekAccount(99, quota);
  await limiters[0]!.close();
  await admin.flushall();
  assert.ok((await passes(limiters.slice(1, 2), 1_500, quota)) <= 333, "its share of what is left");
  await until(() => areShared(limiters.slice(1)));
  assert.equal(quota.perMinute - (await limiters[2]!.peekAccount(1, quota)).minuteRemaining, 2_333);
});

test("bans that nodes know are restored", async (t) => {
  const { admin, limiters } = await openScene(t, 1);
  const [limiter] = limiters as [Limiter];
  for (let i = 0; i < 82; i++) await limiter.account(2, 7, free);
  const ban = await admin.get("petstore:limits:ban:7");
  await admin.flushall();
  await until(async () => (await admin.get("petstore:limits:ban:7")) === ban); // the loss itself may be over before anyone looks
  assert.equal((await limiter.account(2, 7, free)).verdict, "key_banned");
});

test("eviction of counts admits no more than the quota", async (t) => {
  const { admin, limiters } = await openScene(t, 3);
  await admin.config("SET", "maxmemory-policy", "allkeys-random");
  const running = openLoad(limiters, quota);
  await moreThan(running, 300);
  const limit = Number(/used_memory:(\d+)/.exec(await admin.info("memory"))![1]) + 300_000;
  await admin.config("SET", "maxmemory", String(limit));
  for (let i = 0; (await admin.exists(accountKey)) === 1; i++) await admin.set(`filler:${i}`, "x".repeat(10_000));
  await admin.config("SET", "maxmemory", "0");
  assertAdmitted(await running.stop(), quota.perMinute, limiters.length);
});

test("a process that starts while counts are being restored waits until they are complete", async (t) => {
  const { redis, admin, limiters, nodes } = await openScene(t, 2);
  assert.equal(await passes(limiters, 1_500, quota), 3_000);
  for (const { line } of nodes) line.cut();
  await admin.flushall();
  const late = await openNode(redis.url, { liveNodes: () => 3 });
  t.after(() => late.close());
  assert.equal(late.mode(), "alone");
  assert.ok((await passes([late], 1_500, quota)) <= 1_000, "at most a share");
  for (const { line } of nodes) line.mend();
  await until(() => areShared([...limiters, late]));
  assert.equal((await late.account(1, 1, quota)).verdict, "rate_limit_exceeded");
});
