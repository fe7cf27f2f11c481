import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import {
  acquire,
  addWaiting,
  admitAlong,
  admitNext,
  admitNextOf,
  openFairShare,
  release,
  runInTurn,
  type ShareLimits,
  vacate,
} from "./fair-share.ts";

const longMs = 600_000;

/** Ten places, two of them reserved. Records the accounts whose work was admitted or refused, and those that hold a place. */
function openScene(t: TestContext, more: ShareLimits = {}) {
  const share = openFairShare<number>({ max: 10, reserved: 2, waitingMax: 100, waitMs: longMs, ...more }, undefined, () => 0);
  const admitted: (number | undefined)[] = [];
  const refused: (number | undefined)[] = [];
  const held: (number | undefined)[] = [];
  t.after(async () => {
    while (held.length > 0) await end(held[0]);
  });
  const askOnce = async (account: number | undefined): Promise<void> => {
    const isRefused = (await acquire(share, account)) !== undefined;
    (isRefused ? refused : admitted).push(account);
    if (!isRefused) held.push(account);
  };
  const ask = async (account: number | undefined, times = 1): Promise<void> => {
    for (let i = 0; i < times; i++) void askOnce(account);
    await settled();
  };
  const end = async (account: number | undefined): Promise<void> => {
    held.splice(held.indexOf(account), 1);
    release(share, account);
    await settled();
  };
  const load = () => ({ inUse: share.inUse, waiting: share.waiting, refused: share.refused });
  return { share, load, admitted, refused, held, ask, end };
}

const settled = () => new Promise(setImmediate);
const times = (n: number, account: number | undefined) => Array.from({ length: n }, () => account);

test("one account gets half of the places, a second account a third, and a third account still finds a place", async (t) => {
  const { admitted, ask } = openScene(t);
  await ask(1, 20);
  assert.deepEqual(admitted.splice(0), times(4, 1));
  await ask(2, 20);
  assert.deepEqual(admitted.splice(0), times(3, 2));
  await ask(3, 20);
  assert.deepEqual(admitted.splice(0), [3]);
});

test("work without an account has reserved places, and goes before the accounts' work", async (t) => {
  const { admitted, ask, end } = openScene(t);
  for (let account = 1; account <= 9; account++) await ask(account);
  assert.equal(admitted.splice(0).length, 8);
  await ask(undefined, 3);
  assert.deepEqual(admitted.splice(0), times(2, undefined));
  await end(1);
  assert.deepEqual(admitted.splice(0), [undefined]);
  await end(undefined);
  assert.deepEqual(admitted.splice(0), [9]);
});

test("a place that becomes free goes to the waiting accounts in turn", async (t) => {
  const { admitted, ask, end } = openScene(t, { max: 3, reserved: 0 });
  for (const account of [7, 8, 9]) await ask(account);
  await ask(1, 3);
  await ask(2, 2);
  await ask(3);
  admitted.length = 0;
  for (const account of [7, 8, 9, 1, 2, 3, 1]) await end(account);
  assert.deepEqual(admitted, [1, 2, 3, 1, 2, 1]);
});

test("when too much work waits, the newest work of the account with the most is refused", async (t) => {
  const { load, admitted, refused, ask, end } = openScene(t, { max: 2, reserved: 0, waitingMax: 4 });
  await ask(8);
  await ask(9);
  await ask(1, 6);
  assert.deepEqual(refused.splice(0), [1, 1]);
  await ask(2, 3);
  assert.deepEqual(refused.splice(0), [1, 1, 2]);
  assert.deepEqual(load(), { inUse: 2, waiting: 4, refused: 5 });
  admitted.length = 0;
  for (const account of [8, 9, 1, 2]) await end(account);
  assert.deepEqual(admitted, [1, 2, 1, 2]);
});

test("work that waits too long is refused, and takes no place later", async (t) => {
  const { share, load } = openScene(t, { max: 1, reserved: 0, waitMs: 1 });
  assert.equal(acquire(share, 1), undefined);
  assert.equal(await acquire(share, 2), "waited too long");
  release(share, 1);
  assert.deepEqual(load(), { inUse: 0, waiting: 0, refused: 1 });
  assert.equal(acquire(share, 3), undefined);
});

test("while half of the places are free, an account takes one however many others hold some", async (t) => {
  const { admitted, ask } = openScene(t, { max: 40, reserved: 0 });
  for (let account = 1; account <= 10; account++) await ask(account);
  admitted.length = 0;
  await ask(11, 20);
  assert.deepEqual(admitted, times(10, 11));
});

test("no account holds more places than a fixed share, and another begins at once", async (t) => {
  const { admitted, ask, end } = openScene(t, { max: 3, reserved: 0, maxPerKey: 2 });
  await ask(1, 3);
  await ask(2, 2);
  assert.deepEqual(admitted.splice(0), [1, 1, 2]);
  for (const account of [2, 1, 1]) await end(account);
  assert.deepEqual(admitted, [2, 1]);
});

test("without a total bound each account has its own places and its own queue", async (t) => {
  const { load, admitted, refused, ask, end } = openScene(t, { max: Infinity, reserved: 0, maxPerKey: 1, waitingMaxPerKey: 1 });
  await ask(1, 3);
  await ask(2, 1);
  assert.deepEqual([admitted.splice(0), refused.splice(0)], [[1, 2], [1]]);
  await end(2);
  assert.deepEqual(admitted.splice(0), []);
  await end(1);
  assert.deepEqual([admitted, load()], [[1], { inUse: 1, waiting: 0, refused: 1 }]);
});

test("work that fails gives its place to the next, and work without a place gets the caller's refusal", async () => {
  const share = openFairShare<number>({ max: 1, waitingMax: 1 });
  const failing = runInTurn(share, 1, () => Promise.reject(new Error("failed")));
  const waiting = runInTurn(share, 1, () => Promise.resolve("done"));
  assert.equal(
    await runInTurn(
      share,
      1,
      () => Promise.resolve("done"),
      (refusal) => refusal,
    ),
    "queue full",
  );
  await assert.rejects(failing, /failed/);
  assert.equal(await waiting, "done");
});

test("in any order of arrivals and endings no bound is broken, and all work is admitted once the work before it has ended", async (t) => {
  const account = fc.constantFrom(1, 2, 3, 4, undefined);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ account, ends: fc.boolean() }), { maxLength: 60 }), async (steps) => {
      const { load, held, ask, end } = openScene(t, { max: 5, reserved: 1 });
      for (const step of steps) {
        if (step.ends && held.length > 0) await end(held[0]);
        else await ask(step.account);
        const byAccounts = held.filter((holder) => holder !== undefined);
        assert.ok(held.length <= 5 && byAccounts.length <= 4);
        for (const one of byAccounts) assert.ok(byAccounts.filter((holder) => holder === one).length <= 2);
        assert.equal(load().inUse, held.length);
      }
      while (held.length > 0) await end(held[0]);
      assert.deepEqual(load(), { inUse: 0, waiting: 0, refused: 0 });
    }),
    { numRuns: 200 },
  );
});

test("a free place goes to the key that has used least lately, and what it used long ago counts less and less", async () => {
  let now = 0;
  const share = openFairShare<string>({ max: 1 }, undefined, () => now);
  const order: string[] = [];
  const work = (key: string, ms: number): Promise<void> =>
    runInTurn(share, key, async () => {
      order.push(key);
      await settled();
      now += ms;
    });
  await work("busy", 400);
  await work("light", 10);
  await Promise.all([work("busy", 1), work("busy", 1), work("light", 1), work("new", 1)]);
  assert.deepEqual(order.splice(0), ["busy", "light", "busy", "new", "light", "busy"]);
  now += 60_000;
  await work("light", 50);
  await Promise.all([work("new", 1), work("light", 1), work("busy", 1)]);
  assert.deepEqual(order, ["light", "new", "busy", "light"]);
});

test("work that was added waits until it is admitted: in its turn, with work of its kind that comes next, or with work of its key and kind", () => {
  const share = openFairShare<number>({ max: 4, maxPerKey: 4, waitingMaxPerKey: 3 }, undefined, () => 0);
  const outcomes: string[] = [];
  const add = (key: number, name: string, kind = "order") =>
    addWaiting(share, key, (refusal) => void outcomes.push(refusal === undefined ? name : `${name}: ${refusal}`), kind);
  for (const name of ["a1", "a2", "a3"]) assert.equal(add(1, name, name === "a2" ? "other" : "order"), undefined);
  assert.equal(add(1, "a4"), "queue full");
  for (const name of ["b1", "b2"]) add(2, name);
  add(3, "c1");
  share.usage.add(2, 5);
  share.usage.add(3, 1);
  assert.deepEqual([outcomes, share.inUse, share.waiting, share.refused], [[], 0, 6, 1]);
  assert.equal(admitNext(share), true);
  admitNextOf(share, "order", 10);
  assert.deepEqual([outcomes, share.inUse], [["a1"], 1], "the next turn is that of another kind");
  admitAlong(share, 1, "order", 10);
  assert.deepEqual([outcomes, share.inUse, share.waiting], [["a1", "a3"], 1, 4]);
  vacate(share, 1, 9);
  admitNextOf(share, "order", 2);
  assert.deepEqual([outcomes, share.inUse, share.waiting], [["a1", "a3", "c1", "b1"], 2, 2]);
  admitNextOf(share, "order", 2);
  assert.deepEqual([outcomes, share.inUse, share.waiting], [["a1", "a3", "c1", "b1", "b2"], 3, 1]);
});

/** One place for the visitors of sites, whose keys are `site address`. Records who was admitted and who was refused. */
function openSites(limits: ShareLimits) {
  let now = 0;
  const parts = { count: 2, of: (key: string) => key.split(" ") };
  const share = openFairShare<string>({ max: 1, ...limits }, undefined, () => now, parts);
  const [admitted, refused]: [string[], string[]] = [[], []];
  const work = (key: string, ms: number) => async (): Promise<void> => {
    admitted.push(key);
    await settled();
    now += ms;
  };
  const visit = (key: string, ms = 1): Promise<void> => runInTurn(share, key, work(key, ms), () => void refused.push(key));
  return { share, admitted, refused, visit };
}

test("a site with many visitors gets no more turns than a site with one, and of its visitors the one that has used least is next", async () => {
  const { admitted, visit } = openSites({});
  const busy = Array.from({ length: 50 }, (_, n) => visit(`attacked 10.0.0.${n}`, 10));
  const others = [1, 2, 3].map(() => visit("quiet 10.1.0.1", 2));
  await Promise.all([...busy, ...others]);
  assert.deepEqual(admitted.splice(0, 4), ["attacked 10.0.0.0", "quiet 10.1.0.1", "quiet 10.1.0.1", "quiet 10.1.0.1"]);
  admitted.length = 0;
  await visit("attacked 10.0.0.1", 100);
  await Promise.all(["attacked 10.0.0.9", "attacked 10.0.0.1", "attacked 10.0.0.1", "attacked new"].map((key) => visit(key)));
  assert.deepEqual(admitted.splice(2), ["attacked new", "attacked 10.0.0.1", "attacked 10.0.0.1"]);
});

test("an address that visits many sites gets no more turns than an address that visits one", async () => {
  const { admitted, visit } = openSites({});
  const busy = Array.from({ length: 50 }, (_, n) => visit(`site-${n} 10.0.0.1`, 10));
  await Promise.all([...busy, ...[1, 2, 3].map(() => visit("quiet 10.1.0.1", 2))]);
  assert.deepEqual(admitted.slice(0, 4), ["site-0 10.0.0.1", "quiet 10.1.0.1", "quiet 10.1.0.1", "quiet 10.1.0.1"]);
});

test("a site or an address that holds its share of the places leaves the rest to others", async () => {
  const openAt = (keys: string[], limits: ShareLimits): boolean[] => {
    const { share } = openSites(limits);
    return keys.map((key) => acquire(share, key) === undefined);
  };
  assert.deepEqual(openAt(["a x1", "a x2", "a x3", "b y1", "b y2", "a x4"], { max: 4 }), [true, true, false, true, true, false]);
  assert.deepEqual(openAt(["a x1", "b x1", "c x1", "d y1", "e y2", "f x1"], { max: 4 }), [true, true, false, true, true, false]);
});

test("when too much work waits, the site or address with most of it loses the newest work of its longest queue", async () => {
  const { admitted, refused, visit } = openSites({ waitingMax: 5 });
  const visits = ["a x0", "a x1", "a x2", "a x2", "b y1", "b y1", "c z1", "a x3", "b y2"].map((key) => visit(key));
  await Promise.all(visits);
  assert.deepEqual(refused.toSorted(), ["a x2", "a x3", "b y1"]);
  assert.ok(admitted.includes("c z1"));
});
