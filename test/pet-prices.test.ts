import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loggedEvents } from "./support/event-log.ts";
import { change, openShop, state, type Shop } from "./support/pet-changes.ts";
import { startService, type TestService } from "./support/service.ts";

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

type Price = { amount: number; currency: string };
const euros = (amount: number): Price => ({ amount, currency: "EUR" });

async function setPrice({ key }: Shop, id: number | undefined, price: Price): Promise<void> {
  const { status } = await service.ask("PUT", `/pets/${id}/profile`, { key, body: { description: "A friendly dog.", price } });
  assert.equal(status, 201);
}

async function priceOf({ key }: Shop, id: number | undefined): Promise<Price | undefined> {
  return (await service.ask<{ price?: Price }>("GET", `/pets/${id}/profile`, { key })).body.price;
}

test("prices are raised and lowered exactly, rounded halves up, and stay between 0 and the highest price", async () => {
  const shop = await openShop(service, 5);
  const highest = Number.MAX_SAFE_INTEGER;
  const prices = [euros(1_005), { amount: 333, currency: "JPY" }, euros(highest), euros(highest - 1), euros(0)];
  for (const [at, price] of prices.entries()) await setPrice(shop, shop.ids[at], price);
  const changed = async (pricePermille: number) => {
    const results = await change(
      shop,
      shop.ids.map((id) => ({ id, pricePermille })),
    );
    const shown = await Promise.all(shop.ids.map((id) => priceOf(shop, id)));
    assert.deepEqual(
      results.map(({ after: left }) => (left as { price: Price }).price),
      shown,
    );
    return shown.map((price) => price?.amount);
  };
  assert.deepEqual(await changed(100), [1_106, 366, highest, highest, 0]); // 1,105.5 and 366.3
  assert.deepEqual(await changed(-25), [1_078, 357, 8_782_019_273_372_466, 8_782_019_273_372_466, 0]); // 1,078.35, 356.85 and ….225
  assert.deepEqual(await changed(10_000), [11_858, 3_927, highest, highest, 0]);
  assert.deepEqual(await changed(-1_000), [0, 0, 0, 0, 0]);
});

test("a percentage leaves animals without a price as they are and says so; the others change, with what undoes it", async () => {
  const shop = await openShop(service, 120);
  const [priced, described, bare] = shop.ids;
  await setPrice(shop, priced, euros(49_000));
  await service.ask("PUT", `/pets/${described}/profile`, { key: shop.key, body: { description: "Shy." } });
  const [raised, ...left] = await change(shop, [
    { id: priced, pricePermille: 55, status: "pending" },
    { id: described, pricePermille: 55, status: "pending" },
    { id: bare, pricePermille: -55 },
    { id: 999_999, pricePermille: 55 },
  ]);
  assert.deepEqual(raised, {
    id: priced,
    outcome: "changed",
    before: { ...state("Dog 0", shop.dogs, "available", null), price: euros(49_000) },
    after: { ...state("Dog 0", shop.dogs, "pending", null), price: euros(51_695) },
    versions: { pet: 2, stock: null, profile: 2 },
  });
  const code = "invalid_request";
  const message = "It has no price that could be raised or lowered.";
  assert.deepEqual(left, [
    { id: described, outcome: "refused", code, message, before: { ...state("Dog 1", shop.dogs, "available", null), price: null } },
    { id: bare, outcome: "refused", code, message, before: { ...state("Dog 2", shop.dogs, "available", null), price: null } },
    { id: 999_999, outcome: "refused", code: "not_found", message: "There is no pet 999999." },
  ]);

  const set = await change(
    shop,
    shop.ids.map((id) => ({ id, price: euros(1_000) })),
  );
  assert.ok(set.every(({ outcome }) => outcome === "changed"));
  assert.deepEqual(await priceOf(shop, shop.ids[119]), euros(1_000));
  const again = await change(shop, [{ id: bare, price: euros(1_000) }]);
  assert.equal(again[0]?.outcome, "unchanged");
  const undone = await change(
    shop,
    set.map(({ id, before: earlier }) => ({ id, price: (earlier as { price: Price | null }).price })),
  );
  assert.ok(undone.every(({ outcome }) => outcome === "changed"));
  assert.deepEqual(
    [await priceOf(shop, priced), await priceOf(shop, described), await priceOf(shop, bare)],
    [euros(51_695), undefined, undefined],
  );
  const { body } = await service.ask<object>("GET", `/pets/${described}/profile`, { key: shop.key });
  assert.deepEqual(body, { petId: described, description: "Shy.", photos: [] });

  const events = await loggedEvents(service.db, shop.account);
  const ofPriced = events.filter(({ type, resource }) => type === "pet.profile_updated" && resource.id === priced);
  assert.deepEqual(
    ofPriced.map(({ data }) => (data as { price?: Price }).price),
    [49_000, 51_695, 1_000, 51_695].map(euros),
  );
});

test("what a change says undoes it, where nobody has changed the same part since", async () => {
  const shop = await openShop(service, 9);
  const [status, moved, counted, again, priced, repriced, made, described, renamed] = shop.ids as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (const id of [priced, repriced]) await setPrice(shop, id, euros(49_000));
  const results = await change(shop, [
    { id: status, status: "sold" },
    { id: moved, categoryId: shop.cats },
    { id: counted, stock: 4 },
    { id: again, stock: 4 },
    { id: priced, price: euros(1_000) },
    { id: repriced, price: euros(1_000) },
    { id: made, price: euros(1_000) },
    { id: described, price: euros(1_000) },
    { id: renamed, price: euros(1_000) },
  ]);
  assert.deepEqual(
    results.map(({ madeProfile }) => madeProfile === true),
    [false, false, false, false, false, false, true, true, true],
  );
  const versionOf = (id: number) => results.find((one) => one.id === id)!.versions!;
  await service.ask("POST", "/store/orders", { key: shop.key, body: { petId: again } });
  await service.ask("PATCH", `/pets/${moved}`, { key: shop.key, body: { name: "Max" } });
  await service.ask("PATCH", `/pets/${moved}`, { key: shop.key, body: { name: "Dog 1" } });
  for (const amount of [2_000, 1_000])
    await service.ask("PATCH", `/pets/${repriced}/profile`, { key: shop.key, body: { price: euros(amount) } });
  await service.ask("PATCH", `/pets/${described}/profile`, { key: shop.key, body: { description: "Shy." } });
  await service.ask("PATCH", `/pets/${renamed}`, { key: shop.key, body: { name: "Max" } });
  const part = (id: number, name: "pet" | "stock" | "profile") => ({ id, since: { [name]: versionOf(id)[name] } });
  const undone = await change(shop, [
    { ...part(status, "pet"), status: "available" },
    { ...part(moved, "pet"), categoryId: shop.dogs },
    { ...part(counted, "stock"), stock: null },
    { ...part(again, "stock"), stock: null },
    { ...part(priced, "profile"), price: euros(49_000) },
    { ...part(repriced, "profile"), price: euros(49_000) },
    { ...part(made, "profile"), removeProfile: true },
    { ...part(described, "profile"), removeProfile: true },
    { ...part(renamed, "profile"), removeProfile: true },
  ]);
  const late = "precondition_failed";
  assert.deepEqual(
    undone.map(({ outcome, code }) => code ?? outcome),
    ["changed", late, "changed", late, "changed", late, "changed", late, "changed"],
  );
  const profileOf = async (id: number) => (await service.ask("GET", `/pets/${id}/profile`, { key: shop.key })).status;
  assert.deepEqual(
    [await profileOf(made), await profileOf(described), await profileOf(renamed)],
    [404, 200, 404],
    "no empty profile stays",
  );
  assert.deepEqual(await priceOf(shop, priced), euros(49_000));
  assert.deepEqual(await priceOf(shop, repriced), euros(1_000));
  const events = await loggedEvents(service.db, shop.account);
  const last = events.findLast(({ type, resource }) => type === "pet.profile_updated" && resource.id === made);
  assert.deepEqual([last?.data, last?.previous], [{ petId: made, photos: [] }, { price: euros(1_000) }]);
  for (const wrong of [
    { removeProfile: true },
    { removeProfile: true, since: { profile: null } },
    { since: { pet: "1" } },
    { since: { name: 1 } },
  ])
    assert.equal(
      (await shop.member.ask("POST", "/pets/changes", { changes: [{ id: made, ...wrong }] })).status,
      400,
      JSON.stringify(wrong),
    );
});

test("a wrong price, a price without a currency, a wrong percentage, and both at once are refused, and change nothing", async () => {
  const shop = await openShop(service, 2);
  const [a, b] = shop.ids;
  await setPrice(shop, a, euros(49_000));
  const refusals: [object, string][] = [
    [{ price: { amount: 100 } }, "body.changes[1].price.currency is required."],
    [{ price: { amount: 100, currency: "EURO" } }, "body.changes[1].price.currency must have at most 3 characters."],
    [{ price: { amount: -1, currency: "EUR" } }, "body.changes[1].price.amount must be at least 0."],
    [{ price: { amount: 1.5, currency: "EUR" } }, "body.changes[1].price.amount must be integer."],
    [{ price: 100 }, "body.changes[1].price must be object."],
    [{ pricePermille: -1_001 }, "body.changes[1].pricePermille must be at least -1000."],
    [{ pricePermille: 10_001 }, "body.changes[1].pricePermille must be at most 10000."],
    [{ pricePermille: 2.5 }, "body.changes[1].pricePermille must be integer."],
    [{ price: null, pricePermille: 10 }, "body.changes[1].pricePermille must be left out beside price."],
  ];
  for (const [wrong, message] of refusals) {
    const changes = [
      { id: a, pricePermille: 100 },
      { id: b, ...wrong },
    ];
    const { status, body } = await shop.member.ask<{ message: string }>("POST", "/pets/changes", { changes });
    assert.deepEqual([status, body.message], [400, message]);
  }
  assert.deepEqual(await priceOf(shop, a), euros(49_000));
});
