import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loggedEvents } from "./support/event-log.ts";
import { openImportShop, outcomes, type Row } from "./support/imports.ts";
import type { Pet } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";
import { until } from "./support/until.ts";

let now = Date.UTC(2027, 0, 1);
let service: TestService;
before(async () => {
  service = await startService({ clock: () => now });
});
after(() => service.close());

const openShop = () => openImportShop(service);

test("an undo deletes what the import made, and the same file then makes it anew", async () => {
  const shop = await openShop();
  const begun = await shop.begin("Register", { categories: ["Cats", "Birds"] });
  const [, cats, birds] = await shop.make<{ id: number }[]>("GET", "/categories");
  const rows = [
    shop.row("a", "Rex", { quantity: 1 }),
    shop.row("b", "Luna"),
    { ...shop.row("c", "Tweety"), pet: { name: "Tweety", categoryId: cats!.id } },
  ];
  await shop.make("POST", `/imports/${begun.id}/rows?last=true`, rows);
  await shop.make("PATCH", `/categories/${birds!.id}`, { description: "Feathers." });
  const { stays } = await shop.undo(begun.id);
  assert.deepEqual(stays, { count: 0, pets: [] });
  assert.deepEqual(await shop.make("GET", "/pets"), []);
  assert.deepEqual(await shop.make("GET", "/store/inventory"), []);
  const names = (await shop.make<{ name: string }[]>("GET", "/categories")).map(({ name }) => name);
  assert.deepEqual(names, ["Dogs", "Birds"], "an empty category goes, and one that somebody changed stays");
  assert.deepEqual((await shop.make<{ records: { used: number } }>("GET", "/account")).records.used, 2);
  const again = await shop.undo(begun.id);
  assert.equal(again.status, "undone");
  assert.deepEqual(outcomes(await shop.importAll(rows.slice(0, 2))), ["created", "created"]);
  const types = (await loggedEvents(service.db, shop.id)).map(({ type }) => type);
  assert.equal(types.filter((type) => type === "import.undone").length, 1);
  assert.equal(types.filter((type) => type === "pet.deleted").length, 3);
});

test("an undo leaves what has orders or was changed since, and says why", async () => {
  const shop = await openShop();
  const rows = ["a", "b", "c", "d", "e", "f"].map((id) => shop.row(id, `Dog ${id}`, { quantity: 1 }));
  const made = await shop.importAll(rows);
  const [ordered, renamed, counted, described, gone, plain] = made.map(({ petId }) => petId) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  await shop.make("POST", "/store/orders", { petId: ordered });
  await shop.make("PATCH", `/pets/${renamed}`, { name: "Rex" });
  await shop.make("PUT", `/store/inventory/${counted}`, { quantity: 2 });
  await shop.make("PUT", `/pets/${described}/profile`, { description: "Friendly." });
  await shop.make("DELETE", `/pets/${gone}`);
  const { id } = await shop.newest();
  const { stays, undone } = await shop.undo(id);
  const since = "It was changed after the import.";
  assert.equal(undone, 6);
  assert.deepEqual(stays, {
    count: 4,
    pets: [
      { petId: ordered, reason: "It has orders." },
      { petId: renamed, reason: since },
      { petId: counted, reason: since },
      { petId: described, reason: since },
    ],
  });
  assert.equal(await shop.petOf(plain), undefined);
  const outcome = ["unchanged", "unchanged", "unchanged", "unchanged", "created", "created"];
  assert.deepEqual(outcomes(await shop.importAll(rows)), outcome, "pets that stay are known");
});

test("an undo gives changed pets their earlier values and stock, each by its own version", async () => {
  const shop = await openShop();
  const cats = (await shop.make<{ id: number }>("POST", "/categories", { name: "Cats" })).id;
  const earlier = ["a", "b", "c"].map((id) => shop.row(id, `Dog ${id}`, { quantity: 1 }));
  const free = shop.row("free", "Luna", { status: "pending" });
  const made = await shop.importAll([...earlier, free]);
  const [a, b, c, untracked] = made.map(({ petId }) => petId) as [number, number, number, number];
  await shop.make("PATCH", `/pets/${a}`, { name: "Own name" });
  const later = [
    { ...shop.row("a", "Dog a", { quantity: 0 }), pet: { name: "Dog a", categoryId: cats } },
    shop.row("b", "Bello", { quantity: 3 }),
    shop.row("c", "Chief", { quantity: 3 }),
    shop.row("free", "Luna", { quantity: 4 }),
  ];
  const results = await shop.importAll(later);
  assert.deepEqual(outcomes(results), ["updated", "updated", "updated", "updated"]);
  await shop.make("POST", "/store/orders", { petId: b });
  await shop.make("PATCH", `/pets/${c}`, { name: "Kept" });
  const { id } = await shop.newest();
  const { stays } = await shop.undo(id);
  assert.deepEqual(await shop.petOf(a), { id: a, name: "Own name", categoryId: shop.dogs, status: "available" });
  assert.equal(await shop.stockOf(a), 1);
  assert.equal((await shop.petOf(b))!.name, "Dog b");
  assert.equal(await shop.stockOf(b), 2, "an order holds one of three");
  assert.equal((await shop.petOf(c))!.name, "Kept");
  assert.equal(await shop.stockOf(c), 1);
  assert.deepEqual(await shop.petOf(untracked), { id: untracked, name: "Luna", categoryId: shop.dogs, status: "pending" });
  assert.equal(await shop.stockOf(untracked), undefined);
  assert.deepEqual(stays, {
    count: 2,
    pets: [
      { petId: b, reason: "Its stock was changed after the import." },
      { petId: c, reason: "It was changed after the import." },
    ],
  });
  assert.deepEqual(outcomes(await shop.importAll([...earlier, free])), ["unchanged", "unchanged", "unchanged", "unchanged"]);
});

test("undoing the older of two imports leaves what the newer one changed; undoing both leaves nothing", async () => {
  const shop = await openShop();
  const [a, b] = (await shop.importAll([shop.row("a", "Rex"), shop.row("b", "Luna")])).map(({ petId }) => petId);
  const older = await shop.newest();
  await shop.importAll([shop.row("a", "Rex II")]);
  const newer = await shop.newest();
  assert.equal((await shop.undo(older.id)).stays!.count, 1);
  assert.equal((await shop.petOf(a!))!.name, "Rex II");
  assert.equal(await shop.petOf(b!), undefined);
  await shop.undo(newer.id);
  assert.equal((await shop.petOf(a!))!.name, "Rex");

  const rows = [shop.row("c", "Max", { quantity: 1 }), shop.row("d", "Minka", { quantity: 1 })];
  await shop.importAll(rows, "Farm");
  const first = await shop.newest();
  await shop.importAll([shop.row("c", "Max", { quantity: 2 }), shop.row("d", "Minka", { quantity: 0 })], "Farm");
  const second = await shop.newest();
  const [c, d] = await shop.importAll([shop.row("c", "Moritz", { quantity: 2 }), shop.row("d", "Mia", { quantity: 0 })], "Farm");
  await shop.undo((await shop.newest()).id);
  await shop.undo(second.id);
  assert.deepEqual([(await shop.petOf(c!.petId))!.name, await shop.stockOf(c!.petId)], ["Max", 1]);
  assert.equal((await shop.petOf(d!.petId))!.status, "available");
  assert.deepEqual((await shop.undo(first.id)).stays, { count: 0, pets: [] });
  assert.deepEqual(outcomes(await shop.importAll(rows, "Farm")), ["created", "created"]);
});

test("a pet that one import changes twice goes back to what it was before, unless somebody changed it in between", async () => {
  const shop = await openShop();
  const [a, b] = (await shop.importAll([shop.row("a", "Rex", { quantity: 1 }), shop.row("b", "Luna")])).map(({ petId }) => petId);
  const { id } = await shop.begin();
  const send = (rows: Row[]) => shop.make("POST", `/imports/${id}/rows`, rows);
  await send([shop.row("a", "Rex II", { quantity: 2 }), shop.row("b", "Luna II"), shop.row("c", "Max", { quantity: 1 })]);
  await shop.make("PATCH", `/pets/${b}`, { name: "Own" });
  await send([shop.row("a", "Rex III", { quantity: 3 }), shop.row("b", "Luna III"), shop.row("c", "Moritz", { quantity: 2 })]);
  const { stays } = await shop.undo(id);
  assert.deepEqual(stays, { count: 1, pets: [{ petId: b, reason: "It was changed after the import." }] });
  assert.equal((await shop.petOf(a!))!.name, "Rex");
  assert.equal(await shop.stockOf(a!), 1);
  assert.equal((await shop.make<Pet[]>("GET", "/pets")).length, 2);
});

test("an undo of an open import ends it first, and rows that arrive are refused or undone", async () => {
  const shop = await openShop();
  const { id } = await shop.begin();
  const rows = Array.from({ length: 300 }, (_, i) => shop.row(`${i}`, "Rex", { quantity: 1 }));
  const sending = [0, 100, 200].map((from) => shop.send("POST", `/imports/${id}/rows`, rows.slice(from, from + 100)));
  const undone = await shop.undo(id);
  for (const { status, body } of await Promise.all(sending)) assert.ok(status === 200 || body.code === "import_closed", `${status}`);
  assert.ok(undone.finishedAt);
  assert.deepEqual(await shop.make("GET", "/pets"), []);
  const late = await shop.send("POST", `/imports/${id}/rows`, rows.slice(0, 1));
  assert.deepEqual([late.status, late.body.code], [409, "import_closed"]);
});

test("an import without rows ends after a day, and one that is 90 days old cannot be undone", async () => {
  const shop = await openShop();
  const dayMs = 24 * 3_600_000;
  const open = await shop.begin();
  await shop.make("POST", `/imports/${open.id}/rows`, [shop.row("a", "Rex")]);
  now += dayMs - 1;
  await shop.make("POST", `/imports/${open.id}/rows`, [shop.row("b", "Luna")]);
  now += dayMs - 1;
  assert.equal((await shop.newest()).status, "open");
  now += 1;
  await until(async () => (await shop.newest()).status === "finished");
  assert.equal((await shop.make<Pet[]>("GET", `/pets?import=${open.id}`)).length, 2);
  now += 90 * dayMs;
  const refused = await shop.send("POST", `/imports/${open.id}/undo`);
  assert.deepEqual([refused.status, refused.body.code], [409, "import_closed"]);
  await until(async () => (await shop.make<Pet[]>("GET", `/pets?import=${open.id}`)).length === 0);
  assert.deepEqual(outcomes(await shop.importAll([shop.row("a", "Rex")])), ["unchanged"], "the rows stay known");
});

test("an undo takes back descriptions and prices, and leaves a profile that somebody changed", async () => {
  const shop = await openShop();
  const price = { amount: 100, currency: "EUR" };
  const rows = ["a", "b", "c"].map((id) => shop.row(id, "Rex", { profile: { description: "Old." } }));
  const [a, b, c] = (await shop.importAll([...rows, shop.row("d", "Luna")])).map(({ petId }) => petId) as [number, number, number];
  const first = await shop.newest();
  const later = ["a", "b"].map((id) => shop.row(id, "Rex", { profile: { description: "New.", price } }));
  const [, , luna] = await shop.importAll([...later, shop.row("d", "Luna", { profile: { price } })]);
  const second = await shop.newest();
  await shop.make("PATCH", `/pets/${b}/profile`, { description: "Own." });
  const { stays } = await shop.undo(second.id);
  assert.deepEqual(stays, { count: 1, pets: [{ petId: b, reason: "Its profile was changed after the import." }] });
  assert.deepEqual(await shop.profileOf(a), { petId: a, description: "Old.", photos: [] });
  assert.equal((await shop.profileOf(b)).description, "Own.");
  assert.equal((await shop.profileOf(luna!.petId)).code, "not_found");
  const rest = await shop.undo(first.id);
  assert.deepEqual(
    rest.stays!.pets.map(({ petId }) => petId),
    [b],
    "untouched pets go with their profiles",
  );
  assert.deepEqual(await Promise.all([a, c, luna!.petId].map((id) => shop.petOf(id))), [undefined, undefined, undefined]);
});

test("an undo of edits gives each pet what it was before, its stock too, as often as it was edited", async () => {
  const shop = await openShop();
  const [rex] = (await shop.importAll([shop.row("a", "Rex", { quantity: 5 })])).map(({ petId }) => petId) as [number];
  const edit = (from: string, to: string, quantity?: number) => {
    const previous = { name: from, categoryId: shop.dogs };
    return shop.row(`pet ${rex}`, to, { petId: rex, previous, ...(quantity !== undefined && { quantity }) });
  };
  await shop.importAll([edit("Rex", "Max", 4)], "Edits");
  const first = await shop.newest();
  await shop.importAll([edit("Max", "Moritz")], "Edits");
  const second = await shop.newest();
  assert.deepEqual((await shop.undo(second.id)).stays, { count: 0, pets: [] });
  assert.deepEqual([(await shop.petOf(rex))!.name, await shop.stockOf(rex)], ["Max", 4]);
  assert.deepEqual((await shop.undo(first.id)).stays, { count: 0, pets: [] });
  assert.deepEqual([(await shop.petOf(rex))!.name, await shop.stockOf(rex)], ["Rex", 5]);
  assert.deepEqual(outcomes(await shop.importAll([edit("Rex", "Max", 4)], "Edits")), ["updated"]);
});

test("imports from several sources that changed the same pets can be undone one after another, the newest first", async () => {
  const shop = await openShop();
  const [rex, luna] = (await shop.importAll([shop.row("a", "Rex", { quantity: 5 }), shop.row("b", "Luna")])).map(({ petId }) => petId) as [
    number,
    number,
  ];
  const january = await shop.newest();
  const edit = (petId: number, from: string, to: string) =>
    shop.row(`pet ${petId}`, to, { petId, previous: { name: from, categoryId: shop.dogs }, quantity: 4 });
  await shop.importAll([edit(rex, "Rex", "Max"), edit(luna, "Luna", "Lu")], "Edits");
  const edits = await shop.newest();
  await shop.importAll([shop.row("a", "Moritz", { quantity: 3 })]);
  const february = await shop.newest();
  for (const [{ id }, left] of [
    [
      february,
      [
        ["Max", 4],
        ["Lu", 4],
      ],
    ],
    [
      edits,
      [
        ["Rex", 5],
        ["Luna", undefined],
      ],
    ],
  ] as const) {
    assert.deepEqual((await shop.undo(id)).stays, { count: 0, pets: [] });
    assert.deepEqual(await Promise.all([rex, luna].map(async (pet) => [(await shop.petOf(pet))!.name, await shop.stockOf(pet)])), left);
  }
  assert.deepEqual((await shop.undo(january.id)).stays, { count: 0, pets: [] });
  assert.deepEqual(await shop.make("GET", "/pets"), []);
});
