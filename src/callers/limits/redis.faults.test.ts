import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Redis } from "iovalkey";
import { free, noon } from "../../../test/support/limits-contract.ts";
import {
  openLog,
  openNode,
  openNodes,
  passes as passesOf,
  type RedisNode,
  requestFromEach as requestEach,
} from "../../../test/support/redis-limiter.ts";
import { startRedis } from "../../../test/support/redis-process.ts";
import { until } from "../../../test/support/until.ts";
import type { Limiter } from "./limits.ts";
import type { RedisLimiterOptions } from "./redis.ts";
import type { Decision, Quota } from "./windows.ts";

const quota: Quota = { perMinute: 300, perDay: 100_000 };

/** Starts a Redis and nodes that use it, each with its own line and log. */
async function openScene(t: TestContext, count: number, options: Partial<RedisLimiterOptions> = {}) {
  const redis = await startRedis();
  t.after(() => redis.remove());
  return { redis, ...(await openNodes(t, redis.url, count, options)) };
}

type Node = RedisNode;

const isPass = ({ verdict }: Decision) => verdict === "pass";
const requestFromEach = (limiters: Limiter[], times: number, figures = quota) => requestEach(limiters, times, figures);
const passes = (limiters: Limiter[], times: number, figures = quota) => passesOf(limiters, times, figures);
const used = async (limiter: Limiter) => quota.perMinute - (await limiter.peekAccount(1, quota)).minuteRemaining;

/** Cuts the lines of nodes, and resolves when each has noticed. */
async function disconnect(nodes: Node[], direction?: "answers"): Promise<void> {
  await Promise.all(nodes.map(({ line, log }) => (line.cut(direction), once(log.events, "warn"))));
}
/** Resolves when all nodes have received the reports published so far: Redis sends them before it answers these requests. */
async function reportsArrived(limiters: Limiter[]): Promise<void> {
  for (let i = 0; i < 2; i++) await Promise.all(limiters.map(async (limiter) => limiter.peekAccount(99, quota)));
}
async function reconnect(nodes: Node[]): Promise<void> {
  await Promise.all(nodes.map(({ line, log }) => (line.mend(), once(log.events, "info"))));
}

describe("a node waits for a slow Redis", () => {
  for (const delayMs of [20, 60, 200]) {
    for (const count of [1, 3]) {
      test(`with answers ${delayMs} ms late, exactly the quota passes at ${count === 1 ? "one node" : "three nodes"}`, async (t) => {
        const { nodes, limiters } = await openScene(t, count);
        for (const { line } of nodes) line.delay(delayMs / 2);
        assert.equal(await passes(limiters, 1_000 / count), 300);
        assert.deepEqual(
          nodes.map(({ limiter, log }) => [limiter.mode(), limiter.decidedAlone(), log.lines.length]),
          nodes.map(() => ["shared", 0, 0]),
        );
      });
    }
  }

  test("with pauses of 70 ms four times a second, exactly the quota passes at three nodes", async (t) => {
    const { nodes, limiters, redis } = await openScene(t, 3);
    const decisions: Decision[] = [];
    for (let pauses = 0; pauses < 6; pauses++) {
      redis.pause();
      const [asked] = await Promise.all([requestFromEach(limiters, 200), setTimeout(70).then(() => redis.resume())]);
      decisions.push(...asked);
      await setTimeout(180);
    }
    assert.equal(decisions.filter(isPass).length, 300);
    assert.deepEqual([...nodes.flatMap(({ log }) => log.lines), ...limiters.map((limiter) => limiter.decidedAlone())], [0, 0, 0]);
  });

  test("of 1,015 simultaneous requests to a node that has just started, exactly the 1,000 of the quota pass", async (t) => {
    const { limiters } = await openScene(t, 1);
    const business = { perMinute: 1_000, perDay: 100_000 };
    const decisions = await requestFromEach(limiters, 1_015, business);
    assert.deepEqual(
      decisions.filter(isPass).map(({ remaining }) => remaining),
      Array.from({ length: 1_000 }, (_, i) => 999 - i),
    );
  });

  test("at most 10,000 requests wait for Redis, and further ones are refused as unavailable with the figures that the node knows", async (t) => {
    const { nodes, limiters } = await openScene(t, 1);
    const [limiter] = limiters as [Limiter];
    await limiter.account(1, 1, quota);
    nodes[0]!.line.cut();
    const waiting = Array.from({ length: 10_000 }, async () => limiter.account(1, 1, quota));
    assert.equal(limiter.waiting(), 10_000);
    const beyond = limiter.account(1, 1, quota);
    assert.ok(!(beyond instanceof Promise));
    const { verdict, retryAfterSeconds, remaining, strikesRemaining } = beyond;
    assert.deepEqual(
      { verdict, retryAfterSeconds, remaining, strikesRemaining },
      { verdict: "unavailable", retryAfterSeconds: 1, remaining: 299, strikesRemaining: null },
    );
    nodes[0]!.line.mend();
    assert.equal((await Promise.all(waiting)).filter(isPass).length, 299);
    assert.equal(limiter.waiting(), 0);
  });
});

describe("while Redis cannot be reached", () => {
  test("an answer that takes over 500 ms counts as an outage; its start and its end are each logged once", async (t) => {
    const { nodes } = await openScene(t, 1);
    const node = nodes[0]!;
    const log = openLog();
    const limiter = await openNode(node.line.url, { log, answerMs: undefined });
    t.after(() => limiter.close());
    await until(() => limiter.mode() === "shared");
    log.lines.length = 0;
    node.line.cut();
    await once(log.events, "warn");
    assert.equal(limiter.mode(), "alone");
    assert.ok(!(limiter.account(1, 1, quota) instanceof Promise), "a node that counts alone decides at once");
    await assert.rejects(async () => limiter.unban(1), { code: "unavailable" });
    await setTimeout(1_000); // the limiter retries meanwhile
    node.line.mend();
    await once(log.events, "info");
    assert.match(log.lines.join("\n"), /^warn Redis cannot be reached.*no answer within 500 ms.*\ninfo Redis answers again[^\n]*$/);
    assert.equal(limiter.mode(), "shared");
  });

  test("three nodes together admit exactly the requests that were left, whichever nodes had the earlier ones", async (t) => {
    const { nodes, limiters } = await openScene(t, 3, { answerMs: 2_000 });
    assert.equal(await passes(limiters.slice(0, 1), 100), 100);
    assert.equal(await passes(limiters.slice(1, 2), 50), 50);
    await reportsArrived(limiters);
    await disconnect(nodes);
    const decisions = await requestFromEach(limiters, 200);
    assert.equal(decisions.filter(isPass).length, 150);
    assert.deepEqual(
      limiters.map((limiter) => limiter.decidedAlone()),
      [200, 200, 200],
    );
  });

  test("in a window that begins during the outage each node admits its share of the whole quota, and no node admits the remainder", async (t) => {
    const time = { now: noon };
    const clock = () => time.now;
    const { nodes, limiters } = await openScene(t, 3, { answerMs: 2_000, clock, redisClock: clock });
    const pro = { perMinute: 100, perDay: 250 };
    assert.equal(await passes(limiters, 40, pro), 100);
    await reportsArrived(limiters);
    await disconnect(nodes);
    assert.equal(await passes(limiters, 40, pro), 0);
    time.now += 60_000;
    assert.equal(await passes(limiters, 40, pro), 99);
    time.now += 60_000;
    assert.equal(await passes(limiters, 40, pro), 51, "the day's share is used up");
  });

  test("a node makes no strikes, keeps to the bans that it knows, and shows its share in the figures", async (t) => {
    const { nodes, limiters } = await openScene(t, 1, { answerMs: 2_000 });
    const [limiter] = limiters as [Limiter];
    for (let i = 0; i < 81; i++) await limiter.account(1, 1, free);
    assert.equal((await limiter.account(1, 1, free)).verdict, "key_banned");
    await disconnect(nodes);
    assert.equal((await limiter.account(1, 1, free)).verdict, "key_banned");
    assert.equal((await limiter.peekAddress("192.0.2.1")).remaining, 60);
    const refusals = await Promise.all(Array.from({ length: 50 }, async () => limiter.account(1, 2, free)));
    assert.deepEqual(new Set(refusals.map(({ verdict }) => verdict)), new Set(["rate_limit_exceeded"]));
    await reconnect(nodes);
    assert.equal((await limiter.strikeStatus(1, 2, free)).strikes, 0);
    assert.equal((await limiter.account(1, 1, free)).verdict, "key_banned");
  });
});

describe("when Redis is back", () => {
  test("a node adds the requests that it admitted, and counts no unanswered request twice", async (t) => {
    for (const direction of [undefined, "answers"] as const) {
      const { nodes, limiters } = await openScene(t, 1, { answerMs: 2_000 });
      const [limiter] = limiters as [Limiter];
      await requestFromEach(limiters, 10);
      const lost = disconnect(nodes, direction);
      assert.equal(await passes(limiters, 40), 40, "sent before the outage, decided during it");
      await lost;
      assert.equal(await passes(limiters, 20), 20);
      await reconnect(nodes);
      assert.equal(await used(limiter), 70);
      await disconnect(nodes);
      await reconnect(nodes);
      assert.equal(await used(limiter), 70);
    }
  });

  test("a request that is given back during the outage counts neither on the node nor in Redis", async (t) => {
    const { nodes, limiters } = await openScene(t, 1, { answerMs: 1_000 });
    const [limiter] = limiters as [Limiter];
    const [before] = await requestFromEach(limiters, 10);
    await disconnect(nodes);
    assert.equal(await passes(limiters, 300), 290);
    for (let i = 0; i < 5; i++) await limiter.giveBack({ accountId: 1, quota }, before!.at);
    assert.equal(await passes(limiters, 10), 5);
    for (let i = 0; i < 20; i++) await limiter.giveBack({ accountId: 1, quota }, before!.at);
    await reconnect(nodes);
    assert.equal(await used(limiter), 280);
  });

  test("Redis does not count a request that arrives after the node has joined again, because the node has decided it", async (t) => {
    const { nodes, limiters } = await openScene(t, 1, { answerMs: 1_000 });
    const [limiter] = limiters as [Limiter];
    const [{ line, log }] = nodes as [Node];
    const lost = disconnect(nodes);
    assert.equal(await passes(limiters, 40), 40);
    await lost;
    line.mendForNew();
    await once(log.events, "info");
    assert.equal(await used(limiter), 40);
    line.mend();
    for (let i = 0; i < 20; i++) {
      await setTimeout(10);
      assert.equal(await used(limiter), 40);
    }
  });

  test("a node restores its known figures in a Redis that has lost its data", async (t) => {
    const { redis, nodes, limiters } = await openScene(t, 1);
    await requestFromEach(limiters, 50);
    const lost = once(nodes[0]!.log.events, "warn");
    await redis.stop();
    await lost;
    assert.equal(await passes(limiters, 20), 20);
    const back = once(nodes[0]!.log.events, "info");
    await redis.start();
    await back;
    assert.equal(await used(limiters[0]!), 70);
  });

  test("three nodes that come back one after the other under constant load admit exactly the quota", async (t) => {
    const { nodes, limiters } = await openScene(t, 3, { answerMs: 1_000 });
    let passed = await passes(limiters, 10);
    await reportsArrived(limiters);
    await disconnect(nodes);
    const asking = (async () => {
      while (!limiters.every((limiter) => limiter.mode() === "shared")) {
        passed += await passes(limiters, 1);
        await setTimeout(5);
      }
    })();
    await until(() => passed === 300);
    for (const one of nodes) {
      one.line.mend();
      await setTimeout(300);
    }
    await asking;
    assert.equal(passed, 300);
    assert.equal(await used(limiters[0]!), 300);
  });

  test("nodes that come back admit the unused part of their shares only once", async (t) => {
    const { nodes, limiters } = await openScene(t, 3, { answerMs: 1_000 });
    await disconnect(nodes);
    let passed = await passes(limiters, 60);
    for (const one of nodes) {
      one.line.mend();
      passed += await passes(limiters, 10);
    }
    await until(() => limiters.every((limiter) => limiter.mode() === "shared"));
    passed += await passes(limiters, 300);
    assert.equal(passed, 300);
  });

  test("a late heartbeat from before a node's disconnection does not count as its return", async (t) => {
    const { redis, nodes, limiters } = await openScene(t, 3, { answerMs: 1_000 });
    await disconnect(nodes);
    assert.equal(await passes(limiters, 120), 300);
    const admin = new Redis(redis.url);
    t.after(() => admin.disconnect());
    const beats = async () => Number(await admin.get("petstore:limits:beats"));
    const before = await beats();
    const [away, ...others] = nodes as [Node, Node, Node];
    for (const one of others) one.line.mend();
    await until(async () => (await beats()) >= before + 5); // so both are back
    away.line.deliverOld();
    const present = others.map(({ limiter }) => limiter);
    for (let i = 0; i < 30; i++) {
      await setTimeout(30);
      assert.equal(await passes(present, 5), 0);
    }
  });

  test("if a node cannot come back, the other nodes do not keep to their shares forever", async (t) => {
    const { nodes, limiters } = await openScene(t, 2, { answerMs: 1_000 });
    await disconnect(nodes);
    nodes[0]!.line.mend();
    await until(() => limiters[0]!.mode() === "shared");
    assert.equal(await passes(limiters.slice(0, 1), 400), 300);
  });
});
