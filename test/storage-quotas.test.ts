import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { Problem } from "../src/platform/problem.ts";
import { addRecords, readStorage, removeRecords, setStorageLimits } from "../src/platform/storage-quotas.ts";
import { runs } from "./support/fault-runs.ts";
import { startService, type TestService } from "./support/service.ts";

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

/** Limits and amounts of which some fit many times, some just fit, and some do not fit. */
const limits = fc.oneof(fc.nat(50), fc.nat(3_000));
const quotaChange = fc.oneof(
  { weight: 6, arbitrary: fc.record({ add: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 1_000 })) }) },
  { weight: 3, arbitrary: fc.record({ remove: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ limit: limits }) },
);

test("after any concurrent additions, removals and changes of the limit, exactly the room that is left can be used", async () => {
  const { db } = service;
  const bursts = fc.array(fc.array(quotaChange, { minLength: 5, maxLength: 30, size: "max" }), { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(limits, bursts, async (limit, scripts) => {
    const { id } = await service.newAccount();
    const read = async () => (await readStorage(db, id)).records;
    const add = (amount: number) =>
      db
        .write((tx) => addRecords(tx, id, amount))
        .then(
          () => true,
          (error: unknown) => {
            assert.ok(error instanceof Problem && error.code === "storage_limit_reached", String(error));
            return false;
          },
        );
    await db.write((tx) => setStorageLimits(tx, id, { records: limit, publishedBytes: 0 }));
    let [used, highest] = [0, limit];
    for (const script of scripts) {
      const run = async (change: (typeof script)[number]): Promise<number> => {
        if ("add" in change) return (await add(change.add)) ? change.add : 0;
        if ("limit" in change) {
          highest = Math.max(highest, change.limit);
          await db.write((tx) => setStorageLimits(tx, id, { records: change.limit, publishedBytes: 0 }));
          return 0;
        }
        const removed = Math.min(change.remove, used);
        used -= removed; // of what was there before the burst
        await db.write((tx) => removeRecords(tx, id, removed));
        return 0;
      };
      const added = await Promise.all(script.map(run));
      used += added.reduce((sum, amount) => sum + amount, 0);
      const now = await read();
      assert.equal(now.used, used);
      assert.ok(used <= highest, `${used} of ${highest}`);
      assert.equal(now.remaining, Math.max(0, now.limit - used));
      if (now.remaining > 0) assert.ok(await add(now.remaining));
      used += now.remaining;
      assert.equal(await add(1), false);
    }
  });
  await fc.assert(property, { numRuns: runs(10, 40) });
});
