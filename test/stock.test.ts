import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Order } from "./support/models.ts";
import { startService, type Reply, type TestService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { openStockOfNewAccount, type Stock } from "./support/stock.ts";

const insufficient: [number, string] = [409, "insufficient_stock"];
const sold: [number, string] = [409, "pet_not_available"];
const final: [number, string] = [409, "order_complete"];
const unknown: [number, string] = [422, "unknown_reference"];
const nobody = 999_999_999;

let running: TestService;
let service: TestService;
let stock: Stock;
before(async () => {
  running = await startService();
});
beforeEach(async () => {
  ({ service, stock } = await openStockOfNewAccount(running));
});
after(() => running.close());

test("orders of an untracked pet are not limited by stock, and hold nothing", async () => {
  const petId = await stock.untracked();
  const first = await stock.order({ petId, quantity: 2_147_483_647 });
  await stock.order({ petId, quantity: 2_147_483_647, complete: true });
  assert.deepEqual(await stock.seen(petId), { pet: "available" });

  await stock.count(petId, 3);
  await stock.cancel(first.id);
  assert.deepEqual(await stock.seen(petId), { quantity: 3, entry: "available", pet: "available" });
});

test("an unfulfilled order of a tracked pet takes its units from the entry", async () => {
  const petId = await stock.tracked(5);
  const order = await stock.order({ petId, quantity: 2 });
  assert.deepEqual(order, { id: order.id, petId, quantity: 2, complete: false });
  assert.equal((await stock.seen(petId)).quantity, 3);
  await stock.order({ petId });
  assert.equal((await stock.seen(petId)).quantity, 2);
});

test("an order of more units than are free is refused and changes nothing", async () => {
  const petId = await stock.tracked(2);
  await stock.refused(insufficient, "POST", "/store/orders", { petId, quantity: 3 });
  await stock.refused(insufficient, "POST", "/store/orders", { petId, quantity: 3, complete: true });
  const order = await stock.order({ petId, quantity: 2 });
  await stock.refused(insufficient, "PATCH", `/store/orders/${order.id}`, { quantity: 3 });
  await stock.refused(insufficient, "PUT", `/store/orders/${order.id}`, { petId, quantity: 3 });
  await stock.refused(insufficient, "POST", "/store/orders", { petId });
  const other = await stock.order({ petId: await stock.tracked(9), quantity: 9 });
  await stock.refused(insufficient, "PATCH", `/store/orders/${other.id}`, { petId });
});

test("an order of a sold pet is refused as pet_not_available, before its stock is checked", async () => {
  const untracked = await stock.untracked({ status: "sold" });
  await stock.refused(sold, "POST", "/store/orders", { petId: untracked });
  const emptied = await stock.tracked(0);
  await stock.refused(sold, "POST", "/store/orders", { petId: emptied, quantity: 7 });
  const draft = await stock.order({});
  await stock.refused(sold, "PATCH", `/store/orders/${draft.id}`, { petId: emptied });
});

test("both checks apply if the quantity of an order changes, and not if it stays", async () => {
  const petId = await stock.untracked();
  const order = await stock.order({ petId, quantity: 4 });
  await made(service, "PATCH", `/pets/${petId}`, { status: "sold" });
  await stock.refused(sold, "PATCH", `/store/orders/${order.id}`, { quantity: 5 });
  await stock.refused(sold, "PATCH", `/store/orders/${order.id}`, { quantity: 3 });
  assert.deepEqual(await stock.patch(order.id, { petId, quantity: 4, complete: true }), { ...order, complete: true });
});

test("an untracked pet that is pending may be ordered", async () => {
  await stock.order({ petId: await stock.untracked({ status: "pending" }) });
});

test("an order of an unknown pet is refused, on creation and on change", async () => {
  await stock.refused(unknown, "POST", "/store/orders", { petId: nobody });
  const order = await stock.order({ petId: await stock.tracked(1) });
  await stock.refused(unknown, "PATCH", `/store/orders/${order.id}`, { petId: nobody });
  await stock.refused(unknown, "PUT", `/store/orders/${order.id}`, { petId: nobody });
});

test("an unknown pet is reported before a complete order", async () => {
  const order = await stock.order({ complete: true });
  await stock.refused(unknown, "PATCH", `/store/orders/${order.id}`, { petId: nobody, complete: false });
  await stock.refused(final, "PATCH", `/store/orders/${order.id}`, { petId: await stock.tracked(0) });
});

test("deleting an unfulfilled order returns its units to the stock, once", async () => {
  const petId = await stock.tracked(3);
  const { id } = await stock.order({ petId, quantity: 3 });
  await stock.cancel(id);
  assert.equal((await stock.seen(petId)).quantity, 3);
  await stock.refused([404, "not_found"], "DELETE", `/store/orders/${id}`);
  assert.equal((await stock.seen(petId)).quantity, 3);
});

test("changing the quantity takes or returns the difference", async () => {
  const petId = await stock.tracked(10);
  const { id } = await stock.order({ petId, quantity: 4 });
  for (const [quantity, free] of [
    [7, 3],
    [10, 0],
    [1, 9],
  ] as const) {
    assert.equal((await stock.patch(id, { quantity })).quantity, quantity);
    assert.equal((await stock.seen(petId)).quantity, free);
  }
  await made(service, "PUT", `/store/orders/${id}`, { petId, quantity: 5 });
  assert.equal((await stock.seen(petId)).quantity, 5);
  await made(service, "PUT", `/store/orders/${id}`, { petId });
  assert.equal((await stock.seen(petId)).quantity, 9, "a quantity that is left out is 1");
});

test("only held units are ever returned to the stock", async () => {
  const petId = await stock.untracked();
  const { id } = await stock.order({ petId, quantity: 5 });
  await stock.count(petId, 2);
  await stock.patch(id, { quantity: 7 });
  assert.equal((await stock.seen(petId)).quantity, 0, "the difference is taken, and held");
  await stock.patch(id, { quantity: 4 });
  assert.equal((await stock.seen(petId)).quantity, 2, "of three fewer, two are held");
  await stock.cancel(id);
  assert.equal((await stock.seen(petId)).quantity, 2);
});

test("changing the pet returns the units, then takes them from the new pet's stock", async () => {
  const [from, to] = [await stock.tracked(3), await stock.tracked(5)];
  const { id } = await stock.order({ petId: from, quantity: 3 });
  await stock.patch(id, { petId: to, quantity: 4 });
  assert.deepEqual(await stock.seen(from), { quantity: 3, entry: "available", pet: "available" });
  assert.equal((await stock.seen(to)).quantity, 1);
  await stock.patch(id, { petId: await stock.untracked() });
  assert.equal((await stock.seen(to)).quantity, 5);
});

test("petId null, or a PUT without petId, makes the order a draft and returns its units", async () => {
  const petId = await stock.tracked(2);
  const { id } = await stock.order({ petId, quantity: 2 });
  assert.deepEqual(await stock.patch(id, { petId: null }), { id, quantity: 2, complete: false });
  assert.equal((await stock.seen(petId)).quantity, 2);
  await stock.patch(id, { petId });
  assert.equal((await stock.seen(petId)).quantity, 0);
  await made(service, "PUT", `/store/orders/${id}`, { quantity: 2 });
  assert.equal((await stock.seen(petId)).quantity, 2);
});

test("an order without petId is a draft that holds nothing, and may be completed", async () => {
  const draft = await stock.order({});
  assert.deepEqual(draft, { id: draft.id, quantity: 1, complete: false });
  assert.deepEqual(await stock.patch(draft.id, { complete: true }), { ...draft, complete: true });
});

test("completing an order turns its held units into sold ones, on creation too", async () => {
  const petId = await stock.tracked(3);
  const { id } = await stock.order({ petId, quantity: 2 });
  await stock.patch(id, { complete: true });
  assert.deepEqual(await stock.seen(petId), { quantity: 1, entry: "available", pet: "available" });
  await stock.order({ petId, complete: true });
  assert.deepEqual(await stock.seen(petId), { quantity: 0, entry: "sold", pet: "sold" });
  const both = await stock.tracked(5);
  await stock.patch((await stock.order({ petId: both })).id, { quantity: 5, complete: true });
  assert.deepEqual(await stock.seen(both), { quantity: 0, entry: "sold", pet: "sold" }, "changed and completed at once");
});

test("a complete order is final: only its shipDate may still change", async () => {
  const petId = await stock.tracked(2);
  const { id } = await stock.order({ petId, complete: true });
  const path = `/store/orders/${id}`;
  for (const body of [{ petId: null }, { petId: await stock.untracked() }, { quantity: 2 }, { complete: false }, { complete: null }]) {
    await stock.refused(final, "PATCH", path, body);
  }
  await stock.refused(final, "PUT", path, { petId });
  await stock.refused(final, "DELETE", path);
  const shipped = { id, petId, quantity: 1, complete: true, shipDate: "2026-12-24T10:00:00Z" };
  assert.deepEqual(await stock.patch(id, { shipDate: "2026-12-24T11:00:00+01:00" }), shipped);
  const { shipDate: _shipDate, ...unshipped } = shipped;
  assert.deepEqual(await made<Order>(service, "PUT", path, { petId, complete: true }), unshipped);
  assert.equal((await stock.seen(petId)).quantity, 1);
});

test("deleting an entry drops all holds", async () => {
  const petId = await stock.tracked(5);
  const orders = [await stock.order({ petId, quantity: 2 }), await stock.order({ petId, quantity: 3 })] as const;
  await stock.untrack(petId);
  assert.deepEqual(await stock.seen(petId), { pet: "pending" });
  await stock.count(petId, 1);
  assert.deepEqual(await stock.seen(petId), { quantity: 1, entry: "available", pet: "available" });
  await stock.cancel(orders[0].id);
  await stock.patch(orders[1].id, { complete: true });
  assert.equal((await stock.seen(petId)).quantity, 1);
});

test("a pet with an unfulfilled order, tracked or not, cannot be deleted", async () => {
  for (const petId of [await stock.tracked(2), await stock.untracked()]) {
    const { id } = await stock.order({ petId });
    await stock.refused([409, "pet_in_use"], "DELETE", `/pets/${petId}`);
    await stock.patch(id, { petId: null });
    await made(service, "DELETE", `/pets/${petId}`);
  }
});

test("deleting a pet deletes its entry, and complete orders keep its id", async () => {
  const petId = await stock.tracked(2);
  const { id } = await stock.order({ petId, complete: true });
  await made(service, "DELETE", `/pets/${petId}`);
  await stock.refused([404, "not_found"], "GET", `/store/inventory/${petId}`);
  assert.equal((await made<Order>(service, "GET", `/store/orders/${id}`)).petId, petId);
  assert.deepEqual(await made<Order[]>(service, "GET", `/store/orders?petId=${petId}`), [{ id, petId, quantity: 1, complete: true }]);
  const shipDate = "2027-01-01T00:00:00Z";
  assert.equal((await made<Order>(service, "PUT", `/store/orders/${id}`, { petId, complete: true, shipDate })).shipDate, shipDate);
  await stock.refused([404, "not_found"], "PUT", `/store/inventory/${petId}`, { quantity: 1 });
});

test("a count replaces the free units and not the held ones; the first one starts tracking and returns 201", async () => {
  const petId = await stock.untracked();
  const put = (quantity: number): Promise<Reply> => service.ask("PUT", `/store/inventory/${petId}`, { body: { quantity } });
  const begun = await put(4);
  assert.deepEqual([begun.status, begun.body], [201, { petId, quantity: 4, status: "available" }]);
  assert.equal(begun.headers.get("location"), `/v1/store/inventory/${petId}`);
  const { id } = await stock.order({ petId, quantity: 4 });
  const again = await put(0);
  assert.deepEqual([again.status, again.body], [200, { petId, quantity: 0, status: "pending" }]);
  await stock.cancel(id);
  assert.equal((await stock.seen(petId)).quantity, 4);
});

test("an adjustment is relative, is refused below zero, and needs a tracked pet", async () => {
  const petId = await stock.tracked(3);
  const path = `/store/inventory/${petId}/adjustments`;
  await stock.order({ petId });
  assert.deepEqual(await made(service, "POST", path, { delta: 5 }), { petId, quantity: 7, status: "available" });
  await stock.refused(insufficient, "POST", path, { delta: -8 });
  assert.deepEqual(await made(service, "POST", path, { delta: -7 }), { petId, quantity: 0, status: "pending" });
  assert.deepEqual(await made(service, "POST", path, { delta: 0 }), { petId, quantity: 0, status: "pending" });
  await stock.refused([404, "not_found"], "POST", `/store/inventory/${await stock.untracked()}/adjustments`, { delta: 1 });
});

test("free and held units together never exceed the largest count", async () => {
  const most = 2_147_483_647;
  const petId = await stock.tracked(most);
  const { id } = await stock.order({ petId, quantity: 1 });
  await stock.refused([400, "invalid_request"], "PUT", `/store/inventory/${petId}`, { quantity: most });
  await stock.refused([400, "invalid_request"], "POST", `/store/inventory/${petId}/adjustments`, { delta: 1 });
  await stock.cancel(id);
  assert.equal((await stock.seen(petId)).quantity, most);
});
