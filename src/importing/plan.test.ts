import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Pet } from "./pets.ts";
import { batchesOf, batchKey, hashOf, refusedElements } from "./plan.ts";
import type { BatchElement } from "./state.ts";

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
    { path: "body[1].pet.name", message: "is too long" },
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
