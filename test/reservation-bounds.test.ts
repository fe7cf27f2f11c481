import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { dayMs, hourMs } from "../src/platform/clock.ts";
import { reservationShops, type Shop } from "./support/reservation-shops.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newPet } from "./support/shop.ts";
import { openStorefront } from "./support/storefront.ts";

let service: TestService;
const { clock, openShop, reserve, units, asAnother } = reservationShops(() => service);
before(async () => void (service = await startService({ clock: () => clock.now })));
after(() => service.close());

async function another(shop: Shop, quantity: number): Promise<Shop> {
  const [category] = await made<{ id: number }[]>(service, "GET", "/categories", undefined, shop.key);
  const { id: petId } = await newPet(service, category!.id, { name: "Luna" }, shop.key);
  await made(service, "PUT", `/store/inventory/${petId}`, { quantity }, shop.key);
  return { ...shop, petId };
}

/** Adds reservations of other visitors, or enquiries, as they are after a while. */
const addRows = ({ account, petId }: Shop, { count, state, holds, at }: { count: number; state: string; holds: boolean; at: number }) =>
  service.db.write(async (tx) => {
    for (let i = 0; i < count; i++)
      await tx.query(sql`
        INSERT INTO reservations (account_id, id, pet_id, order_id, state, link_hash, created_at, visitor, version)
        VALUES (${account}, nextval('reservation_ids'), ${petId}, ${holds ? 1_000_000_000 + (added += 1) : null}, ${state}, ${`made ${(added += 1)}`}, ${at}, 'another', 1)`);
  });
let added = 0;
const endAll = ({ account }: Shop) =>
  service.db.write((tx) =>
    tx.query(sql`UPDATE reservations SET state = 'refused', ended_at = ${clock.now} WHERE account_id = ${account} AND state = 'open'`),
  );
test("a visitor holds at most three units, two of one animal, may ask all the same, and sends ten forms in a day, in all sites of a shop", async () => {
  const shop = await openShop(50);
  const { url: second } = await openStorefront(service, `second-${shop.account}`, { reservations: { enabled: true } }, { key: shop.key });
  const [luna, bo] = [await another(shop, 5), await another(shop, 5)];
  assert.deepEqual([(await reserve(shop)).status, (await reserve({ ...shop, url: second })).status], [303, 303]);
  const third = await reserve(shop);
  assert.ok(third.status === 429 && third.body.includes("reserved enough"));
  assert.deepEqual([(await reserve(luna)).status, (await reserve(bo)).status], [303, 429]);
  for (const status of [303, 303]) assert.equal((await reserve(bo, { ask: "yes" })).status, status);
  const asked = await reserve(bo, { ask: "yes" });
  assert.ok(asked.status === 429 && asked.body.includes("written enough"));
  assert.deepEqual([await units(shop), await units(luna), await units(bo)], [48, 4, 5]);
  await asAnother(shop);
  for (const one of [shop, shop, luna]) assert.equal((await reserve(one)).status, 303);
  await asAnother(shop);
  for (const one of [shop, shop]) assert.equal((await reserve(one)).status, 303);
  await asAnother(shop);
  assert.equal((await reserve(luna)).status, 429, "the eleventh of the day");
  clock.now += dayMs + 1;
  assert.equal((await reserve(luna)).status, 303);
});

test("enquiries without an answer never keep a visitor from a free unit, nor do reservations keep one from asking", async () => {
  const shop = await openShop(500);
  const [hold, ask] = [{}, { ask: "yes" }];
  const expect = async (more: Record<string, string>, status: number) => {
    const reply = await reserve(shop, more);
    assert.equal(reply.status, status, JSON.stringify(more));
    assert.equal(reply.body.includes("cannot take this at the moment"), status === 503);
    await asAnother(shop);
  };
  await addRows(shop, { count: 999, state: "open", holds: false, at: clock.now - dayMs });
  await expect(ask, 303);
  await expect(ask, 503);
  await expect(hold, 303);
  await endAll(shop);
  await addRows(shop, { count: 200, state: "open", holds: true, at: clock.now - dayMs });
  await expect(hold, 503);
  await expect(ask, 303);
  await endAll(shop);
  clock.now += hourMs;
  await addRows(shop, { count: 100, state: "refused", holds: false, at: clock.now });
  await expect(ask, 503);
  await expect(hold, 303);
  await addRows(shop, { count: 99, state: "refused", holds: true, at: clock.now });
  await expect(hold, 503);
  clock.now += hourMs;
  await expect(ask, 303);
  await expect(hold, 303);
});
