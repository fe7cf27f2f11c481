import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { batchesOf, refusedElements } from "./load.ts";

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
