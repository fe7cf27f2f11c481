import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Problem } from "../problem.ts";
import type { Transaction } from "./database.ts";
import { openGroups } from "./postgres-groups.ts";

const tx = {} as Transaction; // the bodies of these tests do not use it

/** Groups whose transactions run until the test ends them, and a list of what each did. */
function openHeldGroups() {
  const done: string[] = [];
  const ends: (() => void)[] = [];
  const groups = openGroups(async (_account, body) => {
    const value = await body(tx);
    await new Promise<void>((resolve) => ends.push(resolve));
    return value;
  });
  const run = async (_tx: Transaction, inputs: number[]): Promise<string[]> => {
    done.push(`together ${inputs.join(" ")}`);
    return inputs.map((input) => `${input}`);
  };
  const add = (input: number, account = 1): Promise<string> => {
    const alone = async (): Promise<string> => {
      done.push(`alone ${input}`);
      return `${input}`;
    };
    return groups.write(account, alone, { run, input }, {});
  };
  /** Ends the transactions that run now, and lets the next ones begin. */
  const endAll = async (): Promise<void> => {
    for (const end of ends.splice(0)) end();
    await nextTurn();
    await nextTurn();
  };
  return { done, add, endAll, load: () => groups.load() };
}

const refusalOf = (write: Promise<unknown>): Promise<string> =>
  write.then(
    () => "done",
    (error: Problem) => (error.cause as Error).message,
  );

test("two groups of an account run at once; writes that arrive meanwhile form the next group, and another account does not wait", async () => {
  const { done, add, endAll } = openHeldGroups();
  const writes = [add(1), add(2)];
  await nextTurn();
  writes.push(add(3), add(4));
  await nextTurn();
  writes.push(add(5));
  await nextTurn();
  writes.push(add(6), add(7, 2));
  await nextTurn();
  assert.deepEqual(done, ["together 1 2", "together 3 4", "alone 7"]);
  await endAll();
  assert.deepEqual(done.slice(3), ["together 5 6"]);
  await endAll();
  assert.deepEqual(await Promise.all(writes), ["1", "2", "3", "4", "5", "6", "7"]);
});

test("a group has a hundred writes at most", async () => {
  const { done, add, endAll } = openHeldGroups();
  const writes = Array.from({ length: 250 }, (_, i) => add(i));
  await nextTurn();
  assert.deepEqual(
    done.map((group) => group.split(" ").length - 1),
    [100, 100],
  );
  await endAll();
  assert.equal(done[2]!.split(" ").length - 1, 50);
  await endAll();
  await Promise.all(writes);
});

test("a write is refused if 2,000 others wait, or after it has waited five seconds", async (t: TestContext) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { add, endAll, load } = openHeldGroups();
  const held = Array.from({ length: 200 }, (_, i) => add(i));
  await nextTurn();
  const waiting = Array.from({ length: 2_000 }, (_, i) => refusalOf(add(i)));
  assert.equal(await refusalOf(add(1)), "too many wait for a connection");
  assert.partialDeepStrictEqual(load(), { waiting: 2_000, refused: 1 });
  t.mock.timers.tick(5_000);
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set(["the wait for a connection took too long"]));
  assert.partialDeepStrictEqual(load(), { waiting: 0, refused: 2_001 });
  await endAll();
  await Promise.all(held);
  const next = add(1);
  await nextTurn();
  await endAll();
  assert.equal(await next, "1");
});

test("if the writes of one account fill the queue, its newest are refused, and another account still gets a place", async () => {
  const { add, endAll } = openHeldGroups();
  const running = Array.from({ length: 200 }, (_, i) => add(i));
  await nextTurn();
  const waiting = Array.from({ length: 2_000 }, (_, i) => refusalOf(add(i)));
  const others = [add(1, 2), add(2, 2)];
  assert.deepEqual(await Promise.all(waiting.slice(-2)), Array(2).fill("too many wait for a connection"));
  for (let round = 0; round < 12; round++) await endAll();
  assert.deepEqual(await Promise.all(others), ["1", "2"]);
  assert.deepEqual(new Set(await Promise.all(waiting.slice(0, -2))), new Set(["done"]));
  await Promise.all(running);
});
