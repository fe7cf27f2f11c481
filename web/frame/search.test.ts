import assert from "node:assert/strict";
import { test } from "node:test";
import { search } from "./search.ts";

const items = [
  { id: "list", texts: ["List animals", "GET /pets", "listPets"] },
  { id: "create", texts: ["Create an animal", "POST /pets", "createPet"] },
  { id: "orders", texts: ["List orders", "GET /store/orders", "listOrders"] },
];

function found(query: string): string[] {
  return search(query, items).map(({ id }) => id);
}

test("without a query all entries are found, in their order", () => {
  assert.deepEqual(found(""), ["list", "create", "orders"]);
  assert.deepEqual(found("  "), ["list", "create", "orders"]);
});

test("every word must occur, in any text, in any case", () => {
  assert.deepEqual(found("LIST orders"), ["orders"]);
  assert.deepEqual(found("get pets"), ["list"]);
  assert.deepEqual(found("list nothing"), []);
});

test("a match at the beginning of a word counts, even if the query's word also occurs inside an earlier word", () => {
  const actions = [
    { id: "pet", texts: ["Create a pet", "POST /pets", "an Idempotency-Key"] },
    { id: "key", texts: ["Create a key", "API keys"] },
  ];
  assert.deepEqual(
    search("create a key", actions).map(({ id }) => id),
    ["key", "pet"],
  );
});

test("a word that begins the first text comes before one inside a later text", () => {
  assert.deepEqual(found("create"), ["create"]);
  assert.deepEqual(found("pet"), ["list", "create"]);
  assert.deepEqual(
    search("list", items.toReversed()).map(({ id }) => id),
    ["orders", "list"],
  );
});
