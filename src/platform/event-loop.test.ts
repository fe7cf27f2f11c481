import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { openBounds } from "./bounds.ts";
import { openLoopTurns, openTurns, openWorkClock, watchEventLoop } from "./event-loop.ts";
import type { ShareLimits } from "./jobs/fair-share.ts";

/** Holds up the event loop. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test("a blocked event loop shows in the delay until two windows later", async (t) => {
  const delay = watchEventLoop();
  t.after(() => delay.stop());
  const longest = (): number => delay.metrics().find(({ name }) => name === "nodejs_eventloop_delay_max_seconds")?.samples[0]?.value ?? NaN;
  await pause(50);
  block(2_000);
  while (longest() < 1.9) await pause(10); // the histogram sees the delay when its timer runs
  delay.turn();
  assert.ok(longest() >= 1.9);
  delay.turn();
  assert.ok(longest() < 1.9, `${longest()} s`);
  assert.deepEqual(
    delay.metrics().flatMap(({ samples }) => samples.map(({ labels }) => labels?.["quantile"])),
    ["0.5", "0.99", undefined],
  );
});

/** Runs jobs that note their names, each of the key that its name begins with. */
function openJobs(limits?: ShareLimits) {
  const run = openLoopTurns(openBounds().queue<string>("handshakes", limits));
  const seen: string[] = [];
  const add = (name: string, then = (): void => undefined): void =>
    run(
      name[0]!,
      () => {
        seen.push(name);
        then();
      },
      () => seen.push(`no ${name}`),
    );
  return { seen, add };
}

test("jobs that arrive at once run one per turn of the event loop, and other work runs between them", async () => {
  const { seen, add } = openJobs();
  for (const name of ["a", "b", "c"]) add(name);
  for (let turn = 1; seen.length < 6; turn++) {
    await nextTurn();
    seen.push(String(turn));
  }
  assert.deepEqual(seen, ["a", "b", "1", "c", "2", "3"]);
});

test("a job that another job adds waits for a later turn", async () => {
  const { seen, add } = openJobs();
  add("a", () => (add("b"), add("c")));
  assert.deepEqual(seen, ["a"]);
  await nextTurn();
  assert.deepEqual(seen, ["a", "b"]);
  await nextTurn();
  assert.deepEqual(seen, ["a", "b", "c"]);
});

test("the next turn goes to the key that has used least, and jobs beyond the bound of a key get none", async () => {
  const { seen, add } = openJobs({ waitingMaxPerKey: 3 });
  for (let count = 1; count <= 5; count++) add(`a${count}`, () => block(1));
  add("b1");
  for (let turn = 0; turn < 6; turn++) await nextTurn();
  assert.deepEqual(seen, ["a1", "no a5", "b1", "a2", "a3", "a4"]);
});

test("a long loop gives other work as many turns as that has use for, within bounds", async () => {
  for (const [turnsOfOthers, given] of [
    [0, 1],
    [3, 4],
    [1_000, 8],
  ] as const) {
    let now = 0;
    const giveTurn = openTurns(() => now);
    now += 10;
    let [others, isOver] = [0, false];
    const work = (): void => {
      if (isOver) return;
      others += 1;
      if (others <= turnsOfOthers) now += 1;
      setImmediate(work);
    };
    setImmediate(work);
    await giveTurn();
    isOver = true;
    assert.equal(others, given, `${turnsOfOthers} turns with work`);
  }
});

test("the clocks of work stand still while other work has its turn, which it gives after 10 ms and once for all that ask", async () => {
  const system = { now: 0, cpu: 0 };
  const pass = (ms: number): void => void ((system.now += ms), (system.cpu += ms / 2));
  const work = openWorkClock({ now: () => system.now, cpu: () => system.cpu });
  pass(9);
  assert.equal(work.giveTurn(), undefined);
  pass(1);
  setImmediate(() => {
    pass(100);
    assert.deepEqual([work.now(), work.cpu()], [10, 5]);
  });
  const turn = work.giveTurn();
  assert.ok(turn);
  assert.equal(work.giveTurn(), turn);
  await turn;
  pass(2);
  assert.deepEqual([work.giveTurn(), work.now(), work.cpu()], [undefined, 12, 6]);
});
