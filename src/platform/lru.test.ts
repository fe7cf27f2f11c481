import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createLru } from "./lru.ts";

test("the least recently used values are dropped first", () => {
  const lru = createLru<string>(3);
  for (const key of ["a", "b", "c"]) lru.set(key, key, 1);
  lru.get("a");
  lru.set("d", "d", 1);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((key) => lru.get(key)),
    ["a", undefined, "c", "d"],
  );
  lru.set("e", "e", 3);
  assert.deepEqual(
    ["a", "c", "d", "e"].map((key) => lru.get(key)),
    [undefined, undefined, undefined, "e"],
  );
});

test("the values never weigh more than the limit, and a replaced value counts once", () => {
  const writes = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.integer({ min: 1, max: 12 })));
  fc.assert(
    fc.property(writes, (list) => {
      const lru = createLru<number>(10);
      for (const [key, weight] of list) lru.set(key, weight, weight);
      const kept = ["a", "b", "c", "d"].map((key) => lru.get(key) ?? 0);
      assert.ok(kept.reduce((total, weight) => total + weight, 0) <= 10);
      const last = list.at(-1);
      if (last !== undefined && last[1] <= 10) assert.equal(lru.get(last[0]), last[1]);
    }),
  );
});
