import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { newMember } from "./support/dashboard.ts";
import { loggedEvents } from "./support/event-log.ts";
import type { Pet } from "./support/models.ts";
import { change, openShop, state, type Result } from "./support/pet-changes.ts";
import { engine, startService, type TestService } from "./support/service.ts";
import { until } from "./support/until.ts";

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

test("one call tracks 180 animals, and the answer says what undoes it", async () => {
  const shop = await openShop(service, 180);
  const tracked = await change(
    shop,
    shop.ids.map((id) => ({ id, stock: 1 })),
  );
  assert.deepEqual(tracked[179], {
    id: shop.ids[179],
    outcome: "changed",
    before: state("Dog 179", shop.dogs, "available", null),
    after: state("Dog 179", shop.dogs, "available", 1),
    versions: { pet: 1, stock: 1 },
  });
  const stock = async () => (await service.ask<object[]>("GET", "/store/inventory?limit=100", { key: shop.key })).body.length;
  assert.equal(await stock(), 100);
  const undone = await change(
    shop,
    shop.ids.map((id) => ({ id, stock: null })),
  );
  assert.ok(undone.every(({ outcome }) => outcome === "changed"));
  assert.equal(await stock(), 0);
});

test("each change has its own result: refused ones change nothing, and the others go on", async () => {
  const shop = await openShop(service, 6);
  const [a, b, c, d, e, f] = shop.ids as [number, number, number, number, number, number];
  await service.ask("PUT", `/store/inventory/${a}`, { key: shop.key, body: { quantity: 2 } });
  await service.ask("POST", "/store/orders", { key: shop.key, body: { petId: b } });
  const results = await change(shop, [
    { id: a, status: "sold" },
    { id: b, delete: true },
    { id: c, delete: true },
    { id: d, categoryId: shop.cats, status: "pending", name: "Cat D" },
    { id: e, categoryId: 999_999 },
    { id: f },
    { id: 999_999, status: "sold" },
  ]);
  assert.deepEqual(
    results.map(({ id, outcome, code }) => [id, outcome, code]),
    [
      [a, "refused", "status_follows_stock"],
      [b, "refused", "pet_in_use"],
      [c, "binned", undefined],
      [d, "changed", undefined],
      [e, "refused", "unknown_reference"],
      [f, "unchanged", undefined],
      [999_999, "refused", "not_found"],
    ],
  );
  assert.deepEqual(results[3]?.after, state("Cat D", shop.cats, "pending", null));
  const { body } = await service.ask<Pet[]>("GET", "/pets", { key: shop.key });
  assert.deepEqual(
    body.map(({ id, name, status }) => [id, name, status]),
    [
      [a, "Dog 0", "available"],
      [b, "Dog 1", "available"],
      [d, "Cat D", "pending"],
      [e, "Dog 4", "available"],
      [f, "Dog 5", "available"],
    ],
  );
});

test("a category that is deleted between its check and its use is refused as unknown, and the other changes go on", async () => {
  const shop = await openShop(service, 2);
  const [a, b] = shop.ids as [number, number];
  const asked = service.db.write(async (tx) => {
    await tx.query(sql`DELETE FROM categories WHERE id = ${shop.cats}`);
    const changed = change(shop, [
      { id: a, categoryId: shop.cats },
      { id: b, name: "Rex" },
    ]);
    // SQLite's only writer is this transaction; on PostgreSQL the change waits for the row of the category
    const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    if (engine === "postgres") await until(async () => (await tx.query(waiting)).length === 1);
    return { changed };
  });
  const results = await (await asked).changed;
  assert.deepEqual(
    results.map(({ outcome, code }) => [outcome, code]),
    [
      ["refused", "unknown_reference"],
      ["changed", undefined],
    ],
  );
});

test("a stock that is set decides the status, and ending the stock drops the units that open orders hold", async () => {
  const shop = await openShop(service, 2);
  const [a, b] = shop.ids as [number, number];
  const [none] = await change(shop, [{ id: a, stock: 0 }]);
  assert.deepEqual(none?.after, state("Dog 0", shop.dogs, "sold", 0));
  const [named] = await change(shop, [{ id: a, stock: 4, name: "Rex" }]);
  assert.deepEqual(named?.after, state("Rex", shop.dogs, "available", 4));
  await service.ask("PUT", `/store/inventory/${b}`, { key: shop.key, body: { quantity: 2 } });
  const { body: order } = await service.ask<{ id: number }>("POST", "/store/orders", { key: shop.key, body: { petId: b } });
  await change(shop, [{ id: b, stock: null }]);
  await service.ask("DELETE", `/store/orders/${order.id}`, { key: shop.key });
  assert.equal((await service.ask("GET", `/store/inventory/${b}`, { key: shop.key })).status, 404);
});

test("a dry run answers the same and changes nothing; 1,000 changes are the most, and a pet is named once", async () => {
  const shop = await openShop(service, 2);
  const [a = 0, b = 0] = shop.ids;
  const rehearsed = await change(
    shop,
    [
      { id: a, delete: true },
      { id: b, stock: 3 },
    ],
    { prefer: "dry-run" },
  );
  assert.deepEqual(
    rehearsed.map(({ outcome }) => outcome),
    ["binned", "changed"],
  );
  assert.equal((await service.ask<Pet[]>("GET", "/pets", { key: shop.key })).body.length, 2);
  assert.equal((await service.ask<object[]>("GET", "/store/inventory", { key: shop.key })).body.length, 0);
  const twice = await shop.member.ask("POST", "/pets/changes", { changes: [{ id: a }, { id: a }] });
  assert.equal(twice.status, 400);
  const many = Array.from({ length: 1_001 }, (_, index) => ({ id: index + 1 }));
  assert.equal((await shop.member.ask("POST", "/pets/changes", { changes: many })).status, 400);
  assert.equal((await shop.member.ask("POST", "/pets/changes", { changes: [] })).status, 400);
  assert.equal((await service.ask("POST", "/pets/changes", { key: shop.key, body: { changes: [{ id: a }] } })).status, 405);
});

test("another account's animals are not found", async () => {
  const [shop, other] = [await openShop(service, 1), await openShop(service, 1)];
  const [foreign] = await change(shop, [{ id: other.ids[0], delete: true }]);
  assert.equal(foreign?.code, "not_found");
});

test("another account's write runs between the steps of a change of 1,000 animals", async () => {
  const [shop, other] = [await openShop(service, 1_000), await openShop(service, 1)];
  const ended: string[] = [];
  const many = change(
    shop,
    shop.ids.map((id) => ({ id, name: "Sir Rex the Second of Berg", categoryId: shop.cats })),
  ).then((results) => (ended.push("many"), results));
  const begun = async () => (await service.ask<Pet[]>("GET", `/pets?id=${shop.ids[0]}`, { key: shop.key })).body[0]?.name !== "Dog 0";
  await until(begun);
  await service.ask("PATCH", `/pets/${other.ids[0]}`, { key: other.key, body: { name: "Max" } });
  ended.push("other");
  const results = await many;
  assert.deepEqual(ended, ["other", "many"]);
  assert.deepEqual(
    results.map(({ id, outcome }) => [id, outcome]),
    shop.ids.map((id) => [id, "changed"]),
  );
});

test("each step of a repeated call with an Idempotency-Key has taken effect once, and those that had not run run then", async () => {
  const shop = await openShop(service, 120);
  const changes = shop.ids.map((id) => ({ id, stock: 5 }));
  const send = (key: string) => shop.member.ask<{ results: Result[] }>("POST", "/pets/changes", { changes }, { "idempotency-key": key });
  const first = await send("a");
  const stockOf = async (at: number) =>
    (await service.ask<{ quantity: number }>("GET", `/store/inventory/${shop.ids[at]}`, { key: shop.key })).body.quantity;
  for (const at of [0, 119]) await service.ask("POST", "/store/orders", { key: shop.key, body: { petId: shop.ids[at], quantity: 2 } });
  const again = await send("a");
  assert.deepEqual([again.body, again.headers.get("idempotent-replayed")], [first.body, "true"]);
  assert.deepEqual([await stockOf(0), await stockOf(119)], [3, 3]);
  // as if the process had ended after the first step
  await service.db.write((tx) => tx.query(sql`DELETE FROM idempotency WHERE account_id = ${shop.account} AND target LIKE '% % %'`));
  const resumed = await send("a");
  assert.deepEqual([resumed.status, resumed.headers.get("idempotent-replayed")], [200, null]);
  assert.deepEqual([await stockOf(0), await stockOf(119)], [3, 5]);
  assert.deepEqual(resumed.body.results[0], first.body.results[0]);
  assert.equal(resumed.body.results.length, 120);
  const other = await shop.member.ask<{ code: string }>("POST", "/pets/changes", { changes: changes.slice(1) }, { "idempotency-key": "a" });
  assert.equal(other.body.code, "idempotency_key_reused");
});

test("pets are counted by filter and category, and low stock is listed with the lowest first", async () => {
  const shop = await openShop(service, 3);
  const [a, b, c] = shop.ids as [number, number, number];
  await change(shop, [
    { id: a, categoryId: shop.cats, name: "Ärmel" },
    { id: b, stock: 4 },
    { id: c, stock: 9 },
  ]);
  await change(shop, [
    { id: b, stock: 2 },
    { id: c, stock: 0 },
  ]);
  const ask = async (path: string) => (await shop.member.ask("GET", path)).body;
  assert.deepEqual(await ask("/pets/counts"), {
    count: 3,
    isMore: false,
    categories: [
      { categoryId: shop.dogs, count: 2 },
      { categoryId: shop.cats, count: 1 },
    ],
  });
  assert.deepEqual(await ask("/pets/counts?q=ärm"), { count: 1, isMore: false, categories: [{ categoryId: shop.cats, count: 1 }] });
  assert.deepEqual(await ask("/pets/counts?status=sold&q=zzz"), { count: 0, isMore: false, categories: [] });
  assert.deepEqual(await ask("/store/inventory/low"), {
    count: 2,
    entries: [
      { petId: c, quantity: 0, status: "sold", name: "Dog 2" },
      { petId: b, quantity: 2, status: "available", name: "Dog 1" },
    ],
  });
  assert.deepEqual(await ask("/store/inventory/low?limit=1"), {
    count: 2,
    entries: [{ petId: c, quantity: 0, status: "sold", name: "Dog 2" }],
  });
  assert.partialDeepStrictEqual(await ask(`/store/inventory/low?petId=${a}&petId=${b}`), { count: 1, entries: [{ petId: b }] });
  for (const limit of ["0", "1001", "x"]) assert.equal((await shop.member.ask("GET", `/store/inventory/low?limit=${limit}`)).status, 400);
});

test("an owner says when stock is low: for the list, the account, the events of later changes, and no sooner", async () => {
  const shop = await openShop(service, 2);
  const [a, b] = shop.ids as [number, number];
  const owner = await newMember(service, { account: shop.account, email: "low@shop.example", role: "owner" });
  await change(shop, [
    { id: a, stock: 5 },
    { id: b, stock: 1 },
  ]);
  const low = async () =>
    (await owner.ask<{ entries: { petId: number }[] }>("GET", "/store/inventory/low")).body.entries.map(({ petId }) => petId);
  const lowStock = async () => (await service.ask<{ lowStock: number }>("GET", "/account", { key: shop.key })).body.lowStock;
  const events = async () =>
    (await loggedEvents(service.db, shop.account)).filter(({ type }) => type === "account.updated" || type === "inventory.low");
  assert.deepEqual([await low(), await lowStock(), await events()], [[], 3, []]);
  const set = (given: object, who = owner) => who.ask<{ account: object }>("PATCH", "/account", given);
  assert.equal((await set({ lowStock: 4 }, shop.member)).status, 403);
  for (const wrong of [{ lowStock: -1 }, { lowStock: 1.5 }, { lowStock: 2 ** 31 }, { lowStock: "4" }])
    assert.equal((await set(wrong)).status, 400, JSON.stringify(wrong));
  assert.partialDeepStrictEqual((await set({ lowStock: 4 })).body.account, { name: "Test shop", lowStock: 4 });
  await set({ lowStock: 4 });
  assert.deepEqual([await low(), await lowStock()], [[], 4]);
  await service.ask("POST", "/store/orders", { key: shop.key, body: { petId: a } });
  assert.deepEqual(await low(), [a]);
  const [changed, crossed, ...rest] = await events();
  assert.deepEqual(
    [changed!.data, changed!.previous, changed!.actor.type],
    [{ id: shop.account, lowStock: 4, contactDays: 180, currency: null }, { lowStock: 3 }, "member"],
  );
  assert.deepEqual([crossed!.type, crossed!.resource.id, rest], ["inventory.low", a, []]);
});

test("stock is low once it has fallen to the low stock from above, by an order, a count or an adjustment; an entry that never changed is not low", async () => {
  const shop = await openShop(service, 1);
  const [id] = shop.ids as [number];
  const call = async (method: string, path: string, body?: object) => {
    const { status } = await service.ask(method, path, { key: shop.key, body });
    assert.ok(status < 300, `${method} ${path}: ${status}`);
  };
  const put = (quantity: number) => call("PUT", `/store/inventory/${id}`, { quantity });
  const adjust = (delta: number) => call("POST", `/store/inventory/${id}/adjustments`, { delta });
  const isLow = async () => (await shop.member.ask<{ count: number }>("GET", "/store/inventory/low")).body.count === 1;
  const begin = async (quantity: number) => {
    await call("DELETE", `/store/inventory/${id}`);
    await put(quantity);
  };
  const unknown = () =>
    service.db.write((tx) => tx.query(sql`UPDATE inventory SET highest = NULL WHERE account_id = ${shop.account} AND pet_id = ${id}`));
  const order = async (quantity: number) => {
    const { body } = await service.ask<{ id: number }>("POST", "/store/orders", { key: shop.key, body: { petId: id, quantity } });
    return body.id;
  };

  await put(1);
  const single = await order(1);
  assert.equal(await isLow(), false, "a single animal that is ordered");
  await call("DELETE", `/store/orders/${single}`);
  assert.equal(await isLow(), false, "a single animal that is free again");

  await begin(4);
  await order(1);
  assert.equal(await isLow(), true, "by an order");
  await begin(3);
  const given = await order(1);
  await put(3);
  await call("DELETE", `/store/orders/${given}`);
  assert.equal(await isLow(), false);
  await order(2);
  assert.equal(await isLow(), true, "units that an order gave back count");
  await begin(2);
  await adjust(2);
  await adjust(-3);
  assert.equal(await isLow(), true, "by adjustments");
  await put(2);
  await put(1);
  assert.equal(await isLow(), true, "the highest stays");

  await begin(2);
  await change(shop, [{ id, stock: 5 }]);
  await change(shop, [{ id, stock: 2 }]);
  assert.equal(await isLow(), true, "by changes of many");
  await change(shop, [{ id, stock: null }]);
  await change(shop, [{ id, stock: 2 }]);
  assert.equal(await isLow(), false, "counted anew");

  await unknown();
  assert.equal(await isLow(), false, "an entry from before that never changed");
  await adjust(1);
  assert.equal(await isLow(), true, "an entry from before that changed");
  await put(1);
  assert.equal(await isLow(), false, "known from the first count that is set");
  await begin(6);
  await unknown();
  await put(2);
  assert.equal(await isLow(), true, "set from above the low stock");
});
