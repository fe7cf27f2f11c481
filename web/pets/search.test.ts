import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { soughtNumber } from "../parts/search-values.ts";
import { petSearch, filtersOf, isFoundByName, sortOf } from "./search.ts";

test("the filters are read from the address, and a number counts as a name", () => {
  const search = { q: 12, status: "sold", categoryId: 3, sort: "-name", animal: 7 };
  assert.partialDeepStrictEqual(petSearch(search), { q: "12", status: "sold", categoryId: 3, sort: "-name", animal: 7 });
});

test("invalid values and other parameters of the address are dropped", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("q", "status", "categoryId", "sort", "animal", "new", "x"), fc.anything()), (search) => {
      const { q, status, categoryId, sort, animal, ...more } = petSearch(search);
      assert.ok(q === undefined || (typeof q === "string" && q !== "" && q.length <= 200));
      assert.ok([undefined, "available", "pending", "sold"].includes(status));
      for (const id of [categoryId, animal]) assert.ok(id === undefined || (Number.isSafeInteger(id) && id > 0));
      assert.ok([undefined, "id", "-id", "name", "-name"].includes(sort));
      assert.deepEqual(Object.keys(more), ["new", "export", "inside"]);
    }),
  );
});

test("a number, with or without a sign or a word before it, is that of an animal or an order", () => {
  const texts = ["1234", "#1234", " # 7 ", "animal 9", "Animals 9", "0", "12a", "1 2", "1234567890123456", "Rex 1", ""];
  const numbers = [1234, 1234, 7, 9, 9, undefined, undefined, undefined, undefined, undefined, undefined];
  const of = (noun: "animal" | "order") => (text: string) => soughtNumber(text.replace(/animal/i, noun), noun);
  assert.deepEqual([texts.map(of("animal")), texts.map(of("order"))], [numbers, numbers]);
  assert.deepEqual([soughtNumber("order 9", "animal"), soughtNumber("animal 9", "order")], [undefined, undefined]);
  assert.deepEqual(
    ["1234", "Rex 12", "Rex-12", "Rex (1)", "Rex–1", "Rex #1", "Rex1", "Rex"].map((name) => isFoundByName(name, "1")),
    [true, true, true, true, true, true, false, false],
  );
});

test("with a name, the list can only be sorted by name", () => {
  assert.deepEqual(filtersOf({ q: "Re", sort: "-id" }), { q: "Re" });
  assert.deepEqual(filtersOf({ q: "Re", sort: "-name", animal: 1 }), { q: "Re", sort: "-name" });
  assert.deepEqual(filtersOf({ sort: "-id" }), { sort: "-id" });
  assert.deepEqual([sortOf({ q: "Re" }), sortOf({})], ["name", "id"]);
});
