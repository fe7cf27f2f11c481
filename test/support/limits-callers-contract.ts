import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Mode } from "../../src/callers/limits/limits.ts";
import { ask, declare, free, last, listOf, type OpenLimiter, verdicts } from "./limits-contract.ts";

const minute = 60_000;

const callers: Parameters<typeof listOf>[0] = [];
{
  const promise = listOf(callers);

  promise("an address has the figures of the free plan, is never banned, and uses up no key's limit", async (limiter) => {
    const decisions = await ask(160, () => limiter.address("192.0.2.1"));
    assert.equal(decisions.filter(({ verdict }) => verdict === "pass").length, 60);
    assert.deepEqual([last(decisions).verdict, last(decisions).strikesRemaining], ["rate_limit_exceeded", null]);
    assert.equal((await limiter.address("192.0.2.2")).remaining, 59);
    assert.equal((await limiter.account(1, 1, free)).remaining, 59);
    assert.equal((await limiter.publishable(1, "192.0.2.1", free)).verdict, "pass");
  });

  promise("IPv6 addresses count by their /64, and mapped IPv4 addresses as IPv4", async (limiter) => {
    assert.equal((await limiter.address("2001:db8:1:2::1")).remaining, 59);
    assert.equal((await limiter.address("2001:DB8:1:2:ffff:1:2:3")).remaining, 58);
    assert.equal((await limiter.address("2001:db8:1:3::1")).remaining, 59);
    assert.equal((await limiter.address("192.0.2.1")).remaining, 59);
    assert.equal((await limiter.address("::ffff:192.0.2.1")).remaining, 58);
  });

  promise(
    "with publishable keys an address has 60 requests a minute, and all addresses together half of the account's minute",
    async (limiter, time) => {
      const pro = { perMinute: 300, perDay: 10_000 };
      const first = await ask(61, () => limiter.publishable(1, "192.0.2.1", pro));
      assert.deepEqual([first[0]!.limit, first[0]!.remaining, last(first).verdict], [60, 59, "rate_limit_exceeded"]);
      await ask(60, () => limiter.publishable(1, "192.0.2.2", pro));
      const third = await ask(31, () => limiter.publishable(1, "192.0.2.3", pro));
      assert.deepEqual(
        [third[29]!.verdict, third[29]!.limit, third[29]!.remaining, third[30]!.verdict],
        ["pass", 150, 0, "rate_limit_exceeded"],
      );
      assert.equal((await limiter.publishable(2, "192.0.2.1", pro)).verdict, "pass");
      const secret = await ask(151, () => limiter.account(1, 1, pro));
      assert.deepEqual(verdicts(secret.slice(149)), ["pass", "rate_limit_exceeded"]);
      time.now += minute;
      assert.equal((await limiter.publishable(1, "192.0.2.1", pro)).remaining, 59);
      assert.equal((await limiter.peekAccount(1, pro)).dayRemaining, 10_000 - 301);
    },
  );

  promise("requests with publishable keys are refused when the account has none left, and then use up nothing", async (limiter, time) => {
    await ask(60, () => limiter.account(1, 1, free));
    assert.equal((await limiter.publishable(1, "192.0.2.1", free)).verdict, "rate_limit_exceeded");
    time.now += minute;
    assert.equal((await limiter.publishable(1, "192.0.2.1", free)).remaining, 29);
  });

  promise("publishable keys together use at most half of the account's day, and the secret key's half remains", async (limiter, time) => {
    const quota = { perMinute: 300, perDay: 101 };
    const visitors = [];
    for (let i = 0; i < 80; i++) {
      time.now += i % 20 === 0 ? minute : 0;
      visitors.push(await limiter.publishable(1, `192.0.2.${i % 4}`, quota));
    }
    assert.deepEqual(
      [visitors.filter(({ verdict }) => verdict === "pass").length, last(visitors).verdict, last(visitors).limit],
      [50, "rate_limit_exceeded", 50],
    );
    assert.equal(last(visitors).retryAfterSeconds, 12 * 3600 - 4 * 60);
    const secret = await ask(52, () => limiter.account(1, 1, quota));
    assert.deepEqual(verdicts(secret.slice(50)), ["pass", "rate_limit_exceeded"]);
    time.now = Date.UTC(2026, 5, 16);
    assert.equal((await limiter.publishable(1, "192.0.2.1", quota)).verdict, "pass");
  });

  promise("requests with publishable keys never cause a strike on a secret key", async (limiter, time) => {
    const quota = { perMinute: 40, perDay: 60 };
    await ask(20, () => limiter.publishable(1, "192.0.2.1", quota));
    await ask(20, () => limiter.account(1, 1, quota));
    assert.deepEqual(verdicts(await ask(20, () => limiter.account(1, 1, quota))), Array(20).fill("rate_limit_exceeded"));
    assert.equal((await limiter.strikeStatus(1, 1, quota)).strikes, 0, "without the visitors, all of these would have passed");
    const over = await ask(1, () => limiter.account(1, 1, quota));
    assert.equal(over[0]!.strikesRemaining, 19, "this one would not");
    time.now += minute;
    await ask(10, () => limiter.publishable(1, "192.0.2.1", quota));
    await ask(10, () => limiter.account(1, 1, quota));
    assert.deepEqual(last(await ask(10, () => limiter.account(1, 1, quota))).dayRemaining, 0);
    assert.equal((await limiter.strikeStatus(1, 1, quota)).strikes, 0);
    assert.equal((await limiter.account(1, 1, quota)).strikesRemaining, 19);
  });

  promise("a strike with a publishable key falls on the address", async (limiter, time) => {
    const pro = { perMinute: 300, perDay: 10_000 };
    const decisions = await ask(81, () => limiter.publishable(1, "192.0.2.1", pro));
    assert.deepEqual(
      [decisions[60]!.strikesRemaining, last(decisions).verdict, last(decisions).retryAfterSeconds],
      [19, "key_banned", 300],
    );
    assert.equal((await limiter.publishable(1, "192.0.2.2", pro)).verdict, "pass");
    time.now += 5 * minute - 1;
    assert.equal((await limiter.publishable(1, "192.0.2.1", pro)).verdict, "key_banned");
    assert.equal((await limiter.address("192.0.2.1")).verdict, "pass");
    time.now += 1;
    assert.equal((await limiter.publishable(1, "192.0.2.1", pro)).remaining, 59);
  });

  promise("the dashboard has 300 requests a minute for each person, and uses up no account's limit", async (limiter) => {
    const decisions = await ask(301, () => limiter.dashboard(1));
    assert.deepEqual(verdicts(decisions.slice(299)), ["pass", "rate_limit_exceeded"]);
    assert.deepEqual([decisions[0]!.limit, decisions[0]!.remaining, decisions[0]!.perDay], [300, 299, Infinity]);
    assert.equal((await limiter.dashboard(2)).remaining, 299);
    assert.equal((await limiter.peekAccount(1, free)).remaining, 60);
  });
}

/** Declares the promises of every limiter about callers without a secret key. */
export function callersContract(name: string, mode: Mode, open: OpenLimiter): void {
  describe(`limits ${name}: addresses, publishable keys, dashboard`, () => declare(callers, mode, open));
}
