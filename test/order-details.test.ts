import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { systemOrigin } from "../src/platform/events.ts";
import { placeReservation } from "../src/store/reservations/reservation-answers.store.ts";
import { newMember } from "./support/dashboard.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

type Details = {
  id: number;
  placedAt: string | null;
  price: { amount: number; currency: string } | null;
  total: number | null;
  customer: { name: string | null } | null;
  reservation: { id: number; state: string; lapsesAt: string | null } | null;
};
type Id = { id: number };

/** A shop with a member, and an animal that costs 49 euros. */
async function openShop() {
  const { id: account, key } = await service.newAccount();
  const member = await newMember(service, { account, email: `ann${account}@shop.example`, role: "member" });
  const category = await newCategory(service, "Dogs", key);
  const pet = await newPet(service, category.id, {}, key);
  const price = (amount: number, petId = pet.id) =>
    made(service, "PUT", `/pets/${petId}/profile`, { price: { amount, currency: "EUR" } }, key);
  await price(4_900);
  const place = async (body: object = { petId: pet.id }) => (await made<Id>(service, "POST", "/store/orders", body, key)).id;
  const details = async (...ids: number[]) => {
    const { status, body } = await member.ask<{ orders: Details[] }>("GET", `/orders/details?${ids.map((id) => `id=${id}`).join("&")}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.orders;
  };
  const contact = (id: number, body: object) => made(service, "PUT", `/store/orders/${id}/contact`, body, key);
  return { account, key, member, category, pet, price, place, details, contact };
}

test("an order keeps when it was placed and what its animal then cost, through later prices", async () => {
  const { pet, price, place, details, key } = await openShop();
  const began = Math.floor(Date.now() / 1000) * 1000;
  const first = await place({ petId: pet.id, quantity: 3 });
  await price(9_900);
  const second = await place({ petId: pet.id, complete: true });
  const [one, two] = await details(first, second);
  assert.equal(one!.reservation, null);
  assert.deepEqual([one!.id, one!.price, one!.total, one!.customer], [first, { amount: 4_900, currency: "EUR" }, 14_700, null]);
  assert.deepEqual([two!.price, two!.total], [{ amount: 9_900, currency: "EUR" }, 9_900]);
  for (const { placedAt } of [one!, two!]) assert.ok(Date.parse(placedAt!) >= began && Date.parse(placedAt!) <= Date.now(), placedAt!);
  await made(service, "PATCH", `/store/orders/${first}`, { quantity: 2, complete: true }, key);
  const [changed] = await details(first);
  assert.deepEqual([changed!.price!.amount, changed!.total, changed!.placedAt], [4_900, 9_800, one!.placedAt]);
});

test("an order that gets another animal costs what that one costs, and nothing without an animal or a price", async () => {
  const { pet, category, price, place, details, key } = await openShop();
  const other = await newPet(service, category.id, {}, key);
  const unpriced = await newPet(service, category.id, {}, key);
  await price(500, other.id);
  const id = await place();
  const priceWith = async (petId: number | null) => {
    await made(service, "PATCH", `/store/orders/${id}`, { petId }, key);
    return (await details(id))[0]!.price?.amount ?? null;
  };
  assert.deepEqual(
    [await priceWith(other.id), await priceWith(unpriced.id), await priceWith(pet.id), await priceWith(null)],
    [500, null, 4_900, null],
  );
  assert.equal((await details(await place({})))[0]!.price, null);
});

test("orders that are placed at once each keep the price of their own animal", async () => {
  const { category, price, place, details, key } = await openShop();
  const pets = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const { id } = await newPet(service, category.id, {}, key);
      await made(service, "PUT", `/store/inventory/${id}`, { quantity: 100 }, key);
      if (i % 3 > 0) await price(100 + i, id);
      return { id, amount: i % 3 > 0 ? 100 + i : null };
    }),
  );
  const placed = await Promise.all(
    Array.from({ length: 80 }, async (_, i) => ({ id: await place({ petId: pets[i % 20]!.id }), amount: pets[i % 20]!.amount })),
  );
  const found = new Map((await details(...placed.map(({ id }) => id))).map((one) => [one.id, one.price?.amount ?? null]));
  assert.deepEqual(
    placed.map(({ id }) => found.get(id)),
    placed.map(({ amount }) => amount),
  );
});

test("a total beyond the safe integers is not shown, and up to 100 orders are read at once, of this account alone", async () => {
  const { pet, price, place, details, member } = await openShop();
  await price(Number.MAX_SAFE_INTEGER);
  const id = await place({ petId: pet.id, quantity: 2 });
  assert.deepEqual(
    (await details(id)).map(({ total, price: cost }) => [total, cost!.amount]),
    [[null, Number.MAX_SAFE_INTEGER]],
  );
  const others = await openShop();
  const foreign = await others.place();
  assert.deepEqual(await details(foreign, 2 ** 52), []);
  for (const query of ["", `?${Array.from({ length: 101 }, (_, i) => `id=${i}`).join("&")}`, "?id=x"])
    assert.equal((await member.ask("GET", `/orders/details${query}`)).status, 400, query);
  assert.equal((await member.ask("GET", `/orders/${foreign}/others`)).status, 404);
});

test("the order of a visitor's reservation says which one, its state, and until when it holds", async () => {
  const { account, key, pet, details } = await openShop();
  await made(service, "PUT", `/store/inventory/${pet.id}`, { quantity: 1 }, key);
  const contact = { name: "Ann" };
  const lapsesAt = Math.floor(Date.now() / 1000) * 1000 + 3_600_000;
  const asked = { petId: pet.id, contact, holds: true, holdMs: 3_600_000, linkHash: "a", visitor: "b" };
  const own = service.db.as({ caller: account });
  await own.write((tx) => placeReservation(tx, account, asked, { ...systemOrigin, at: lapsesAt - 3_600_000 }, lapsesAt - 3_600_000));
  const [order] = await made<Id[]>(service, "GET", "/store/orders", undefined, key);
  const [{ id }] = (await made<Id[]>(service, "GET", "/reservations", undefined, key)) as [Id];
  const [held] = await details(order!.id);
  assert.deepEqual(held!.reservation, { id, state: "open", lapsesAt: new Date(lapsesAt).toISOString().replace(".000", "") });
  await made(service, "PATCH", `/reservations/${id}`, { state: "accepted" }, key);
  assert.deepEqual((await details(order!.id))[0]!.reservation, { id, state: "accepted", lapsesAt: null });
});

test("the orders of one customer are found by email or telephone number, the newest first, until the contact is gone", async () => {
  const { place, details, contact, member } = await openShop();
  const [first, second, third, fourth] = [await place(), await place(), await place(), await place()];
  await contact(first, { name: "Ann Smith", email: "Ann@Example.com", phone: "+44 20 7946 0958" });
  await contact(second, { email: " ann@example.com" });
  await contact(third, { name: "A. Smith", phone: "(020) 7946-0958" });
  await contact(fourth, { name: "Bob", email: "bob@example.com" });
  const others = async (id: number) => (await member.ask<{ orders: Id[]; isMore: boolean }>("GET", `/orders/${id}/others`)).body;
  const idsOf = async (id: number) => (await others(id)).orders.map((order) => order.id);
  assert.deepEqual(await Promise.all([first, second, third, fourth].map(idsOf)), [[third, second], [first], [first], []]);
  assert.deepEqual(
    (await details(first, second, third)).map(({ customer }) => customer),
    [{ name: "Ann Smith" }, { name: null }, { name: "A. Smith" }],
  );
  assert.equal((await member.ask("DELETE", `/store/orders/${second}/contact`)).status, 204);
  assert.deepEqual(await idsOf(first), [third]);
  const [row] = await service.db.query<{ count: number }>(sql`SELECT COUNT(*) AS count FROM contacts WHERE order_id = ${second}`);
  assert.equal(row!.count, 0);
  const more = await Promise.all(Array.from({ length: 22 }, () => place()));
  for (const id of more) await contact(id, { email: "ann@example.com" });
  const found = await others(first);
  assert.deepEqual([found.orders.length, found.isMore, found.orders[0]!.id], [20, true, Math.max(...more)]);
});
