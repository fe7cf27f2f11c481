import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { after, before, test } from "node:test";
import { Redis } from "iovalkey";
import { systemClock } from "../../platform/clock.ts";
import { limiterContract, free, noon } from "./limits.contract.ts";
import { modelProperty } from "./limits.model.ts";
import { type RedisProcess, startRedis } from "../../../test/support/redis-process.ts";
import { openRedisLimiter, type RedisLimiterOptions } from "./redis.ts";

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

/** A log that is an emitter of its lines, and keeps them. */
function openLog() {
  const events = new EventEmitter();
  const lines: string[] = [];
  const write = (level: string) => (fields: object, text: string) => {
    lines.push(`${level} ${text} ${JSON.stringify(fields)}`);
    events.emit(level);
  };
  return { lines, events, info: write("info"), warn: write("warn") };
}

/** A node on a Redis; its answers may take long, since other tests run beside. */
function openNode(options: Partial<RedisLimiterOptions> = {}) {
  const clock = () => noon;
  return openRedisLimiter({
    url: server.url,
    addressQuota: free,
    clock,
    redisClock: clock,
    log: openLog(),
    answerMs: 10_000,
    silentMs: 10_000,
    ...options,
  });
}

limiterContract("in Redis", "shared", async (clock) => {
  await admin.flushall();
  return openNode({ clock, redisClock: clock });
});
modelProperty(
  "in Redis",
  async (clock) => {
    await admin.flushall();
    return openNode({ clock, redisClock: clock });
  },
  40,
);

test("of many simultaneous requests at several nodes exactly those left pass", async (context) => {
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

test("a node that starts anew goes on with what is counted, and a ban holds on every node", async (context) => {
  await admin.flushall();
  const first = await openNode();
  for (let i = 0; i < 81; i++) await first.account(1, 1, free);
  await first.close();
  const second = await openNode();
  context.after(() => second.close());
  assert.equal((await second.account(1, 1, free)).verdict, "key_banned");
  assert.equal((await second.account(1, 2, free)).verdict, "rate_limit_exceeded");
});

test("the time is Redis' own", async (context) => {
  await admin.flushall();
  const limiter = await openRedisLimiter({
    url: server.url,
    addressQuota: free,
    clock: () => noon,
    log: openLog(),
    answerMs: 10_000,
    silentMs: 10_000,
  });
  context.after(() => limiter.close());
  const [earlier] = await admin.time();
  const { reset } = await limiter.account(1, 1, free);
  const [later] = await admin.time();
  assert.ok(reset > Number(earlier) && reset <= Number(later) + 60 && reset % 60 === 0);
});

test("whatever is kept in Redis expires by itself", async (context) => {
  await admin.flushall();
  const limiter = await openNode();
  context.after(() => limiter.close());
  for (let i = 0; i < 85; i++) await limiter.account(1, 1, free);
  await limiter.account(1, 2, free);
  for (let i = 0; i < 31; i++) await limiter.publishable(2, "192.0.2.1", free);
  await limiter.address("192.0.2.1");
  await limiter.dashboard(1);
  const keys = await admin.keys("*");
  assert.equal(keys.length, 10);
  for (const key of keys) {
    const seconds = await admin.ttl(key);
    assert.ok(seconds > 0 && seconds <= 26 * 3600, `${key} ${seconds}`);
  }
});

test("a Redis that has forgotten the script is given it again", async (context) => {
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

test("while Redis does not answer a node counts alone, says it once, and joins again with what Redis has", async (context) => {
  const paused = await startRedis();
  context.after(() => paused.remove());
  const log = openLog();
  const limiter = await openNode({ url: paused.url, log, answerMs: 40, silentMs: 100 });
  context.after(() => limiter.close());
  while (limiter.mode() !== "shared") await once(log.events, "info");
  for (let i = 0; i < 10; i++) await limiter.account(1, 1, free);
  assert.equal(limiter.mode(), "shared");

  paused.pause();
  const lost = once(log.events, "warn");
  const alone = await Promise.all(Array.from({ length: 100 }, async () => limiter.account(1, 1, free)));
  assert.equal(alone.filter(({ verdict }) => verdict === "pass").length, 60);
  await lost;
  assert.equal(limiter.mode(), "alone");
  assert.ok(!(limiter.account(2, 2, free) instanceof Promise), "a node that counts alone waits for nothing");
  await assert.rejects(async () => limiter.unban(1), { code: "unavailable" });

  paused.resume();
  await once(log.events, "info");
  assert.equal(limiter.mode(), "shared");
  assert.deepEqual(
    log.lines.map((line) => line.split(" ")[0]),
    ["warn", "info"],
  );
  const known = await limiter.peekAccount(1, free);
  assert.ok(known.remaining <= 50, "what was counted before is still counted");
});

test("a Redis that is merely late is kept: what it cannot answer in time is decided without it", async (context) => {
  const slow = await startRedis();
  context.after(() => slow.remove());
  const log = openLog();
  const limiter = await openNode({ url: slow.url, log, answerMs: 40 });
  context.after(() => limiter.close());
  while (limiter.mode() !== "shared") await once(log.events, "info");
  log.lines.length = 0;
  slow.pause();
  const decisions = await Promise.all(Array.from({ length: 70 }, async () => limiter.account(1, 1, free)));
  assert.equal(decisions.filter(({ verdict }) => verdict === "pass").length, 60);
  slow.resume();
  assert.equal((await limiter.account(2, 2, free)).remaining, 59);
  assert.equal(limiter.mode(), "shared");
  assert.deepEqual(log.lines, []);
});

test("requests of one turn share one question to Redis, and are decided in their order", async (context) => {
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
  assert.match(await admin.info("commandstats"), /cmdstat_evalsha:calls=1,/);
});

test("a node outlives the loss of Redis and its return", async (context) => {
  const lost = await startRedis();
  context.after(() => lost.remove());
  const log = openLog();
  const limiter = await openNode({ url: lost.url, log });
  context.after(() => limiter.close());
  await limiter.account(1, 1, free);
  const gone = once(log.events, "warn");
  await lost.stop();
  assert.equal((await limiter.account(1, 1, free)).verdict, "pass");
  await gone;
  assert.equal(limiter.mode(), "alone");
  const back = once(log.events, "info");
  await lost.start();
  await back;
  assert.equal((await limiter.account(1, 1, free)).remaining, 59);
});

test("Redis may be absent at the start", async (context) => {
  const late = await startRedis();
  context.after(() => late.remove());
  await late.stop();
  const log = openLog();
  const limiter = await openNode({ url: late.url, log, clock: systemClock });
  context.after(() => limiter.close());
  assert.equal(limiter.mode(), "alone");
  assert.equal((await limiter.account(1, 1, free)).remaining, 59);
  const back = once(log.events, "info");
  await late.start();
  await back;
  assert.equal(limiter.mode(), "shared");
});

test("wrong credentials are said in one line that does not show them", async (context) => {
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
