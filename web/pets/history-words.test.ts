import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, entriesOf, titleOf, type HistoryEvent } from "./history-words.ts";

const actor = { type: "member" as const, id: 1, name: "ann@shop.example" };
const event = (position: number, type: string, more: Partial<HistoryEvent> = {}): HistoryEvent => {
  return { position, type, at: "2026-01-01T00:00:00Z", actor, requestId: "one", changes: [], ...more };
};
const shown = (events: HistoryEvent[]) => entriesOf(events).map((entry) => [titleOf(entry), ...changesOf(entry, new Map([[2, "Cats"]]))]);

test("an order is one entry with the stock and the status that it changed, and two orders of one request are two", () => {
  const statusChange = { field: "status", before: "available", after: "pending" };
  assert.deepEqual(
    shown([
      event(9, "order.cancelled", { orderId: 4, quantity: 1, requestId: null }),
      event(8, "order.cancelled", { orderId: 3, quantity: 1, requestId: null }),
      event(7, "pet.updated", { changes: [statusChange] }),
      event(6, "inventory.updated", { changes: [{ field: "quantity", before: 2, after: 0 }, statusChange] }),
      event(5, "order.created", { orderId: 3, quantity: 2 }),
    ]),
    [["Order cancelled: 1 unit"], ["Order cancelled: 1 unit"], ["Ordered: 2 units", "Stock: 2 → 0", "Status: Available → Pending"]],
  );
});

test("changes of another time, actor or request are entries of their own, with their fields in words", () => {
  const price = { field: "price", before: null, after: { amount: 4_900, currency: "EUR" } };
  const texts = [
    { field: "description", before: null, after: null },
    { field: "photos", before: 2, after: 2 },
  ];
  assert.deepEqual(
    shown([
      event(5, "pet.profile_updated", { changes: texts, at: "2026-01-01T00:00:02Z" }),
      event(4, "pet.profile_updated", { changes: [price], requestId: "two" }),
      event(3, "pet.updated", { changes: [{ field: "categoryId", before: 1, after: 2 }] }),
      event(2, "inventory.deleted", { actor: { ...actor, id: 2 } }),
      event(1, "pet.created", { actor: { type: "key", id: 2, name: null } }),
    ]),
    [
      ["Changed", "The description changed", "The photos changed"],
      ["Changed", "Price: none → €49.00"],
      ["Changed", "Category: Category 1 → Cats"],
      ["Stock is no longer counted"],
      ["Added"],
    ],
  );
});
