import assert from "node:assert/strict";
import { test } from "node:test";
import { createTurns } from "./turns.ts";

/** Work that is done when it is told to be. */
function openDesk(limits: Parameters<typeof createTurns>[0]) {
  const take = createTurns(limits);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (asker: string, name: string) =>
    take(asker, () => {
      begun.push(name);
      return new Promise<string>((end) => ends.push(() => end(name)));
    });
  const endFirst = async () => {
    ends.shift()!();
    await new Promise(setImmediate);
  };
  return { begun, ask, endFirst };
}

test("who waits comes in turn by who asked, however many one asker has waiting", async () => {
  const { begun, ask, endFirst } = openDesk({ runningMax: 2, runningMaxEach: 2, waitingMax: 100, waitingMaxEach: 100 });
  const asked = ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"].map((name) => ask(name[0]!, name));
  for (let i = 0; i < asked.length; i++) await endFirst();
  assert.deepEqual(begun, ["a1", "a2", "a3", "b1", "c1", "a4", "b2", "a5"]);
  assert.deepEqual(await Promise.all(asked), ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"]);
});

test("no more wait than may, of one asker and of all, and those beyond are told at once", async () => {
  const { ask, endFirst } = openDesk({ runningMax: 1, runningMaxEach: 1, waitingMax: 3, waitingMaxEach: 2 });
  const running = ask("a", "a1");
  const waiting = [ask("a", "a2"), ask("a", "a3")];
  assert.equal(await ask("a", "a4"), null);
  waiting.push(ask("b", "b1"));
  assert.equal(await ask("c", "c1"), null);
  for (let i = 0; i < 4; i++) await endFirst();
  assert.deepEqual([await running, ...(await Promise.all(waiting))], ["a1", "a2", "a3", "b1"]);
  const later = ask("c", "c2");
  await endFirst();
  assert.equal(await later, "c2");
});

test("no asker has more running than its share, so that another begins at once", async () => {
  const { begun, ask, endFirst } = openDesk({ runningMax: 3, runningMaxEach: 2, waitingMax: 100, waitingMaxEach: 100 });
  const asked = ["a1", "a2", "a3", "b1", "b2"].map((name) => ask(name[0]!, name));
  assert.deepEqual(begun, ["a1", "a2", "b1"]);
  for (let i = 0; i < asked.length; i++) await endFirst();
  assert.deepEqual(begun.toSorted(), ["a1", "a2", "a3", "b1", "b2"]);
  assert.deepEqual(await Promise.all(asked), ["a1", "a2", "a3", "b1", "b2"]);
});
