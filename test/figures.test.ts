import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { newMember } from "./support/dashboard.ts";
import { allNumbered } from "./support/event-log.ts";
import { pathOf } from "./support/profiles.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

const dayMs = 86_400_000;
const time = { now: Date.UTC(2026, 5, 15, 12) };
let service: TestService;
before(async () => void (service = await startService({ clock: () => time.now })));
after(() => service.close());

type Figure = { now: number; before: number };
type Figures = {
  placed: Figure;
  fulfilled: Figure;
  reservations: Figure & { lastDay: number };
  views: Figure;
  values: (Figure & { currency: string })[];
  isWhole: boolean;
};

async function figuresOf(account: number): Promise<Figures> {
  await allNumbered(service.db);
  const owner = await newMember(service, { account, email: `owner${account}.${time.now}@shop.example`, role: "owner" });
  const { status, body } = await owner.ask<Figures>("GET", "/figures");
  assert.equal(status, 200);
  return body;
}

const none = { now: 0, before: 0 };
const nothing = { placed: none, fulfilled: none, reservations: { ...none, lastDay: 0 }, views: none, values: [], isWhole: true };

test("the figures count the orders of the last 7 days and of the 7 days before, of the account only", async () => {
  const { id, key } = await service.newAccount();
  const { id: petId } = await newPet(service, (await newCategory(service, "Dogs", key)).id, {}, key);
  const order = async (complete: boolean) => {
    const { status, body } = await service.ask<{ id: number }>("POST", "/store/orders", { key, body: { petId } });
    assert.equal(status, 201);
    if (complete) assert.equal((await service.ask("PATCH", `/store/orders/${body.id}`, { key, body: { complete } })).status, 200);
    await allNumbered(service.db);
  };
  await order(true);
  time.now += 3 * dayMs;
  for (const complete of [true, false]) await order(complete);
  time.now += 5 * dayMs;
  for (const complete of [true, false, false]) await order(complete);
  time.now += 6 * dayMs + dayMs / 2;
  assert.deepEqual(await figuresOf(id), { ...nothing, placed: { now: 3, before: 2 }, fulfilled: { now: 1, before: 1 } });
  assert.deepEqual(await figuresOf((await service.newAccount()).id), nothing);
});

test("the value of orders is by currency and by the price when each was placed, without cancelled ones and those without a price", async () => {
  const { id, key } = await service.newAccount();
  const category = (await newCategory(service, "Dogs", key)).id;
  const pets = [
    await newPet(service, category, {}, key),
    await newPet(service, category, {}, key),
    await newPet(service, category, {}, key),
  ];
  const [rex, yuki, plain] = pets.map((pet) => pet.id) as [number, number, number];
  const price = (petId: number, amount: number, currency: string) =>
    made(service, "PUT", pathOf(petId), { price: { amount, currency } }, key);
  const order = async (petId: number, quantity: number) =>
    (await made<{ id: number }>(service, "POST", "/store/orders", { petId, quantity }, key)).id;
  await price(rex, 10_050, "EUR");
  await price(yuki, 30_000, "JPY");
  await order(rex, 9); // before both periods
  time.now += 2 * dayMs;
  await order(rex, 1);
  time.now += 7 * dayMs;
  await order(rex, 2);
  await price(rex, 20_000, "EUR");
  await order(rex, 3);
  await order(plain, 5);
  const moved = await order(plain, 4);
  await service.ask("PATCH", `/store/orders/${moved}`, { key, body: { petId: yuki } });
  assert.equal((await service.ask("DELETE", `/store/orders/${await order(rex, 50)}`, { key })).status, 204);
  time.now += 6 * dayMs;
  assert.deepEqual((await figuresOf(id)).values, [
    { currency: "EUR", now: 2 * 10_050 + 3 * 20_000, before: 10_050 },
    { currency: "JPY", now: 4 * 30_000, before: 0 },
  ]);
});

test("values beyond 2^53 are shown as that, and at most ten currencies, those of most orders first", async () => {
  const { id } = await service.newAccount();
  await service.db.write(async (tx) => {
    const insert = (order: number, quantity: number, amount: number, currency: string) =>
      tx.query(sql`
      INSERT INTO orders (account_id, id, quantity, held, complete, version, placed_at, price_amount, price_currency)
      VALUES (${id}, ${5_000_000 + order}, ${quantity}, 0, FALSE, 1, ${time.now}, ${amount}, ${currency})`);
    for (let i = 0; i < 12; i++)
      for (let twice = 0; twice < (i === 11 ? 3 : 1); twice++) await insert(i * 10 + twice, 1, 5, `AA${String.fromCharCode(65 + i)}`);
    await insert(500, 2 ** 31 - 1, 2 ** 52, "AAL");
  });
  const { values, isWhole } = await figuresOf(id);
  assert.deepEqual([values.length, isWhole], [10, false]);
  assert.deepEqual(values[0], { currency: "AAL", now: Number.MAX_SAFE_INTEGER, before: 0 });
});

test("reservations are counted as they come, also those of the last day, whatever became of them", async () => {
  const { id: accountId } = await service.newAccount();
  const reserve = (position: number) =>
    service.db.write(async (tx) =>
      tx.record({ accountId, type: "reservation.created", resource: { type: "reservation", id: position }, data: { id: position } }),
    );
  await reserve(1);
  time.now += 6 * dayMs;
  for (const position of [2, 3]) await reserve(position);
  time.now += 6 * dayMs;
  await reserve(4);
  time.now += dayMs - 1;
  await reserve(5);
  assert.deepEqual((await figuresOf(accountId)).reservations, { now: 4, before: 1, lastDay: 2 });
});
