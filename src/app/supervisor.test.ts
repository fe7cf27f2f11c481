import assert from "node:assert/strict";
import { test } from "node:test";
import { afterEnd, type WorkerExit, noExits } from "./supervisor.ts";

const refused: WorkerExit = { code: 1, signal: null, wasReady: false, isLasting: false, ranMs: 400 };
const wrong: WorkerExit = { ...refused, isLasting: true };
const killed: WorkerExit = { ...refused, code: null, signal: "SIGKILL" };
const ran: WorkerExit = { ...killed, wasReady: true };

/** Returns the next step after each of these ends of one worker: a pause, or the exit code of all. */
function after(...endings: WorkerExit[]) {
  let ends = noExits;
  return endings.map((ending) => {
    const { ends: next, next: what } = afterEnd(ends, ending);
    ends = next;
    return "nextMs" in what ? what.nextMs : { exitCode: what.exitCode };
  });
}

test("a worker that fails at its first start ends all, with its exit code", () => {
  assert.deepEqual(after(refused), [{ exitCode: 1 }]);
  assert.deepEqual(after({ ...refused, code: 74 }), [{ exitCode: 74 }]);
  assert.deepEqual(after({ ...refused, code: 0 }), [{ exitCode: 1 }]);
});

test("a worker that has run starts again with growing, bounded pauses, however often a full disk or an absent database refuses it", () => {
  const pauses = after(ran, ...Array.from({ length: 200 }, () => refused));
  assert.deepEqual(pauses.slice(0, 8), [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.equal(pauses.at(-1), 30_000);
});

test("after a long run the pause begins again at its shortest", () => {
  assert.deepEqual(after(ran, ran, ran, { ...ran, ranMs: 60_001 }, ran), [500, 1_000, 2_000, 500, 1_000]);
});

test("a wrong setting or schema ends all at the fifth failed start in a row, and not before", () => {
  const four = [wrong, wrong, wrong, wrong];
  assert.deepEqual(after(ran, ...four, wrong).slice(-2), [8_000, { exitCode: 1 }]);
  assert.ok(after(ran, ...four, ran, ...four, refused, ...four).every((next) => typeof next === "number"));
});

test("signals that end a worker five times before it was ever ready end all, with a line that says so", () => {
  assert.deepEqual(after(killed, killed, killed, killed, killed).at(-1), { exitCode: 1 });
  let ends = noExits;
  for (let i = 0; i < 4; i++) ({ ends } = afterEnd(ends, killed));
  const { next } = afterEnd(ends, killed);
  assert.deepEqual(next, { exitCode: 1, reason: "a worker was ended by SIGKILL 5 times before it was ready" });
});
