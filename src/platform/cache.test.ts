import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createCache } from "./cache.ts";

test("the least recently used values are dropped first", () => {
  const cache = createCache<string, string>(3);
  for (const key of ["a", "b", "c"]) cache.set(key, key);
  cache.get("a");
  cache.set("d", "d");
  assert.deepEqual(
    ["a", "b", "c", "d"].map((key) => cache.get(key)),
    ["a", undefined, "c", "d"],
  );
  cache.set("e", "e", 3);
  assert.deepEqual(
    ["a", "c", "d", "e"].map((key) => cache.get(key)),
    [undefined, undefined, undefined, "e"],
  );
});

test("the values never weigh more than the limit, and a replaced value counts once", () => {
  const writes = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.integer({ min: 1, max: 12 })));
  fc.assert(
    fc.property(writes, (list) => {
      const cache = createCache<string, number>(10);
      for (const [key, weight] of list) cache.set(key, weight, weight);
      const kept = ["a", "b", "c", "d"].map((key) => cache.get(key) ?? 0);
      assert.ok(kept.reduce((total, weight) => total + weight, 0) <= 10);
      const last = list.at(-1);
      if (last !== undefined && last[1] <= 10) assert.equal(cache.get(last[0]), last[1]);
    }),
  );
});

test("a value that was only peeked at is dropped as if it had not been used", () => {
  const cache = createCache<string, string>(2);
  for (const key of ["a", "b"]) cache.set(key, key);
  assert.equal(cache.peek("a"), "a");
  cache.set("c", "c");
  assert.deepEqual(
    [...cache].map(([key]) => key),
    ["b", "c"],
  );
});

test("what happens to a cache is what happens to a list in the order of use", () => {
  const step = fc.tuple(fc.constantFrom("get", "set", "delete"), fc.constantFrom("a", "b", "c", "d", "e"));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const cache = createCache<string, number>(3);
      let used: [key: string, value: number][] = [];
      for (const [i, [what, key]] of steps.entries()) {
        const known = used.find(([own]) => own === key);
        if (what === "get") assert.equal(cache.get(key), known?.[1]);
        else if (what === "delete") assert.equal(cache.delete(key), known !== undefined);
        else assert.equal(cache.set(key, i), i);
        const next = what === "set" ? [[key, i] as [string, number]] : what === "get" && known ? [known] : [];
        used = [...used.filter(([own]) => own !== key), ...next].slice(-3);
        assert.equal(cache.size(), used.length);
        assert.deepEqual(new Map(cache), new Map(used));
      }
    }),
  );
});

test("repeated sweeps drop all idle values, also if values are set and used meanwhile", () => {
  const cache = createCache<number, number>(10_000);
  for (let i = 0; i < 5_000; i++) cache.set(i, i);
  for (let i = 0; i < 10; i++) {
    cache.sweep((value) => value % 2 === 0);
    cache.set(10_001 + 2 * i, 10_001 + 2 * i);
    cache.get(i);
  }
  assert.equal(cache.size(), 2_510);
  assert.ok([...cache].every(([, value]) => value % 2 === 1));
});
