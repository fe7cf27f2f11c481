import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Failure, Pet } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { openStockOfNewAccount, type Stock } from "./support/stock.ts";

const sold: [number, string] = [409, "pet_not_available"];

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

test("the status of a tracked pet and of its entry follow the stock", async () => {
  const petId = await stock.tracked(1);
  const { id } = await stock.order({ petId });
  assert.deepEqual(await stock.seen(petId), { quantity: 0, entry: "pending", pet: "pending" });
  await stock.cancel(id);
  assert.equal((await stock.seen(petId)).pet, "available");
  const second = await stock.order({ petId });
  await stock.patch(second.id, { complete: true });
  assert.deepEqual(await stock.seen(petId), { quantity: 0, entry: "sold", pet: "sold" });
  await made(service, "POST", `/store/inventory/${petId}/adjustments`, { delta: 1 });
  assert.equal((await stock.seen(petId)).pet, "available");
  await stock.count(petId, 0);
  assert.deepEqual(await stock.seen(petId), { quantity: 0, entry: "sold", pet: "sold" });
});

test("filters find a pet and its entry by the status that follows from the stock", async () => {
  const petId = await stock.tracked(1);
  await stock.order({ petId });
  assert.deepEqual(
    (await made<Pet[]>(service, "GET", "/pets?status=pending")).map(({ id }) => id),
    [petId],
  );
  assert.deepEqual(await made(service, "GET", "/store/inventory?status=pending"), [{ petId, quantity: 0, status: "pending" }]);
  assert.deepEqual(await made(service, "GET", "/store/inventory?status=available"), []);
});

test("writing another status to a tracked pet returns a 409 that names the status that follows from its stock", async () => {
  const stocks: [free: number, held: number, status: string][] = [
    [2, 1, "available"],
    [0, 3, "pending"],
    [0, 0, "sold"],
  ];
  for (const [free, held, status] of stocks) {
    const petId = await stock.tracked(free + held);
    if (held > 0) await stock.order({ petId, quantity: held });
    const earlier = await service.ask<Pet>("GET", `/pets/${petId}`);
    assert.equal(earlier.body.status, status);
    const { id: _id, ...fields } = earlier.body;
    for (const other of ["available", "pending", "sold"].filter((one) => one !== status)) {
      const writes = [
        ["PATCH", { status: other }],
        ["PATCH", { name: "Max", status: other }],
        ["PUT", { ...fields, name: "Max", status: other }],
      ] as const;
      for (const [method, body] of writes) {
        const refused = await service.ask<Failure>(method, `/pets/${petId}`, { body });
        assert.deepEqual([refused.status, refused.body.code], [409, "status_follows_stock"]);
        for (const part of [`is ${status}`, `${free} free, ${held} held`, `PUT /v1/store/inventory/${petId}`, `to ${other}`])
          assert.ok(refused.body.message.includes(part), refused.body.message);
      }
    }
    const later = await service.ask<Pet>("GET", `/pets/${petId}`);
    assert.deepEqual([later.body, later.headers.get("etag")], [earlier.body, earlier.headers.get("etag")]);
  }
});

test("writing the status that follows from the stock is accepted and changes nothing", async () => {
  const petId = await stock.tracked(0);
  const earlier = await service.ask<Pet>("GET", `/pets/${petId}`);
  const { id: _id, status: _status, ...rest } = earlier.body;
  for (const [method, body] of [
    ["PATCH", { status: "sold" }],
    ["PATCH", { status: null }],
    ["PUT", { ...rest, status: "sold" }],
    ["PUT", rest],
    ["PUT", { ...rest, status: null }],
  ] as const) {
    const same = await service.ask<Pet>(method, `/pets/${petId}`, { body });
    assert.deepEqual([same.status, same.body, same.headers.get("etag")], [200, earlier.body, earlier.headers.get("etag")], method);
  }
  const renamed = await made<Pet>(service, "PUT", `/pets/${petId}`, { ...rest, name: "Max" });
  assert.deepEqual(renamed, { ...earlier.body, name: "Max" });
});

test("for a tracked pet an unknown category is reported before a status that contradicts the stock", async () => {
  const petId = await stock.tracked(1);
  const refused = await service.ask<Failure>("PATCH", `/pets/${petId}`, { body: { categoryId: 999_999, status: "sold" } });
  assert.deepEqual([refused.status, refused.body.code], [422, "unknown_reference"]);
});

test("an untracked pet keeps the status that was written, or the last one from its stock", async () => {
  const petId = await stock.untracked({ status: "pending" });
  await stock.order({ petId, complete: true });
  assert.deepEqual(await stock.seen(petId), { pet: "pending" });
  await stock.count(petId, 0);
  await stock.untrack(petId);
  assert.deepEqual(await stock.seen(petId), { pet: "sold" });
  await stock.refused(sold, "POST", "/store/orders", { petId });
});
