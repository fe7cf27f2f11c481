import assert from "node:assert/strict";
import { on } from "node:events";
import { mkdtempSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ServiceOptions } from "../src/app/service.ts";
import { newDatabase } from "./support/postgres.ts";
import { startRedis } from "./support/redis-process.ts";
import { createAccount, startServer, type StartedServer } from "./support/process.ts";
import { until } from "./support/until.ts";
import { ask, startService, type Reply, type TestService } from "./support/service.ts";

const noon = Date.UTC(2026, 5, 15, 12);
const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;

type Account = {
  plan: string;
  minute: { limit: number; used: number; remaining: number };
  day: { limit: number; used: number };
  key: { id: number; strikes: number; strikesRemaining: number };
  bans: { keyId: number; until: string }[];
};

async function openScene(t: TestContext, env: Record<string, string> = {}, redis?: ServiceOptions["redis"]) {
  const time = { now: noon };
  const service = await startService({ clock: () => time.now, env, redis });
  t.after(() => service.close());
  return { time, service };
}

const list = (service: TestService, key: string) => service.ask("GET", "/categories", { key });
const remaining = (reply: Reply) => Number(reply.headers.get("x-ratelimit-remaining"));
const codeOf = (reply: Reply) => (reply.body as { code?: string }).code;

/** Sends requests in sequence until a response has this code, and returns that response. */
async function askUntil(service: TestService, key: string, code: string): Promise<Reply> {
  for (let i = 0; i < 1_000; i++) {
    const reply = await list(service, key);
    if (codeOf(reply) === code) return reply;
  }
  return assert.fail(`1,000 requests brought no ${code}`);
}

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

test("each further ban within 24 hours lasts twice as long, at most an hour; a later one starts at 5 minutes again", async (t) => {
  const { time, service } = await openScene(t);
  const { key } = await service.newAccount("enterprise", { perMinute: 1, perDay: 1_000_000 });
  const banSeconds = async () => {
    time.now += minuteMs;
    return Number((await askUntil(service, key, "key_banned")).headers.get("retry-after"));
  };
  for (const seconds of [300, 600, 1_200, 2_400, 3_600, 3_600]) {
    assert.equal(await banSeconds(), seconds);
    time.now += seconds * secondMs;
  }
  time.now += 24 * hourMs;
  assert.equal(await banSeconds(), 300);
});

test("a ban ends on the second, and requests during it use no quota and add no strikes", async (t) => {
  const { time, service } = await openScene(t);
  const { id, key } = await service.newAccount("free");
  const other = await service.administration["keys.create"]({ account: id, scopes: ["account:read"] });
  const reply = await askUntil(service, key, "key_banned");
  assert.equal(reply.headers.get("x-ratelimit-strikes-remaining"), "0");
  for (let i = 0; i < 30; i++) assert.equal((await list(service, key)).status, 429);
  time.now += 5 * minuteMs - 1;
  assert.equal(codeOf(await list(service, key)), "key_banned");
  const { body } = await service.ask<Account>("GET", "/account", { key: other.key });
  assert.equal(body.day.used, 61);
  time.now += 1;
  assert.equal((await list(service, key)).status, 200);
});

test("an account sees its bans with another key, and keys unban ends one at once", async (t) => {
  const { service } = await openScene(t);
  const { id, key } = await service.newAccount("enterprise", { perMinute: 5, perDay: 1_000 });
  const other = await service.administration["keys.create"]({ account: id });
  const stranger = await service.newAccount("free");
  await askUntil(service, key, "key_banned");
  const agreed = { plan: "enterprise", perMinute: 100, perDay: 1_000 };
  await service.administration["accounts.setPlan"]({ id, ...agreed });

  const account = (asked: string) => service.ask<Account>("GET", "/account", { key: asked });
  const { keys } = await service.administration["keys.list"]({ account: id });
  const [bannedKey] = keys;
  assert.deepEqual((await account(other.key)).body.bans, [{ keyId: bannedKey?.id, until: "2026-06-15T12:05:00Z" }]);
  assert.deepEqual((await account(stranger.key)).body.bans, []);

  assert.equal((await service.administration["keys.unban"]({ id: bannedKey?.id })).unbanned, true);
  assert.equal((await list(service, key)).status, 200);
  assert.deepEqual((await account(other.key)).body.bans, []);
  assert.equal((await account(key)).body.key.strikes, 0);
});

test("a used-up day refuses requests until midnight UTC, even if the minute has some left", async (t) => {
  const { time, service } = await openScene(t);
  const { key } = await service.newAccount("enterprise", { perMinute: 100, perDay: 10 });
  for (let i = 0; i < 10; i++) assert.equal((await list(service, key)).status, 200);
  const refused = await list(service, key);
  assert.equal(codeOf(refused), "rate_limit_exceeded");
  assert.equal(refused.headers.get("retry-after"), String(12 * 3_600));
  assert.equal(refused.headers.get("x-ratelimit-limit"), "10");
  time.now = Date.UTC(2026, 5, 16) - 1;
  assert.equal((await list(service, key)).status, 429);
  time.now += 1;
  assert.equal((await list(service, key)).status, 200);
});

test("a clock that jumps an hour forward and back grants no window twice and locks nobody out", async (t) => {
  const { time, service } = await openScene(t);
  const { key } = await service.newAccount("free");
  for (let i = 0; i < 60; i++) await list(service, key);
  time.now += hourMs;
  assert.equal((await list(service, key)).status, 200);
  time.now -= hourMs;
  assert.equal((await list(service, key)).status, 429);
  time.now += minuteMs;
  assert.equal((await list(service, key)).status, 200);
});

test("thousands of addresses are counted separately and do not affect a valid key", async (t) => {
  const { service } = await openScene(t, { TRUSTED_PROXIES: "127.0.0.1" });
  const from = (address: string) => ask(`${service.address}/v1/pets`, "GET", { headers: { "x-forwarded-for": address } });
  for (let block = 0; block < 50; block++) {
    const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => from(`203.0.${block}.${i}`)));
    for (const reply of replies) assert.deepEqual([reply.status, remaining(reply)], [401, 59]);
  }
  for (let i = 0; i < 59; i++) assert.equal((await from("203.0.0.0")).status, 401);
  const limited = await from("203.0.0.0");
  assert.equal(codeOf(limited), "rate_limit_exceeded");
  assert.equal((await from("203.0.0.1")).status, 401);
  const good = await service.ask("GET", "/categories", { headers: { "x-forwarded-for": "203.0.0.0" } });
  assert.equal(good.status, 200);
});

test("an address has one window whatever port a proxy adds to it, and an invalid address counts on the proxy", async (t) => {
  const { service } = await openScene(t, { TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8" });
  const left = async (forwarded: string) =>
    remaining(await ask(`${service.address}/v1/pets`, "GET", { headers: { "x-forwarded-for": forwarded } }));
  const addresses = ["203.0.113.1:4711", "203.0.113.1", "203.0.113.1:4712", "203.0.113.1:4713, 10.0.0.1:99"];
  for (const [i, one] of addresses.entries()) assert.equal(await left(one), 59 - i, one);
  for (const [i, one] of ["[2001:db8::1]:80", "2001:db8::2", "[2001:db8::3]"].entries()) assert.equal(await left(one), 59 - i, one);
  for (const [i, one] of ["unknown", "203.0.113.300", "x".repeat(99), "203.0.113.9, nonsense"].entries()) {
    assert.equal(await left(one), 59 - i, one);
  }
  assert.equal(await left("nonsense, 10.0.0.1"), 59, "the nearest proxy that names something is 10.0.0.1");
  assert.equal(await left("203.0.113.9"), 59);
});

test("an invalid key gets 401 while its address has requests left, and then a 429 that says a valid key is needed", async (t) => {
  const { service } = await openScene(t, { TRUSTED_PROXIES: "127.0.0.1" });
  const send = () =>
    service.ask<{ code: string; message: string }>("GET", "/pets", { key: "psk_typo", headers: { "x-forwarded-for": "203.0.113.1" } });
  for (let i = 0; i < 60; i++) assert.equal((await send()).body.code, "unauthorized");
  const { status, body, headers } = await send();
  assert.deepEqual([status, body.code, headers.get("x-ratelimit-strikes-remaining")], [429, "rate_limit_exceeded", null]);
  assert.match(body.message, /valid API key/);
});

test("with a shared Redis, of concurrent requests to two nodes exactly as many pass as are left", async (t) => {
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

test("while Redis is unreachable each node decides alone, and /metrics says so and counts those requests", async (t) => {
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
});

test("three nodes of one database that lose Redis admit a quota once together, and each reports it", async (t) => {
  const redis = await startRedis();
  t.after(() => redis.remove());
  const database = await newDatabase();
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
  assert.equal(await passes(6), 6);
  await redis.stop();
  for (const node of nodes) await until(async () => (await line(node, 'petstore_limiter_mode\\{mode="alone"\\}')) === "1");
  assert.equal(await passes(120), 54);
  for (const node of nodes) assert.equal(await line(node, "petstore_limiter_local_decisions_total"), "40");
});

test("a kill loses at most the last second of counting", async (t) => {
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
