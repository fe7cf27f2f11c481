import assert from "node:assert/strict";
import { test } from "node:test";
import type { CountedCaller, Limiter } from "../../src/callers/limits/limits.ts";
import type { Decision } from "../../src/callers/limits/windows.ts";
import { free, noon, type OpenLimiter } from "./limits-contract.ts";

const minute = 60_000;

/** The promises of every limiter about requests that are given back. */
export function givingBackContract(name: string, open: OpenLimiter): void {
  const ways: [what: string, counted: CountedCaller, request: (limiter: Limiter) => Decision | Promise<Decision>][] = [
    ["a secret key", { accountId: 1, quota: free }, (limiter) => limiter.account(1, 1, free)],
    ["a publishable key", { accountId: 1, quota: free, visitor: "192.0.2.1" }, (limiter) => limiter.publishable(1, "192.0.2.1", free)],
    ["a person", { memberId: 1 }, (limiter) => limiter.dashboard(1)],
  ];
  for (const [what, counted, request] of ways) {
    test(`limits ${name}: a request of ${what} that is given back no longer counts in the windows that have not ended`, async () => {
      const time = { now: noon };
      const limiter = await open(() => time.now);
      try {
        const { at, remaining, dayRemaining } = await request(limiter);
        const { verdict, ...figures } = await limiter.giveBack(counted, at);
        assert.deepEqual([verdict, figures.remaining, figures.dayRemaining], ["pass", remaining + 1, dayRemaining + 1]);
        const again = await request(limiter);
        assert.deepEqual([again.remaining, again.dayRemaining], [remaining, dayRemaining]);
        time.now += minute;
        await request(limiter);
        const later = await limiter.giveBack(counted, again.at);
        assert.deepEqual([later.remaining, later.dayRemaining], [remaining, dayRemaining], "given back in the day only");
      } finally {
        await limiter.close();
      }
    });
  }

  test(`limits ${name}: a request that is given back can be made again`, async () => {
    const limiter = await open(() => noon);
    try {
      const quota = { perMinute: 3, perDay: 100 };
      const first = await limiter.account(1, 1, quota);
      for (let i = 0; i < 2; i++) await limiter.account(1, 1, quota);
      await limiter.giveBack({ accountId: 1, quota }, first.at);
      const verdicts = [await limiter.account(1, 2, quota), await limiter.account(1, 2, quota)].map(({ verdict }) => verdict);
      assert.deepEqual(verdicts, ["pass", "rate_limit_exceeded"]);
    } finally {
      await limiter.close();
    }
  });
}
