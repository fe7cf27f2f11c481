import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Limiter } from "../../src/callers/limits/limits.ts";
import type { Decision, Quota } from "../../src/callers/limits/windows.ts";
import { noon, type OpenLimiter } from "./limits-contract.ts";

type Step = { ask: "account" | "publishable"; who: number; waitMs: number };
type Outcome = Pick<Decision, "verdict" | "limit" | "remaining" | "reset" | "retryAfterSeconds" | "strikesRemaining">;
/** Everything that happened to one account, its keys (0, 1) and its visitors (2, 3). */
type History = {
  passes: { at: number; who: number; shared: boolean }[];
  strikes: { at: number; who: number }[];
  /** Refused requests with secret keys that would have passed without those with publishable keys. */
  spared: number[];
  bans: { at: number; who: number; ms: number }[];
};

const minute = 60_000;
const day = 86_400_000;

/** Compares the answers to random requests with a naive model, which keeps the whole history and counts it for each request. */
export function modelProperty(name: string, open: OpenLimiter, runs: number): void {
  test(`limits ${name}: any sequence of requests is answered by the rules`, async () => {
    const wait = fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(0, 0, 0, 1, 999) },
      fc.constantFrom(minute - 1, minute, 5 * minute, 10 * minute, day / 4, day),
    );
    const request = fc.record({
      ask: fc.constantFrom("account", "account", "publishable"),
      who: fc.nat(1),
      waitMs: wait,
    }) as fc.Arbitrary<Step>;
    const burst = fc
      .tuple(request, fc.integer({ min: 1, max: 25 }))
      .map(([step, times]) => Array.from({ length: times }, (_, i) => (i === 0 ? step : { ...step, waitMs: 0 })));
    const quota = fc.record({ perMinute: fc.integer({ min: 0, max: 12 }), perDay: fc.integer({ min: 0, max: 30 }) });
    const course = fc.array(burst, { maxLength: 15 }).map((bursts) => bursts.flat());
    await fc.assert(
      fc.asyncProperty(quota, course, async (figures, steps) => {
        const time = { now: noon };
        const limiter = await open(() => time.now);
        const history: History = { passes: [], strikes: [], spared: [], bans: [] };
        for (const step of steps) {
          time.now += step.waitMs;
          assert.deepEqual(outcome(await send(limiter, step, figures)), expected(history, step, figures, time.now));
        }
        await limiter.close();
      }),
      { numRuns: runs },
    );
  });
}

function send(limiter: Limiter, { ask, who }: Step, quota: Quota): Decision | Promise<Decision> {
  return ask === "account" ? limiter.account(1, who, quota) : limiter.publishable(1, `192.0.2.${who}`, quota);
}

function outcome({ verdict, limit, remaining, reset, retryAfterSeconds, strikesRemaining }: Decision): Outcome {
  return { verdict, limit, remaining, reset, retryAfterSeconds, strikesRemaining };
}

function expected(history: History, step: Step, quota: Quota, now: number): Outcome {
  const shared = step.ask === "publishable";
  const who = shared ? step.who + 2 : step.who;
  const ban = history.bans.findLast((one) => one.who === who);
  const allowed = Math.max(20, Math.floor((shared ? 60 : quota.perMinute) / 5));
  if (ban !== undefined && now < ban.at + ban.ms) return refusal("key_banned", ban.at + ban.ms - now, 0);
  if (figures().fits) {
    history.passes.push({ at: now, who, shared });
    return { verdict: "pass", ...figures().shown, retryAfterSeconds: 0, strikesRemaining: 0 };
  }
  const spared = !shared && figures().withoutVisitors;
  if (spared) history.spared.push(now);
  else history.strikes.push({ at: now, who });
  const strikes = history.strikes.filter((one) => one.who === who && now - one.at < minute).length;
  if (spared || strikes <= allowed) return refusal("rate_limit_exceeded", figures().waitMs, allowed - strikes);
  history.strikes = history.strikes.filter((one) => one.who !== who);
  history.bans.push({ at: now, who, ms: ban !== undefined && now - ban.at < day ? Math.min(60 * minute, ban.ms * 2) : 5 * minute });
  return refusal("key_banned", history.bans.at(-1)!.ms, 0);

  function refusal(verdict: Outcome["verdict"], waitMs: number, strikesRemaining: number): Outcome {
    const shown = { ...figures().shown, ...(verdict === "key_banned" && { remaining: 0 }) };
    return { verdict, ...shown, retryAfterSeconds: Math.ceil(waitMs / 1000), strikesRemaining };
  }

  function figures() {
    const minuteStart = now - (now % minute);
    const dayStart = now - (now % day);
    const since = (start: number) => {
      const passes = history.passes.filter(({ at }) => at >= start);
      const byVisitors = passes.filter((pass) => pass.shared);
      const ofThisOne = passes.filter((pass) => pass.who === who);
      const asked = passes.length - byVisitors.length + history.spared.filter((at) => at >= start).length;
      return { all: passes.length, byVisitors: byVisitors.length, ofThisOne: ofThisOne.length, askedWithSecretKeys: asked };
    };
    const [inMinute, inDay] = [since(minuteStart), since(dayStart)];
    const minutes = [{ limit: quota.perMinute, remaining: quota.perMinute - inMinute.all }];
    const days = [{ limit: quota.perDay, remaining: quota.perDay - inDay.all }];
    if (shared) {
      const [halfMinute, halfDay] = [Math.floor(quota.perMinute / 2), Math.floor(quota.perDay / 2)];
      minutes.unshift({ limit: halfMinute, remaining: halfMinute - inMinute.byVisitors });
      minutes.unshift({ limit: 60, remaining: 60 - inMinute.ofThisOne });
      days.push({ limit: halfDay, remaining: halfDay - inDay.byVisitors });
    }
    const tightest = (windows: typeof minutes) => windows.toSorted((a, b) => a.remaining - b.remaining)[0]!;
    const ofMinute = { ...tightest(minutes), reset: (minuteStart + minute) / 1000 };
    const ofDay = { ...tightest(days), reset: (dayStart + day) / 1000 };
    const shown: Pick<Outcome, "limit" | "remaining" | "reset"> =
      ofDay.remaining === 0 || ofDay.remaining < ofMinute.remaining ? ofDay : ofMinute;
    const end = ofDay.remaining === 0 ? ofDay.reset : ofMinute.reset;
    return {
      fits: ofMinute.remaining > 0 && ofDay.remaining > 0,
      withoutVisitors: inMinute.askedWithSecretKeys < quota.perMinute && inDay.askedWithSecretKeys < quota.perDay,
      waitMs: end * 1000 - now,
      shown,
    };
  }
}
