import assert from "node:assert/strict";
import { test } from "node:test";
import { movedTo } from "./photo-order.ts";

test("an entry moves to its new index, or to the nearest end, and the others keep their order", () => {
  const list = [1, 2, 3, 4].map((id) => ({ id }));
  const ids = (id: number, to: number) => movedTo(list, id, to).map((one) => one.id);
  assert.deepEqual(ids(3, 0), [3, 1, 2, 4]);
  assert.deepEqual(ids(1, 3), [2, 3, 4, 1]);
  assert.deepEqual(ids(2, 9), [1, 3, 4, 2]);
  assert.deepEqual(ids(2, -1), [2, 1, 3, 4]);
  assert.deepEqual(ids(5, 0), [1, 2, 3, 4], "it was removed meanwhile");
});
