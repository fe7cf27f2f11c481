import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Redis } from "iovalkey";
import { free } from "../../../test/support/limits-contract.ts";
import { openLine } from "../../../test/support/line.ts";
import {
  areShared,
  assertAdmitted,
  moreThan,
  newNode,
  openLoad,
  openNodes,
  passes,
  requestFromEach,
} from "../../../test/support/redis-limiter.ts";
import { type RedisProcess, startRedis } from "../../../test/support/redis-process.ts";
import { until } from "../../../test/support/until.ts";
import type { Limiter } from "./limits.ts";
import { unbanInRedis } from "./redis.ts";
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
      for (const { log } of scene.nodes) {
        assert.match(log.lines[0]!, /^warn Redis (has lost counts|cannot be reached)/);
        await until(() => log.lines.at(-1)!.startsWith("info Redis answers again"));
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

/** Ways to lose all or the newest counts, at a moment when the nodes cannot reach Redis. */
const unseenLosses: Record<string, (scene: Scene) => Promise<unknown>> = {
  "has been emptied": ({ admin }) => admin.flushall(),
  "has restarted empty": async ({ redis }) => (await redis.stop(), redis.start()),
  "has restarted with an older copy": async ({ redis }) => (await redis.stop(), redis.start()),
};

for (const [name, lose] of Object.entries(unseenLosses)) {
  test(`a process that starts when Redis ${name} decides nothing until the other nodes have restored their counts`, async (t) => {
    const scene = await openScene(t, 2);
    const { redis, admin, limiters, nodes } = scene;
    if (name.includes("older")) await admin.save();
    assert.equal(await passes(limiters, 1_500, quota), 3_000);
    for (const { line } of nodes) line.cut();
    await lose(scene);
    const late = newNode(redis.url, { liveNodes: () => 3 });
    t.after(() => late.close());
    assert.equal((await late.account(1, 1, quota)).verdict, "unavailable");
    const joined = late.join();
    await until(async () => (await admin.get("petstore:limits:beats")) !== null);
    const early = await requestFromEach([late], 1_500, quota);
    assert.deepEqual(new Set(early.map(({ verdict }) => verdict)), new Set(["unavailable"]));
    for (const { line } of nodes) line.mend();
    await joined;
    assert.equal(await passes([...limiters, late], 1_500, quota), 0);
    await until(() => areShared([...limiters, late]));
  });
}

test("a node that puts many counts back is waited for as long as it makes progress", async (t) => {
  let live = 1; // at first no node reports to another
  const once: Quota = { perMinute: 1, perDay: 1 };
  const redis = await startRedis();
  t.after(() => redis.remove());
  const { limiters, nodes } = await openNodes(t, redis.url, 2, { answerMs: 10_000, liveNodes: () => live });
  const [knowing, other] = limiters as [Limiter, Limiter];
  const accounts = Array.from({ length: 9_900 }, (_, id) => id);
  const ask = async (limiter: Limiter) => Promise.all(accounts.map(async (id) => limiter.account(id, id, once)));
  assert.ok((await ask(knowing)).every(({ verdict }) => verdict === "pass"));
  live = 2;
  nodes[0]!.line.delay(220); // 20 pieces take longer than a node waits for one that does nothing
  await adminOf(t, redis).flushall();
  await until(() => !areShared([knowing]) && !areShared([other]));
  await until(() => areShared([other]));
  assert.ok((await ask(other)).every(({ verdict }) => verdict === "rate_limit_exceeded"));
});

test("a node that started later admits only its share of what the others had left of the day, and knows their bans", async (t) => {
  const daily: Quota = { perMinute: 100_000, perDay: 3_000 };
  const { redis, limiters, nodes } = await openScene(t, 1);
  await passes(limiters, 2_900, daily);
  for (let i = 0; i < 82; i++) await limiters[0]!.account(2, 7, free);
  const late = await openNodes(t, redis.url, 1, { liveNodes: () => 2 });
  await redis.stop();
  await until(() => [...nodes, ...late.nodes].every(({ log }) => log.lines.length > 0));
  assert.equal(await passes(late.limiters, 200, daily), 50);
  assert.equal((await late.limiters[0]!.account(2, 7, free)).verdict, "key_banned");
});

test("a node that was away learns when it is back what the others counted, and which bans they deleted", async (t) => {
  const { redis, limiters, nodes } = await openScene(t, 2);
  const [away, present] = limiters as [Limiter, Limiter];
  for (let i = 0; i < 82; i++) await away.account(2, 7, free);
  nodes[0]!.line.cut();
  await until(async () => (await away.account(3, 3, quota), !areShared([away])));
  assert.equal(await passes([present], 2_900, quota), 2_900);
  assert.equal(await present.unban(7), true);
  nodes[0]!.line.mend();
  await until(() => areShared(limiters));
  await redis.stop();
  await until(() => nodes.every(({ log }) => log.lines.at(-1)?.startsWith("warn") === true));
  assert.equal(await passes([away], 200, quota), 50);
  assert.notEqual((await away.account(2, 7, free)).verdict, "key_banned");
});

test("a ban that another node deletes no longer holds without Redis for the keys that the banned key made", async (t) => {
  const { redis, limiters, nodes } = await openScene(t, 2);
  const [first, second] = limiters as [Limiter, Limiter];
  for (let i = 0; i < 82; i++) await first.account(2, 7, free);
  assert.equal((await second.account(2, 8, free, [7])).verdict, "key_banned");
  assert.equal(await first.unban(7), true);
  for (let i = 0; i < 2; i++) await Promise.all(limiters.map(async (limiter) => limiter.peekAccount(1, quota))); // the message has arrived
  await redis.stop();
  await until(() => nodes.every(({ log }) => log.lines.length > 0));
  assert.notEqual((await second.account(2, 8, free, [7])).verdict, "key_banned");
});

for (const by of ["another node", "the command"]) {
  test(`a ban that ${by} deletes is gone from the memory of a node: it neither holds without Redis nor is restored`, async (t) => {
    const { redis, admin, limiters, nodes } = await openScene(t, 2);
    const [first, second] = limiters as [Limiter, Limiter];
    for (let i = 0; i < 82; i++) await first.account(2, 7, free);
    assert.equal((await second.account(2, 7, free)).verdict, "key_banned");
    assert.equal(by === "the command" ? await unbanInRedis({ url: redis.url, ca: undefined }, 7) : await first.unban(7), true);
    for (let i = 0; i < 2; i++) await Promise.all(limiters.map(async (limiter) => limiter.peekAccount(1, quota))); // the message has arrived
    await admin.flushall();
    await until(() => nodes.every(({ log }) => log.lines.length > 0));
    await until(() => areShared(limiters));
    assert.equal(await admin.exists("petstore:limits:ban:7"), 0);
    await redis.stop();
    await until(() => nodes.every(({ log }) => log.lines.at(-1)?.startsWith("warn") === true));
    assert.notEqual((await second.account(2, 7, free)).verdict, "key_banned");
  });
}
