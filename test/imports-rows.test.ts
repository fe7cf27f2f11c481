import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newMember } from "./support/dashboard.ts";
import { openImportShop, outcomes } from "./support/imports.ts";
import type { Pet } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

const openShop = () => openImportShop(service);

test("a row that says what its pet was before the edit writes only the edit, whatever the source said earlier, and makes no pet", async () => {
  const shop = await openShop();
  const [rex, luna] = (await shop.importAll([shop.row("a", "Rex"), shop.row("b", "Luna", { quantity: 5 })])).map(({ petId }) => petId) as [
    number,
    number,
  ];
  const edit = (petId: number, from: string, to: string, more: { status?: string; quantity?: number } = {}) => {
    const previous = { name: from, categoryId: shop.dogs };
    return shop.row(`pet ${petId}`, to, { petId, previous, ...more });
  };
  assert.deepEqual(outcomes(await shop.importAll([edit(rex, "Rex", "Max"), edit(luna, "Luna", "Luna", { quantity: 4 })], "Edits")), [
    "updated",
    "updated",
  ]);
  assert.deepEqual([(await shop.petOf(rex))!.name, await shop.stockOf(luna)], ["Max", 4]);
  await shop.make("PATCH", `/pets/${rex}`, { name: "Moritz" });
  await shop.make("PATCH", `/pets/${luna}`, { name: "Lunetta" });
  const again = [edit(rex, "Moritz", "Max"), edit(luna, "Luna", "Luna", { quantity: 3 })];
  assert.deepEqual(outcomes(await shop.importAll(again, "Edits")), ["updated", "updated"]);
  assert.deepEqual([(await shop.petOf(rex))!.name, (await shop.petOf(luna))!.name], ["Max", "Lunetta"], "an old name is not written again");
  assert.equal(await shop.stockOf(luna), 3);
  const owner = await newMember(service, { account: shop.id, email: "low@shop.example", role: "owner" });
  const low = async () => (await owner.ask<{ entries: { petId: number }[] }>("GET", "/store/inventory/low")).body.entries;
  assert.deepEqual(
    (await low()).map(({ petId }) => petId),
    [luna],
    "its stock is low, as it had more",
  );

  await shop.make("DELETE", `/pets/${rex}`);
  const { id } = await shop.begin("Edits");
  const refusedFor = async (row: object) => {
    const { status, body } = await shop.send("POST", `/imports/${id}/rows`, [row]);
    return [status, body.details?.map(({ path, message }) => `${path} ${message}`)];
  };
  assert.deepEqual(await refusedFor(edit(rex, "Max", "Moritz")), [400, ["body[0].petId is no pet of this shop any more"]]);
  const { petId: _petId, ...without } = edit(luna, "Luna", "Lu");
  assert.deepEqual(await refusedFor(without), [400, ["body[0].petId is needed with `previous`"]]);
  const other = { ...edit(luna, "Luna", "Lu"), petId: rex };
  assert.deepEqual(await refusedFor(other), [400, ["body[0].petId is not the pet of this row"]]);
  assert.equal((await shop.make<Pet[]>("GET", "/pets")).length, 1);
});

test("a row that names its pet, and that the source does not know yet, counts as imported before and writes nothing", async () => {
  const shop = await openShop();
  const { id: petId } = await shop.make<Pet>("POST", "/pets", { name: "Rex", categoryId: shop.dogs });
  assert.deepEqual(outcomes(await shop.importAll([shop.row("a", "Max", { petId })])), ["unchanged"]);
  assert.equal((await shop.petOf(petId))!.name, "Rex");
  assert.deepEqual(outcomes(await shop.importAll([shop.row("a", "Moritz", { petId })])), ["updated"]);
  const [other] = await shop.importAll([shop.row("b", "Ida", { petId })]);
  assert.deepEqual([other!.outcome, other!.petId === petId], ["created", false], "another row is that pet already");
  const twice = await shop.send("POST", `/imports/${(await shop.begin()).id}/rows`, [
    shop.row("c", "Rex", { petId }),
    shop.row("d", "Rex", { petId }),
  ]);
  assert.deepEqual([twice.status, twice.body.code], [400, "invalid_request"]);
});

test("the stock of a counted animal becomes 0 once its row is not available, unless the shop has counted it anew", async () => {
  const shop = await openShop();
  const counted = ["a", "b", "c"].map((id) => shop.row(id, `Dog ${id}`, { status: "available", quantity: 1 }));
  const [a, b, c] = (await shop.importAll([...counted, shop.row("d", "Dog d")])).map(({ petId }) => petId) as [number, number, number];
  await shop.make("PUT", `/store/inventory/${b}`, { quantity: 2 });
  const gone = ["a", "b", "d"].map((id) => shop.row(id, `Dog ${id}`, { status: "sold" }));
  const results = await shop.importAll([...gone, shop.row("c", "Dog c", { status: "available" })]);
  assert.deepEqual(outcomes(results), ["updated", "unchanged", "updated", "unchanged"]);
  assert.deepEqual(await Promise.all([a, b, c, results[2]!.petId].map((id) => shop.stockOf(id))), [0, 2, 1, undefined]);
  assert.deepEqual(
    (await Promise.all(results.map(({ petId }) => shop.petOf(petId)))).map((pet) => pet!.status),
    ["sold", "available", "sold", "available"],
  );
});
