import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Pet } from "./pets.ts";
import { batchesOf, batchKey, hashOf, planLoad, refusedElements } from "./plan.ts";
import type { Row } from "./source.ts";
import type { BatchElement, Known } from "./state.ts";
import { anyText } from "../../test/support/any-text.ts";

const aPet: fc.Arbitrary<Pet> = fc.record({
  sourceId: anyText({ minLength: 1, maxLength: 6 }),
  name: fc.string({ minLength: 1, maxLength: 4 }),
  category: fc.constantFrom("dog", "cat"),
  status: fc.constantFrom("available", "pending", "sold"),
});
const someRows = fc
  .uniqueArray(aPet, { selector: ({ sourceId }) => sourceId, maxLength: 60 })
  .map((animals): Row[] => animals.map((pet, index) => ({ line: index + 2, cells: [], pet })));

function loaded(rows: readonly Row[]): Map<string, Known> {
  return new Map(rows.map(({ pet }, index) => [pet.sourceId, { petId: index + 1, hash: hashOf(pet) }]));
}

test("a loaded row is never planned again, wherever the previous run stopped", () => {
  fc.assert(
    fc.property(someRows, fc.nat(60), (rows, stop) => {
      const plan = planLoad(rows, loaded(rows.slice(0, stop)));
      assert.deepEqual(
        plan.creations.map(({ row }) => row),
        rows.slice(stop),
      );
      assert.equal(plan.unchanged, Math.min(stop, rows.length));
      assert.equal(plan.updates.length, 0);
    }),
  );
});

test("exactly the rows whose animal changed are updated, under the id that they have in the shop", () => {
  fc.assert(
    fc.property(someRows, fc.func(fc.boolean()), (rows, changes) => {
      const later = rows.map((row) => (changes(row.line) ? { ...row, pet: { ...row.pet, name: `${row.pet.name}!` } } : row));
      const plan = planLoad(later, loaded(rows));
      assert.deepEqual(
        plan.updates,
        later.flatMap((row, index) => (changes(row.line) ? [{ row, petId: index + 1 }] : [])),
      );
      assert.equal(plan.unchanged + plan.updates.length, rows.length);
    }),
  );
});

test("batches hold all rows in their order, and none is over its size", () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 9 }), (list, size) => {
      const batches = batchesOf(list, size);
      assert.deepEqual(batches.flat(), list);
      assert.ok(
        batches.every((batch, index) => (index < batches.length - 1 ? batch.length === size : batch.length <= size && batch.length > 0)),
      );
    }),
  );
});

test("a batch's key is the same for the same rows, and differs for any others", () => {
  const element: BatchElement = { sourceId: "A1", hash: "", replaces: null, pet: { name: "Rex", categoryId: 1, status: "sold" } };
  const others: BatchElement[][] = [
    [],
    [element, element],
    [{ ...element, sourceId: "A2" }],
    [{ ...element, replaces: 7 }],
    [{ ...element, pet: { ...element.pet, name: "Max" } }],
    [{ ...element, pet: { ...element.pet, categoryId: 2 } }],
    [{ ...element, pet: { ...element.pet, status: "pending" } }],
  ];
  assert.equal(batchKey([element]), batchKey([structuredClone(element)]));
  assert.equal(new Set([[element], ...others].map(batchKey)).size, others.length + 1);
  assert.ok(batchKey([element]).length <= 255);
});

test("a category in another case is no change", () => {
  const pet: Pet = { sourceId: "1", name: "Rex", category: "Dog", status: "sold" };
  assert.equal(hashOf(pet), hashOf({ ...pet, category: "dog" }));
});

test("a refusal's details name elements of the batch; details that name none, or one outside the batch, are ignored", () => {
  const details = [
    { path: "body[1].name", message: "is too long" },
    { path: "body[1].status", message: "is wrong" },
    { path: "body[0]", message: "must be object" },
    { path: "body[2].name", message: "is too long" },
    { path: "body", message: "is wrong" },
  ];
  assert.deepEqual(
    [...refusedElements(details, 2)],
    [
      [1, "name is too long"],
      [0, "the row must be object"],
    ],
  );
});
