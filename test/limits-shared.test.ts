import assert from "node:assert/strict";
import { on } from "node:events";
import { mkdtempSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { loggedEvents } from "./support/event-log.ts";
import { askUntil, codeOf, list, noon, openScene, remaining, type Account } from "./support/limited-requests.ts";
import { openLine } from "./support/line.ts";
import { newDatabase } from "./support/postgres.ts";
import { createAccount, startServer, type StartedServer } from "./support/process.ts";
import { startRedis } from "./support/redis-process.ts";
import { ask, engine, startService, testOnce, type TestService } from "./support/service.ts";
import { until } from "./support/until.ts";

const minuteMs = 60_000;
const hourMs = 3_600_000;

test("a restart in the middle of a minute grants no second quota, and keeps strikes and bans", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "petstore-test-"));
  const clock = () => noon;
  const before = await startService({ clock, dataDir });
  const counted = await before.newAccount("free");
  const banned = await before.newAccount("free");
  for (let i = 0; i < 50; i++) await list(before, counted.key);
  await askUntil(before, banned.key, "key_banned");
  await before.close();

  const after = await startService({ clock, dataDir });
  t.after(async () => {
    await after.close();
    rmSync(dataDir, { recursive: true });
  });
  const replies = await Promise.all(Array.from({ length: 20 }, () => list(after, counted.key)));
  assert.equal(replies.filter(({ status }) => status === 200).length, 10);
  assert.equal(codeOf(await list(after, banned.key)), "key_banned");
});

testOnce("with a shared Redis, of concurrent requests to two nodes exactly as many pass as are left", async (t) => {
  const redis = await startRedis();
  t.after(() => redis.remove());
  // Waits for a Redis that other tests slow down: no request here may be decided without it.
  const patient = { answerMs: 30_000, redisClock: () => noon };
  const open = () => openScene(t, { REDIS_URL: redis.url }, patient);
  const nodes = await Promise.all([open(), open()]);
  // Accounts and keys of both nodes have the same numbers, since each is the first of its node.
  const keys = await Promise.all(nodes.map(({ service }) => service.newAccount("enterprise", { perMinute: 60, perDay: 60 })));
  const replies = await Promise.all(Array.from({ length: 100 }, (_, i) => list(nodes[i % 2]!.service, keys[i % 2]!.key)));
  const passed = replies.filter(({ status }) => status === 200).map(remaining);
  assert.deepEqual(
    passed.toSorted((a, b) => b - a),
    Array.from({ length: 60 }, (_, i) => 59 - i),
  );
});

testOnce("while Redis is unreachable each node decides alone, and /metrics says so and counts those requests", async (t) => {
  const redis = await startRedis();
  t.after(() => redis.remove());
  await redis.stop();
  const { service } = await openScene(t, { REDIS_URL: redis.url });
  const { key } = await service.newAccount("free");
  const replies = await Promise.all(Array.from({ length: 70 }, () => list(service, key)));
  assert.equal(replies.filter(({ status }) => status === 200).length, 60);
  const metrics = await ask<string>(`${service.address}/metrics`, "GET");
  assert.match(metrics.body, /^petstore_limiter_mode\{mode="alone"\} 1$/m);
  assert.match(metrics.body, /^petstore_limiter_local_decisions_total 70$/m);
  assert.equal((await ask(`${service.address}/readyz`, "GET")).status, 200);
});

testOnce("a node that starts when Redis has just restarted empty takes requests once the others have restored their counts", async (t) => {
  const redis = await startRedis();
  t.after(() => redis.remove());
  const line = await openLine(redis.url);
  t.after(() => line.close());
  const database = await newDatabase(undefined, { migrated: true });
  t.after(database.drop);
  const open = async (url: string) =>
    (await openScene(t, { DATABASE_URL: database.url, REDIS_URL: url }, { answerMs: 30_000, redisClock: () => noon })).service;
  const first = await open(line.url);
  await open(line.url);
  const { key } = await first.newAccount("free");
  const passes = async (service: TestService) => {
    const replies = await Promise.all(Array.from({ length: 70 }, () => list(service, key)));
    return replies.filter(({ status }) => status === 200).length;
  };
  assert.equal(await passes(first), 60);
  line.cut();
  await redis.stop();
  await redis.start();
  const late = open(redis.url).then(passes);
  await Promise.race([late, sleep(2_000)]); // long enough for a start that waits for nobody
  line.mend();
  assert.equal(await late, 0);
});

testOnce("three nodes of one database that lose Redis admit a quota once together, and each reports it", async (t) => {
  const redis = await startRedis();
  t.after(() => redis.remove());
  const database = await newDatabase(undefined, { migrated: true });
  t.after(database.drop);
  const env = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  const nodes: TestService[] = [];
  for (let i = 0; i < 3; i++) nodes.push((await openScene(t, env, { answerMs: 30_000, redisClock: () => noon })).service);
  const [first] = nodes as [TestService];
  const { key } = await first.newAccount("free");
  const passes = async (times: number) => {
    const replies = await Promise.all(Array.from({ length: times }, (_, i) => list(nodes[i % 3]!, key)));
    return replies.filter(({ status }) => status === 200).length;
  };
  const line = async (node: TestService, name: string) =>
    new RegExp(`^${name} (\\d+)$`, "m").exec((await ask<string>(`${node.address}/metrics`, "GET")).body)?.[1];
  for (const node of nodes) await until(async () => (await line(node, 'petstore_limiter_mode\\{mode="shared"\\}')) === "1");
  assert.equal(await passes(6), 6);
  await redis.stop();
  for (const node of nodes) await until(async () => (await line(node, 'petstore_limiter_mode\\{mode="alone"\\}')) === "1");
  assert.equal(await passes(120), 54);
  for (const node of nodes) assert.equal(await line(node, "petstore_limiter_local_decisions_total"), "40");
});

testOnce("a kill loses at most the last second of counting", async (t) => {
  const parent = mkdtempSync(join(tmpdir(), "petstore-test-"));
  const dataDir = join(parent, "data");
  const key = await createAccount(dataDir);
  const first = await startServer(t, dataDir);
  const send = (server: StartedServer) => ask<Account>(`${server.address}/v1/account`, "GET", { key });
  const saves = watch(dataDir);
  t.after(() => saves.close());
  const nextSave = async () => {
    for await (const [, file] of on(saves, "change", { signal: AbortSignal.timeout(60_000) })) if (file === "limits.state") return;
  };
  let counted = 0;
  for (let i = 0; i < 30; i++) counted = (await send(first)).body.day.used;
  // The save in progress may miss the last requests; the one after it includes them.
  await nextSave();
  await send(first);
  await nextSave();
  await first.kill();

  const second = await startServer(t, dataDir);
  t.after(async () => {
    await second.kill();
    rmSync(parent, { recursive: true });
  });
  const { day } = (await send(second)).body;
  assert.ok(day.used > counted, `${day.used} after ${counted}`);
});

test("a limit that is reached is one event for each window and UTC hour, and each ban is one, also after a restart", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "petstore-test-"));
  const shared = engine === "postgres" ? await newDatabase(undefined, { migrated: true }) : undefined;
  const time = { now: noon };
  const start = () => startService({ clock: () => time.now, dataDir, ...(shared && { env: { DATABASE_URL: shared.url } }) });
  let service = await start();
  t.after(async () => {
    await service.close();
    await shared?.drop();
    rmSync(dataDir, { recursive: true });
  });
  const { id, key } = await service.newAccount("free");
  const found = async () => {
    await until(async () => (await loggedEvents(service.db, id)).some(({ type }) => type === "key.banned"));
    return (await loggedEvents(service.db, id)).filter(({ type }) => /^limit|banned/.test(type));
  };
  await askUntil(service, key, "key_banned");
  for (let i = 0; i < 30; i++) await list(service, key);
  const [limit, ban, ...others] = await found();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [limit!.type, limit!.data, limit!.actor],
    ["limit.reached", { id, window: "minute", limit: 60 }, { type: "system", id: null }],
  );
  assert.deepEqual([ban!.type, ban!.data], ["key.banned", { id: ban!.resource.id, bannedUntil: "2026-06-15T12:05:00Z" }]);
  await service.close();
  service = await start();
  time.now += 2 * minuteMs;
  for (let i = 0; i < 5; i++) await list(service, key);
  assert.equal((await found()).length, 2, "another process does not repeat it");
  time.now += 5 * minuteMs;
  await askUntil(service, key, "key_banned");
  await until(async () => (await found()).length === 3);
  time.now += hourMs;
  await askUntil(service, key, "rate_limit_exceeded");
  await until(async () => (await found()).length === 4);
  assert.deepEqual(
    (await found()).map(({ type }) => type),
    ["limit.reached", "key.banned", "key.banned", "limit.reached"],
  );
});
