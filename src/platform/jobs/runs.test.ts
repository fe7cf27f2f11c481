import assert from "node:assert/strict";
import { test } from "node:test";
import { coalesced, openSharedRuns } from "./runs.ts";

/** Work whose runs end when the test says. */
function held() {
  const runs: PromiseWithResolvers<void>[] = [];
  const work = (): Promise<void> => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  };
  return { runs, work };
}

test("calls during a run share one more run after it", async () => {
  const { runs, work } = held();
  const { run, running } = coalesced(work);
  const calls = [run(), run(), run()];
  assert.equal(runs.length, 1);
  runs[0]!.resolve();
  await Promise.resolve();
  await new Promise(setImmediate);
  assert.equal(runs.length, 2);
  assert.notEqual(running(), undefined);
  runs[1]!.resolve();
  await Promise.all(calls);
  assert.deepEqual([runs.length, running()], [2, undefined]);
});

test("an error of a run reaches its callers, does not drop the run that was asked for meanwhile, and is forgotten after", async () => {
  const { runs, work } = held();
  const { run } = coalesced(work);
  const calls = [run(), run()];
  runs[0]!.reject(new Error("lost"));
  await new Promise(setImmediate);
  runs[1]!.resolve();
  for (const call of calls) await assert.rejects(call, /lost/);
  const next = run();
  runs[2]!.resolve();
  await next;
});

test("calls of a key share its run, and the next call runs again, also after an error", async () => {
  const sharing = openSharedRuns<string, number>();
  let runs = 0;
  const work = (): Promise<number> => Promise.resolve(++runs);
  const shared = [sharing.run("a", work), sharing.run("a", work), sharing.run("b", work)];
  assert.deepEqual(await Promise.all(shared), [1, 1, 2]);
  assert.equal(sharing.get("a"), undefined);
  await assert.rejects(
    sharing.run("a", () => Promise.reject(new Error("lost"))),
    /lost/,
  );
  assert.equal(await sharing.run("a", work), 3);
});
