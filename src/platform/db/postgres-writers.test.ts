import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openFairShare, release, type ShareLimits } from "../jobs/fair-share.ts";
import { systemHandle, type CallerKey, type Handle, type Transaction } from "./database.ts";
import { openGroups } from "./postgres-writers.ts";

const tx = {} as Transaction; // the bodies of these tests do not use it

/** Groups whose transactions run until the test ends them, and a list of what each did. */
function openHeldGroups(limits: ShareLimits = {}) {
  const done: string[] = [];
  const ends: (() => void)[] = [];
  const busy = (): Error => new Error("busy");
  const places = openFairShare<CallerKey>({ max: 10, reserved: 2, ...limits }, busy, () => 0);
  const awaitPlace = () => assert.fail("no write of these tests is left out of its group");
  const write = openGroups({ places, awaitPlace }, async ({ caller }, body) => {
    const value = await body(tx);
    await new Promise<void>((resolve) => ends.push(resolve));
    release(places, caller);
    return value;
  });
  const kind = async (_tx: Transaction, inputs: readonly { id: number }[]) => {
    done.push(inputs.map(({ id }) => id).join(" "));
    return inputs.map(({ id }) => `${id}`);
  };
  const add = (id: number, handle: Partial<Handle> = {}): Promise<string> => write({ ...systemHandle, caller: 1, ...handle }, kind, { id });
  /** Ends the transactions that run now, and lets the next ones begin. */
  const endAll = async (): Promise<void> => {
    for (const end of ends.splice(0)) end();
    await nextTurn();
    await nextTurn();
  };
  return { places, done, add, endAll };
}

const refusalOf = (write: Promise<unknown>): Promise<string> =>
  write.then(
    () => "done",
    (error: Error) => error.message,
  );

test("writes of one turn are a group; while two groups of an account run, its writes form the next one, and another account does not wait", async () => {
  const { done, add, endAll } = openHeldGroups();
  const writes = [add(1), add(2)];
  await nextTurn();
  writes.push(add(3), add(4));
  await nextTurn();
  writes.push(add(5));
  await nextTurn();
  writes.push(add(6));
  await nextTurn();
  assert.deepEqual(done, ["1 2", "3 4"]);
  await endAll();
  assert.deepEqual(done.slice(2), ["5 6"]);
  writes.push(add(7, { caller: 2 }));
  await nextTurn();
  assert.deepEqual(done.slice(3), ["7"]);
  await endAll();
  assert.deepEqual(await Promise.all(writes), ["1", "2", "3", "4", "5", "6", "7"]);
});

test("a group has a hundred writes at most, and uses one place", async () => {
  const { places, done, add, endAll } = openHeldGroups();
  const writes = Array.from({ length: 250 }, (_, i) => add(i));
  await nextTurn();
  assert.deepEqual(
    done.map((group) => group.split(" ").length),
    [100, 100, 50],
  );
  assert.deepEqual([places.inUse, places.waiting], [3, 0]);
  await endAll();
  await Promise.all(writes);
  assert.equal(places.inUse, 0);
});

test("a write waits among all writes: the newest of the account with most is refused when too many wait", async () => {
  const { done, add, endAll } = openHeldGroups({ max: 1, reserved: 0, maxPerKey: 1, waitingMax: 3 });
  const running = add(0);
  await nextTurn();
  const waiting = [1, 2, 3].map((input) => refusalOf(add(input)));
  const other = add(4, { caller: 2 });
  assert.equal(await waiting[2], "busy");
  for (let i = 0; i < 3; i++) await endAll();
  assert.deepEqual([await running, await Promise.all(waiting), await other], ["0", ["done", "done", "busy"], "4"]);
  assert.deepEqual(done, ["0", "1 2", "4"]);
});

test("writes whose clients have gone are left out, and a group of them alone uses no place", async () => {
  const { places, done, add, endAll } = openHeldGroups();
  const gone = { isGone: (): boolean => true };
  const writes = [add(1, gone), add(2), add(3, gone), add(4, { caller: 2, ...gone })].map(refusalOf);
  await nextTurn();
  assert.deepEqual([done, places.inUse], [["2"], 1]);
  await endAll();
  const left = "The client closed its connection before the change had its turn.";
  assert.deepEqual(await Promise.all(writes), [left, "done", left, left]);
});

test("writes that come in the moment in which the last group of their account ends begin too", async () => {
  const { done, add, endAll } = openHeldGroups();
  const writes = [add(1)];
  await nextTurn();
  writes.push(add(2));
  await nextTurn();
  let last: Promise<string> | undefined;
  void writes[1]!.then(() => (last = add(3)));
  await endAll();
  await endAll();
  assert.deepEqual([await Promise.all(writes), await last, done.at(-1)], [["1", "2"], "3", "3"]);
});
