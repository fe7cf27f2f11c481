import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { openPlaces, type PlacesOptions } from "./places.ts";

const longMs = 600_000;

/** Eight places for accounts and two reserved ones, and what was admitted or refused so far, as the account's number each. */
function openScene(t: TestContext, more: Partial<PlacesOptions> = {}) {
  const refusal = (reason: string) => new Error(reason);
  const places = openPlaces({ max: 10, reserved: 2, waitingMax: 100, waitMs: longMs, refusal, ...more });
  const admitted: (number | undefined)[] = [];
  const refused: (number | undefined)[] = [];
  const held: (number | undefined)[] = [];
  t.after(async () => {
    while (held.length > 0) await end(held[0]);
  });
  const ask = async (account: number | undefined, times = 1): Promise<void> => {
    for (let i = 0; i < times; i++) {
      const turn = Promise.resolve(places.take(account));
      turn.then(
        () => (admitted.push(account), held.push(account)),
        () => refused.push(account),
      );
    }
    await settled();
  };
  const end = async (account: number | undefined): Promise<void> => {
    held.splice(held.indexOf(account), 1);
    places.giveBack(account);
    await settled();
  };
  return { places, admitted, refused, held, ask, end };
}

const settled = () => new Promise(setImmediate);
const times = (n: number, account: number | undefined) => Array.from({ length: n }, () => account);

test("one account gets half of the accounts' places, a second a third, and a third one still finds a place", async (t) => {
  const { admitted, ask } = openScene(t);
  await ask(1, 20);
  assert.deepEqual(admitted.splice(0), times(4, 1));
  await ask(2, 20);
  assert.deepEqual(admitted.splice(0), times(3, 2));
  await ask(3, 20);
  assert.deepEqual(admitted.splice(0), [3]);
});

test("work of no account has places that accounts do not get, and goes first", async (t) => {
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
  const { places, admitted, refused, ask, end } = openScene(t, { max: 2, reserved: 0, waitingMax: 4 });
  await ask(8);
  await ask(9);
  await ask(1, 6);
  assert.deepEqual(refused.splice(0), [1, 1]);
  await ask(2, 3);
  assert.deepEqual(refused.splice(0), [1, 1, 2]);
  assert.deepEqual(places.load(), { inUse: 2, waiting: 4, refused: 5 });
  admitted.length = 0;
  for (const account of [8, 9, 1, 2]) await end(account);
  assert.deepEqual(admitted, [1, 2, 1, 2]);
});

test("work that waits too long is refused, and takes no place later", async (t) => {
  const { places } = openScene(t, { max: 1, reserved: 0, waitMs: 1 });
  await places.take(1);
  await assert.rejects(async () => places.take(2), /took too long/);
  places.giveBack(1);
  assert.deepEqual(places.load(), { inUse: 0, waiting: 0, refused: 1 });
  assert.equal(places.take(3), undefined);
});

test("in any order of arrivals and endings no bound is broken, and all work is admitted once the work before it has ended", async (t) => {
  const account = fc.constantFrom(1, 2, 3, 4, undefined);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ account, ends: fc.boolean() }), { maxLength: 60 }), async (steps) => {
      const { places, held, ask, end } = openScene(t, { max: 5, reserved: 1 });
      for (const step of steps) {
        if (step.ends && held.length > 0) await end(held[0]);
        else await ask(step.account);
        const byAccounts = held.filter((holder) => holder !== undefined);
        assert.ok(held.length <= 5 && byAccounts.length <= 4);
        for (const one of byAccounts) assert.ok(byAccounts.filter((holder) => holder === one).length <= 2);
        assert.equal(places.load().inUse, held.length);
      }
      while (held.length > 0) await end(held[0]);
      assert.deepEqual(places.load(), { inUse: 0, waiting: 0, refused: 0 });
    }),
    { numRuns: 200 },
  );
});
