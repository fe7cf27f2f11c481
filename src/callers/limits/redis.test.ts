import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { Redis } from "iovalkey";
import { callersContract } from "../../../test/support/limits-callers-contract.ts";
import { limiterContract, free, noon } from "../../../test/support/limits-contract.ts";
import { givingBackContract } from "../../../test/support/limits-giving-back-contract.ts";
import { modelProperty } from "../../../test/support/limits-model.ts";
import { openLog, openNode as openNodeOn } from "../../../test/support/redis-limiter.ts";
import { type RedisProcess, startRedis } from "../../../test/support/redis-process.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Limiter } from "./limits.ts";
import { openMemoryLimiter } from "./memory.ts";
import { RedisConnector } from "./redis.server.ts";
import type { RedisLimiterOptions } from "./redis.ts";

let server: RedisProcess;
let admin: Redis;
before(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
});
after(async () => {
  admin.disconnect();
  await server.remove();
});

const openNode = (options: Partial<RedisLimiterOptions> = {}) => openNodeOn(server.url, options);

async function openEmpty(clock: Clock) {
  await admin.flushall();
  return openNode({ clock, redisClock: clock });
}
limiterContract("in Redis", "shared", openEmpty);
callersContract("in Redis", "shared", openEmpty);
givingBackContract("in Redis", openEmpty);
modelProperty("in Redis", openEmpty, 40);

test("of many simultaneous requests to several nodes, exactly the quota passes", async (context) => {
  await admin.flushall();
  const nodes = await Promise.all([openNode(), openNode(), openNode()]);
  context.after(() => nodes.forEach((node) => void node.close()));
  const decisions = await Promise.all(Array.from({ length: 300 }, async (_, i) => nodes[i % 3]!.account(1, i % 30, free)));
  const remaining = decisions.filter(({ verdict }) => verdict === "pass").map((decision) => decision.remaining);
  assert.deepEqual(
    remaining.toSorted((a, b) => b - a),
    Array.from({ length: 60 }, (_, i) => 59 - i),
  );
});

test("a node that restarts continues with the counts in Redis, and a ban holds on every node", async (context) => {
  await admin.flushall();
  const first = await openNode();
  for (let i = 0; i < 81; i++) await first.account(1, 1, free);
  await first.close();
  const second = await openNode();
  context.after(() => second.close());
  assert.equal((await second.account(1, 1, free)).verdict, "key_banned");
  assert.equal((await second.account(1, 2, free)).verdict, "rate_limit_exceeded");
});

test("the limiter uses the clock of Redis", async (context) => {
  await admin.flushall();
  const limiter = await openNode({ redisClock: undefined });
  context.after(() => limiter.close());
  const [earlier] = await admin.time();
  const { reset } = await limiter.account(1, 1, free);
  const [later] = await admin.time();
  assert.ok(reset > Number(earlier) && reset <= Number(later) + 60 && reset % 60 === 0);
});

test("everything in Redis expires", async (context) => {
  await admin.flushall();
  const limiter = await openNode();
  context.after(() => limiter.close());
  for (let i = 0; i < 85; i++) await limiter.account(1, 1, free);
  await limiter.account(1, 2, free);
  for (let i = 0; i < 31; i++) await limiter.publishable(2, "192.0.2.1", free);
  await limiter.address("192.0.2.1");
  await limiter.dashboard(1);
  const keys = await admin.keys("*");
  assert.equal(keys.length, 15);
  for (const key of keys) {
    const seconds = await admin.ttl(key);
    assert.ok(seconds > 0 && seconds <= 26 * 3600, `${key} ${seconds}`);
  }
});

test("a node loads the script again if Redis has lost it", async (context) => {
  await admin.flushall();
  const limiter = await openNode();
  context.after(() => limiter.close());
  await limiter.account(1, 1, free);
  await admin.script("FLUSH");
  const decisions = await Promise.all([limiter.account(1, 1, free), limiter.account(1, 1, free)]);
  assert.deepEqual(
    decisions.map(({ remaining }) => remaining),
    [58, 57],
  );
  assert.equal(limiter.mode(), "shared");
});

test("up to 32 requests of one turn of the event loop share one script run, and are decided in order", async (context) => {
  await admin.flushall();
  const limiter = await openNode();
  context.after(() => limiter.close());
  await limiter.account(9, 9, free);
  await admin.config("RESETSTAT");
  const decisions = await Promise.all(Array.from({ length: 64 }, async (_, i) => limiter.account(1 + (i % 2), i, free)));
  assert.deepEqual(
    decisions.map(({ remaining }) => remaining),
    Array.from({ length: 64 }, (_, i) => 59 - Math.floor(i / 2)),
  );
  assert.match(await admin.info("commandstats"), /cmdstat_evalsha:calls=2,/);
});

/** A request of any kind. The first key of an account may be the maker of its others. */
const anyCall = fc
  .record({ account: fc.nat(3), key: fc.constantFrom(0, 0, 0, 0, 1, 2), visitor: fc.nat(3), kind: fc.nat(9), hasMaker: fc.boolean() })
  .map(({ account, key, visitor, kind, hasMaker }) => (limiter: Limiter, at: number) => {
    const [keyId, address] = [account * 10 + key, `192.0.2.${visitor}`];
    const quota = [free, { perMinute: 12, perDay: 30 }, { perMinute: 5, perDay: Infinity }, { perMinute: 0, perDay: 9 }][account]!;
    const makers = hasMaker && key > 0 ? [account * 10] : [];
    if (kind < 5) return limiter.account(account, keyId, quota, makers);
    if (kind < 7) return limiter.publishable(account, address, quota);
    if (kind === 7) return limiter.address(address);
    return kind === 8
      ? limiter.strikeStatus(account, keyId, quota, makers)
      : limiter.giveBack({ accountId: account, quota, visitor: address }, at);
  });

test("requests of all kinds and several accounts that Redis decides together get the answers that they would get one by one", async () => {
  const wait = fc.constantFrom(0, 1, 999, 20_000, 60_000, 300_000, 86_400_000);
  const burst = fc.tuple(anyCall, fc.integer({ min: 1, max: 25 })).map(([call, times]) => Array.from({ length: times }, () => call));
  const calls = fc.array(burst, { minLength: 2, maxLength: 12, size: "max" }).map((bursts) => bursts.flat());
  const batches = fc.array(fc.tuple(wait, calls), { minLength: 4, maxLength: 8, size: "max" });
  const property = fc.asyncProperty(batches, async (course) => {
    const time = { now: noon };
    const together = await openEmpty(() => time.now);
    const oneByOne = openMemoryLimiter({ clock: () => time.now, addressQuota: free });
    for (const [waitMs, sent] of course) {
      time.now += waitMs;
      const answers = await Promise.all(sent.map(async (call) => call(together, time.now)));
      assert.deepEqual(
        answers,
        sent.map((call) => call(oneByOne, time.now)),
      );
    }
    await together.close();
  });
  await fc.assert(property, { numRuns: 15 });
});

test("requests are decided even if their keys have more makers than one command could read bans of", async (context) => {
  await admin.flushall();
  const limiter = await openNode();
  context.after(() => limiter.close());
  const makers = Array.from({ length: 400 }, (_, i) => 1_000 + i);
  const decisions = await Promise.all(Array.from({ length: 32 }, async (_, i) => limiter.account(1, i, free, makers)));
  assert.deepEqual(
    decisions.map(({ remaining }) => remaining),
    Array.from({ length: 32 }, (_, i) => 59 - i),
  );
  assert.equal(limiter.mode(), "shared");
});

test("counts, strikes and bans have the form that nodes of earlier versions read and write", async (context) => {
  await admin.flushall();
  const [minute, day] = [noon / 60_000, Math.floor(noon / 86_400_000)];
  const meter = (...figures: number[]) => Buffer.from(new Uint32Array(figures).buffer);
  await admin.set("petstore:limits:account:1", meter(59, 200, minute, day, minute - 1, 60, day - 1, 900));
  await admin.rpush("petstore:limits:strikes:7", ...Array.from({ length: 20 }, (_, i) => noon - 100 + i));
  await admin.set("petstore:limits:ban:8", `${noon - 60_000} 300000`);
  const limiter = await openNode();
  context.after(() => limiter.close());
  const last = await limiter.account(1, 7, free);
  assert.deepEqual([last.verdict, last.minuteRemaining, last.dayRemaining], ["pass", 0, 799]);
  assert.equal((await limiter.account(1, 9, free)).strikesRemaining, 19);
  assert.equal((await limiter.account(1, 7, free)).retryAfterSeconds, 300);
  assert.equal((await limiter.account(1, 8, free)).retryAfterSeconds, 240);
  assert.deepEqual(await admin.getBuffer("petstore:limits:account:1"), meter(60, 201, minute, day, minute - 1, 60, day - 1, 900));
  assert.equal(await admin.get("petstore:limits:ban:7"), `${noon} 300000`);
  assert.deepEqual(await admin.lrange("petstore:limits:strikes:9", 0, -1), [`${noon}`]);
});

test("Redis may be absent at the start", async (context) => {
  const late = await startRedis();
  context.after(() => late.remove());
  await late.stop();
  const log = openLog();
  const limiter = await openNode({ url: late.url, log });
  context.after(() => limiter.close());
  assert.equal(limiter.mode(), "alone");
  assert.equal((await limiter.account(1, 1, free)).remaining, 59);
  const back = once(log.events, "info");
  await late.start();
  await back;
  assert.equal(limiter.mode(), "shared");
  assert.equal((await limiter.account(1, 1, free)).remaining, 58);
});

test("wrong credentials are logged in one line that does not show them", async (context) => {
  const guarded = await startRedis({ password: "correct-horse" });
  context.after(() => guarded.remove());
  const log = openLog();
  const limiter = await openNode({ url: guarded.url.replace("correct-horse", "wrong-battery"), log });
  context.after(() => limiter.close());
  assert.equal(limiter.mode(), "alone");
  assert.equal(log.lines.length, 1);
  assert.match(log.lines[0]!, /WRONGPASS/);
  assert.doesNotMatch(log.lines[0]!, /wrong-battery/);
  const right = await openNode({ url: guarded.url });
  context.after(() => right.close());
  assert.equal(right.mode(), "shared");
});

test("a second error of a closing Redis socket does not end the process, and the first error stays the reason", async () => {
  const connector = new RedisConnector({ host: "127.0.0.1", port: "1" });
  const stream = await connector.connect();
  await new Promise((resolve) => stream.once("close", resolve));
  stream.emit("error", new Error("tlsv1 alert decode error"));
  assert.equal((connector.firstError as NodeJS.ErrnoException).code, "ECONNREFUSED");
});
