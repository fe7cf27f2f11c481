import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Limiter, Mode } from "../../src/callers/limits/limits.ts";
import type { Decision, Quota } from "../../src/callers/limits/windows.ts";
import type { Clock } from "../../src/platform/clock.ts";

export const free: Quota = { perMinute: 60, perDay: 1_000 };
export const noon = Date.UTC(2026, 5, 15, 12, 0, 0);
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export type OpenLimiter = (clock: Clock) => Promise<Limiter>;

type Body = (limiter: Limiter, time: { now: number }) => Promise<void>;
type Promises = { title: string; body: Body }[];

/** Returns a function that adds a promise to a list. */
export function listOf(list: Promises): (title: string, body: Body) => void {
  return (title, body) => void list.push({ title, body });
}

/** Declares a test for each promise. `open` returns a limiter that has counted nothing, has the Free figures for addresses, and stays in `mode`. */
export function declare(promises: Promises, mode: Mode, open: OpenLimiter): void {
  for (const { title, body } of promises) {
    void test(title, async () => {
      const time = { now: noon };
      const limiter = await open(() => time.now);
      try {
        await body(limiter, time);
        assert.equal(limiter.mode(), mode);
      } finally {
        await limiter.close();
      }
    });
  }
}

/** Makes requests in sequence and returns their decisions. */
export async function ask(times: number, request: () => Decision | Promise<Decision>): Promise<Decision[]> {
  const decisions = [];
  for (let i = 0; i < times; i++) decisions.push(await request());
  return decisions;
}
export const verdicts = (decisions: Decision[]) => decisions.map(({ verdict }) => verdict);
export const last = (decisions: Decision[]) => decisions.at(-1)!;

const windows: Promises = [];
{
  const promise = listOf(windows);

  promise("of many simultaneous requests exactly those left pass, and see every remaining value once", async (limiter) => {
    await ask(13, () => limiter.account(1, 1, free));
    const decisions = await Promise.all(Array.from({ length: 300 }, async (_, i) => limiter.account(1, i % 30, free)));
    const passed = decisions.filter(({ verdict }) => verdict === "pass");
    assert.deepEqual(
      passed.map(({ remaining }) => remaining),
      Array.from({ length: 47 }, (_, i) => 46 - i),
    );
  });

  promise("a refused request uses up neither window", async (limiter, time) => {
    const quota = { perMinute: 5, perDay: 7 };
    assert.equal(last(await ask(5, () => limiter.account(1, 1, quota))).verdict, "pass");
    assert.equal(last(await ask(15, () => limiter.account(1, 1, quota))).dayRemaining, 2);
    time.now += minute;
    assert.deepEqual(verdicts(await ask(3, () => limiter.account(1, 1, quota))), ["pass", "pass", "rate_limit_exceeded"]);
    assert.equal((await limiter.peekAccount(1, quota)).minuteRemaining, 3);
  });

  promise(
    "the figures describe the window with fewer requests left, the minute on a tie, the day when both are used up",
    async (limiter) => {
      const described = async (account: number, quota: Quota, times: number) => {
        const { limit, remaining, reset } = last(await ask(times, () => limiter.account(account, account, quota)));
        return { limit, remaining, reset };
      };
      const minuteEnd = (noon + minute) / 1000;
      const dayEnd = Date.UTC(2026, 5, 16) / 1000;
      assert.deepEqual(await described(1, { perMinute: 5, perDay: 9 }, 2), { limit: 5, remaining: 3, reset: minuteEnd });
      assert.deepEqual(await described(2, { perMinute: 9, perDay: 5 }, 2), { limit: 5, remaining: 3, reset: dayEnd });
      assert.deepEqual(await described(3, { perMinute: 5, perDay: 5 }, 2), { limit: 5, remaining: 3, reset: minuteEnd });
      assert.deepEqual(await described(4, { perMinute: 5, perDay: 5 }, 5), { limit: 5, remaining: 0, reset: dayEnd });
    },
  );

  promise("Retry-After is the whole seconds, rounded up, until a request can pass", async (limiter, time) => {
    const quota = { perMinute: 2, perDay: 3 };
    await ask(2, () => limiter.account(1, 1, quota));
    time.now = noon + 12_345;
    const overMinute = await limiter.account(1, 1, quota);
    assert.equal(overMinute.retryAfterSeconds, 48);
    time.now += overMinute.retryAfterSeconds * second;
    assert.equal((await limiter.account(1, 1, quota)).verdict, "pass");
    const overDay = await limiter.account(1, 1, quota);
    assert.equal(overDay.retryAfterSeconds, 12 * 3600 - 60);
    time.now += overDay.retryAfterSeconds * second;
    assert.equal((await limiter.account(1, 1, quota)).verdict, "pass");
  });

  promise("a changed plan applies at once, and the used requests still count", async (limiter) => {
    await ask(60, () => limiter.account(1, 1, free));
    assert.equal((await limiter.account(1, 1, { perMinute: 300, perDay: 10_000 })).remaining, 239);
    const lowered = await limiter.account(1, 1, free);
    assert.deepEqual([lowered.verdict, lowered.remaining], ["rate_limit_exceeded", 0]);
  });

  promise("peeking counts nothing", async (limiter) => {
    await ask(3, () => limiter.account(1, 1, free));
    await ask(3, () => limiter.address("192.0.2.1"));
    await ask(5, () => limiter.peekAccount(1, free));
    await ask(5, () => limiter.peekAddress("192.0.2.1"));
    assert.equal((await limiter.peekAccount(1, free)).remaining, 57);
    assert.equal((await limiter.peekAddress("192.0.2.1")).remaining, 57);
    assert.equal((await limiter.peekAddress("192.0.2.2")).remaining, 60);
    assert.equal((await limiter.account(1, 1, free)).remaining, 56);
  });
}

const bans: Promises = [];
{
  const promise = listOf(bans);

  const strikeOut = (limiter: Limiter, keyId: number) => ask(21, () => limiter.account(1, keyId, free));

  promise(
    "the first strike above 20 within a minute is answered key_banned, and each refusal says how many strikes are left",
    async (limiter) => {
      await ask(60, () => limiter.account(1, 1, free));
      const decisions = await strikeOut(limiter, 1);
      assert.deepEqual(
        decisions.map(({ strikesRemaining }) => strikesRemaining),
        [...Array.from({ length: 20 }, (_, i) => 19 - i), 0],
      );
      assert.deepEqual(verdicts(decisions), [...Array.from({ length: 20 }, () => "rate_limit_exceeded"), "key_banned"]);
      assert.equal(last(decisions).retryAfterSeconds, 300);
    },
  );

  promise("a plan of 1,000 a minute allows 200 strikes", async (limiter) => {
    const business = { perMinute: 1_000, perDay: 100_000 };
    await ask(1_000, () => limiter.account(1, 1, business));
    const decisions = await ask(201, () => limiter.account(1, 1, business));
    assert.equal(decisions[0]!.strikesRemaining, 199);
    assert.deepEqual(verdicts(decisions.slice(-2)), ["rate_limit_exceeded", "key_banned"]);
  });

  promise("strikes older than a minute no longer count", async (limiter, time) => {
    const quota = { perMinute: 60, perDay: 1 };
    await limiter.account(1, 1, quota);
    const made = [];
    for (let i = 0; i < 100; i++) {
      time.now += 3_000;
      made.push(await limiter.account(1, 1, quota));
    }
    assert.ok(made.every(({ verdict }) => verdict === "rate_limit_exceeded"));
    assert.equal(last(made).strikesRemaining, 0);
    time.now += 2_999;
    assert.equal((await limiter.account(1, 1, quota)).verdict, "key_banned");
  });

  promise("a banned key uses no quota and makes no strikes, and the account's other keys still work", async (limiter, time) => {
    await ask(60, () => limiter.account(1, 1, free));
    await strikeOut(limiter, 1);
    time.now += minute;
    const banned = await ask(50, () => limiter.account(1, 1, free));
    assert.deepEqual(new Set(verdicts(banned)), new Set(["key_banned"]));
    assert.equal(last(banned).remaining, 0);
    assert.equal((await limiter.account(1, 2, free)).remaining, 59);
    time.now += 4 * minute - 1;
    assert.equal((await limiter.account(1, 1, free)).retryAfterSeconds, 1);
    time.now += 1;
    assert.equal((await limiter.account(1, 1, free)).verdict, "pass");
    assert.deepEqual(await limiter.strikeStatus(1, 1, free), { strikes: 0, strikesRemaining: 20, bannedUntil: undefined });
  });

  promise("a ban of a key counts for the keys that it made, and the strike status shows it", async (limiter) => {
    const none = { perMinute: 0, perDay: 0 };
    assert.equal((await limiter.account(1, 2, none, [1, 3])).verdict, "rate_limit_exceeded");
    await ask(21, () => limiter.account(1, 1, none));
    const decisions = await Promise.all([
      limiter.account(1, 2, free, [3, 1]),
      limiter.account(1, 4, free, []),
      limiter.account(1, 5, free, [1]),
    ]);
    assert.deepEqual(verdicts(decisions), ["key_banned", "pass", "key_banned"]);
    const { bannedUntil, strikesRemaining } = await limiter.strikeStatus(1, 2, free, [3, 1]);
    assert.deepEqual([bannedUntil, strikesRemaining], [noon + 5 * minute, 0]);
    assert.equal((await limiter.strikeStatus(1, 2, free)).bannedUntil, undefined);
    assert.equal(await limiter.unban(1), true);
    assert.equal((await limiter.account(1, 2, free, [3, 1])).verdict, "pass");
  });

  promise("each further ban within 24 hours is twice as long, up to an hour", async (limiter, time) => {
    const none = { perMinute: 60, perDay: 0 };
    const ban = async () => last(await ask(21, () => limiter.account(1, 1, none))).retryAfterSeconds;
    const lengths = [];
    for (let i = 0; i < 6; i++) {
      const seconds = await ban();
      lengths.push(seconds / 60);
      time.now += seconds * second;
    }
    assert.deepEqual(lengths, [5, 10, 20, 40, 60, 60]);
    time.now += 23 * hour;
    assert.equal(await ban(), 300);
  });

  promise("unban ends a ban and forgets the earlier ones, and the strike status shows it", async (limiter) => {
    await ask(60, () => limiter.account(1, 1, free));
    await ask(3, () => limiter.account(1, 1, free));
    assert.deepEqual(await limiter.strikeStatus(1, 1, free), { strikes: 3, strikesRemaining: 17, bannedUntil: undefined });
    await ask(18, () => limiter.account(1, 1, free));
    assert.deepEqual(await limiter.strikeStatus(1, 1, free), { strikes: 0, strikesRemaining: 0, bannedUntil: noon + 5 * minute });
    assert.equal(await limiter.unban(1), true);
    assert.equal(await limiter.unban(1), false);
    assert.deepEqual(await limiter.strikeStatus(1, 1, free), { strikes: 0, strikesRemaining: 20, bannedUntil: undefined });
    assert.equal(last(await strikeOut(limiter, 1)).retryAfterSeconds, 300);
  });
}

const clocks: Promises = [];
{
  const promise = listOf(clocks);

  for (const [direction, jump] of [
    ["forward", hour],
    ["back", -hour],
  ] as const) {
    promise(`a clock that jumps an hour ${direction} and returns grants no request twice`, async (limiter, time) => {
      time.now = Date.UTC(2026, 5, 15, direction === "forward" ? 23 : 0, 30);
      const quota = { perMinute: 10, perDay: 15 };
      await ask(10, () => limiter.account(1, 1, quota));
      time.now += jump;
      await limiter.account(1, 1, quota);
      time.now -= jump;
      assert.equal((await limiter.account(1, 1, quota)).verdict, "rate_limit_exceeded");
      time.now += minute;
      const later = await ask(10, () => limiter.account(1, 1, quota));
      assert.ok(later.filter(({ verdict }) => verdict === "pass").length <= 5);
    });
  }

  promise(
    "a clock that jumps an hour back grants nothing at once, and refuses nobody for longer than the window it shows",
    async (limiter, time) => {
      await ask(61, () => limiter.account(1, 1, free));
      time.now -= hour;
      const refused = await limiter.account(1, 1, free);
      assert.deepEqual([refused.verdict, refused.retryAfterSeconds, refused.dayRemaining], ["rate_limit_exceeded", 60, 940]);
      time.now += 60 * second;
      assert.equal((await limiter.account(1, 1, free)).remaining, 59);
    },
  );

  promise("a clock that jumps an hour back makes no ban longer, and keeps the strikes of the last minute", async (limiter, time) => {
    await ask(60, () => limiter.account(1, 1, free));
    await ask(21, () => limiter.account(1, 1, free));
    await ask(20, () => limiter.account(1, 2, free));
    time.now -= hour;
    assert.equal((await limiter.account(1, 1, free)).retryAfterSeconds, 300);
    assert.equal((await limiter.account(1, 2, free)).verdict, "key_banned");
    time.now += 5 * minute;
    assert.equal((await limiter.account(1, 1, free)).verdict, "pass");
  });
}

/** Declares the promises of every limiter about accounts and their secret keys. */
export function limiterContract(name: string, mode: Mode, open: OpenLimiter): void {
  describe(`limits ${name}: windows`, () => declare(windows, mode, open));
  describe(`limits ${name}: strikes and bans`, () => declare(bans, mode, open));
  describe(`limits ${name}: a clock that jumps`, () => declare(clocks, mode, open));
}
