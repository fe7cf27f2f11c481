import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenOf, entriesOf, typeChoices } from "./types.ts";

test("the types of events are listed in groups, each with a choice for all of its types", () => {
  const order = typeChoices.find(({ group }) => group === "order");
  assert.deepEqual(order, {
    group: "order",
    all: "order.*",
    types: ["order.created", "order.updated", "order.completed", "order.cancelled"],
  });
  assert.equal(new Set(typeChoices.map(({ group }) => group)).size, typeChoices.length);
});

test("choosing nothing means everything", () => {
  assert.deepEqual(entriesOf([]), ["*"]);
  assert.deepEqual(chosenOf(["*"]), []);
  assert.deepEqual(chosenOf(entriesOf(["order.*", "pet.created"])), ["order.*", "pet.created"]);
});
