import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loggedEvents } from "./support/event-log.ts";
import { openImportShop, outcomes, type Import, type Result } from "./support/imports.ts";
import type { Pet } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";

const now = Date.UTC(2027, 0, 1);
let service: TestService;
before(async () => {
  service = await startService({ clock: () => now });
});
after(() => service.close());

const openShop = (...terms: [plan?: string, figures?: Parameters<TestService["newAccount"]>[1]]) => openImportShop(service, ...terms);

test("the rows of an import become pets with stock, in the order of the request", async () => {
  const shop = await openShop();
  const begun = await shop.begin("Shelter register");
  assert.equal(begun.status, "open");
  const rows = [shop.row("a", "Rex", { quantity: 1 }), shop.row("b", "Luna", { status: "sold" }), shop.row("c", "Tiger", { quantity: 0 })];
  const results = await shop.make<Result[]>("POST", `/imports/${begun.id}/rows?rejected=2`, rows);
  assert.deepEqual(outcomes(results), ["created", "created", "created"]);
  const [rex, luna, tiger] = await Promise.all(results.map(({ petId }) => shop.petOf(petId)));
  assert.deepEqual(rex, { id: results[0]!.petId, name: "Rex", categoryId: shop.dogs, status: "available" });
  assert.equal(luna!.status, "sold");
  assert.equal(tiger!.status, "sold", "no unit is free");
  const stock = await shop.make<object[]>("GET", "/store/inventory");
  assert.deepEqual(stock, [
    { petId: rex.id, quantity: 1, status: "available" },
    { petId: tiger!.id, quantity: 0, status: "sold" },
  ]);
  const ended = await shop.make<Result[]>("POST", `/imports/${begun.id}/rows?last=true`, []);
  assert.deepEqual(ended, []);
  const { created, rejected, status, finishedAt } = await shop.make<Import>("GET", `/imports/${begun.id}`);
  assert.deepEqual([created, rejected, status, finishedAt], [3, 2, "finished", "2027-01-01T00:00:00Z"]);
  const late = await shop.send("POST", `/imports/${begun.id}/rows`, rows);
  assert.deepEqual([late.status, late.body.code], [409, "import_closed"]);
});

test("the events of an import are those of its pets and their stock, and its end", async () => {
  const shop = await openShop();
  await shop.importAll([shop.row("a", "Rex", { quantity: 2 })]);
  const events = (await loggedEvents(service.db, shop.id)).filter(({ resource }) => !["category", "key"].includes(resource.type));
  assert.deepEqual(
    events.map(({ type }) => type),
    ["pet.created", "inventory.updated", "import.finished"],
  );
  assert.deepEqual((events[2]!.data as Import).created, 1);
});

test("a row that is imported again changes only what the source changed, whatever the shop has changed since", async () => {
  const shop = await openShop();
  const cats = (await shop.make<{ id: number }>("POST", "/categories", { name: "Cats" })).id;
  const [first] = await shop.importAll([shop.row("a", "Rex", { quantity: 1 })]);
  const { petId } = first!;
  assert.deepEqual(outcomes(await shop.importAll([shop.row("a", "Rex", { quantity: 1 })])), ["unchanged"]);
  await shop.make("PATCH", `/pets/${petId}`, { name: "Rex the Brave" });
  await shop.make("PUT", `/store/inventory/${petId}`, { quantity: 7 });
  assert.deepEqual(outcomes(await shop.importAll([shop.row("a", "Rex", { quantity: 1 })])), ["unchanged"]);
  const moved = { ...shop.row("a", "Rex", { quantity: 1 }), pet: { name: "Rex", categoryId: cats } };
  const [again] = await shop.importAll([moved]);
  assert.deepEqual(again, { sourceId: "a", petId, outcome: "updated" });
  assert.deepEqual(await shop.petOf(petId), { id: petId, name: "Rex the Brave", categoryId: cats, status: "available" });
  const item = async () => (await shop.make<{ quantity: number }>("GET", `/store/inventory/${petId}`)).quantity;
  assert.equal(await item(), 7);
  assert.deepEqual(outcomes(await shop.importAll([{ ...moved, quantity: 3 }])), ["updated"]);
  assert.equal(await item(), 3);
});

test("a status that the stock does not allow is left out, and a row without a status says nothing about it", async () => {
  const shop = await openShop();
  const rows = [shop.row("tracked", "Rex", { quantity: 1, status: "available" }), shop.row("free", "Luna", { status: "sold" })];
  const [tracked, free] = await shop.importAll(rows);
  const changed = [shop.row("tracked", "Rex", { quantity: 1, status: "sold" }), shop.row("free", "Luna")];
  assert.deepEqual(outcomes(await shop.importAll(changed)), ["unchanged", "unchanged"]);
  assert.equal((await shop.petOf(tracked!.petId))!.status, "available");
  assert.equal((await shop.petOf(free!.petId))!.status, "sold");
  assert.deepEqual(outcomes(await shop.importAll([shop.row("free", "Luna", { status: "available" })])), ["updated"]);
});

test("a pet that the shop deleted stays deleted until its row changes; then it is made anew", async () => {
  const shop = await openShop();
  const [first] = await shop.importAll([shop.row("a", "Rex", { quantity: 1 })]);
  await shop.make("DELETE", `/pets/${first!.petId}`);
  assert.deepEqual(await shop.importAll([shop.row("a", "Rex", { quantity: 1 })]), [{ ...first, outcome: "unchanged" }]);
  const [anew] = await shop.importAll([shop.row("a", "Rex II", { quantity: 1 })]);
  assert.equal(anew!.outcome, "created");
  assert.notEqual(anew!.petId, first!.petId);
  assert.deepEqual(outcomes(await shop.importAll([shop.row("a", "Rex II", { quantity: 1 })])), ["unchanged"]);
});

test("a source is known by its name, whatever its case, and each has its own identifiers", async () => {
  const shop = await openShop();
  const [one] = await shop.importAll([shop.row("1", "Rex")], "Shelter");
  const [same] = await shop.importAll([shop.row("1", "Rex")], "SHELTER");
  assert.deepEqual(same, { ...one, outcome: "unchanged" });
  const [other] = await shop.importAll([shop.row("1", "Rex")], "Farm");
  assert.equal(other!.outcome, "created");
  const other2 = await openShop();
  assert.deepEqual(outcomes(await other2.importAll([other2.row("1", "Rex")], "Shelter")), ["created"], "another account");
});

test("one call takes all of its rows or none, and names the row that it refuses", async () => {
  const shop = await openShop();
  const { id } = await shop.begin();
  const path = `/imports/${id}/rows`;
  const refusals: [unknown, number, string][] = [
    [[shop.row("a", "Rex"), shop.row("b", " ")], 400, "body[1].pet.name"],
    [[shop.row("a", "Rex"), shop.row("a", "Luna")], 400, "body[1].sourceId"],
    [[shop.row("a", "Rex"), { ...shop.row("b", "Luna"), pet: { name: "Luna", categoryId: 999_999 } }], 422, "body[1].pet.categoryId"],
    [[shop.row("a", "Rex"), { ...shop.row("b", "Luna"), quantity: -1 }], 400, "body[1].quantity"],
    [[shop.row("a", "Rex"), { ...shop.row("b", "Luna"), price: 1 }], 400, "body[1].price"],
    [[shop.row("a", "Rex"), shop.row("\u0001", "Luna")], 400, "body[1].sourceId"],
  ];
  for (const [body, status, place] of refusals) {
    const reply = await shop.send("POST", path, body);
    assert.deepEqual([reply.status, reply.body.details?.[0]?.path], [status, place], JSON.stringify(reply.body));
  }
  assert.equal(
    (
      await shop.send(
        "POST",
        path,
        Array.from({ length: 1_001 }, (_, i) => shop.row(`${i}`, "Rex")),
      )
    ).status,
    400,
  );
  assert.equal((await shop.send("POST", "/imports/999999/rows", [])).status, 404);
  assert.deepEqual(await shop.make("GET", "/pets"), []);
  const [known] = await shop.importAll([shop.row("a", "Rex", { quantity: 1 })]);
  const gone = await shop.send("POST", path, [{ ...shop.row("a", "Rex"), pet: { name: "Rex", categoryId: 999_999 } }]);
  assert.deepEqual([gone.status, gone.body.details?.[0]?.path], [422, "body[0].pet.categoryId"]);
  assert.equal((await shop.petOf(known!.petId))!.categoryId, shop.dogs);
});

test("a dry run shows what would become of the rows and changes nothing, also after the end", async () => {
  const shop = await openShop();
  const [known] = await shop.importAll([shop.row("a", "Rex", { quantity: 1 })]);
  const [last] = await shop.make<Import[]>("GET", "/imports?source=Register&sort=-id&limit=1");
  const rows = [shop.row("a", "Max", { quantity: 1 }), shop.row("b", "Luna")];
  const results = await shop.make<Result[]>("POST", `/imports/${last!.id}/rows?last=true`, rows, { prefer: "dry-run" });
  assert.deepEqual(outcomes(results), ["updated", "created"]);
  assert.equal(results[0]!.petId, known!.petId);
  assert.deepEqual(await shop.make("GET", "/pets"), [await shop.petOf(known!.petId)]);
  assert.deepEqual(await shop.make("GET", `/imports/${last!.id}`), last);
  const open = await shop.begin();
  await shop.make("POST", `/imports/${open.id}/rows?last=true`, rows, { prefer: "dry-run" });
  assert.equal((await shop.make<Import>("GET", `/imports/${open.id}`)).status, "open");
});

test("an import makes the categories that are missing, and one that exists in another case is that one", async () => {
  const shop = await openShop();
  await shop.begin("Register", { categories: ["DOGS", "Cats", "cats", "Birds"] });
  const names = (await shop.make<{ name: string }[]>("GET", "/categories")).map(({ name }) => name);
  assert.deepEqual(names, ["Dogs", "Cats", "Birds"]);
  const refused = await shop.send("POST", "/imports", { source: "Register", fileName: "a.csv", categories: ["Fish", "x".repeat(201)] });
  assert.deepEqual([refused.status, refused.body.details?.[0]?.path], [400, "body.categories[1]"]);
  assert.equal((await shop.make<object[]>("GET", "/categories")).length, 3);
});

test("GET /pets finds pets by import, by source and by the source's identifiers, with the other filters", async () => {
  const shop = await openShop();
  const letters = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const all = await shop.importAll(letters.map((id) => shop.row(id, `Dog ${id}`, { status: id === "c" ? "sold" : "available" })));
  const [more] = await shop.importAll([shop.row("z", "Dog z"), shop.row("a", "Dog a")]);
  await shop.importAll([shop.row("a", "Other")], "Farm");
  await shop.make("DELETE", `/pets/${all[1]!.petId}`);
  const idsOf = async (query: string) => (await shop.make<Pet[]>("GET", `/pets?${query}`)).map(({ id }) => id);
  const ids = all.map(({ petId }) => petId).filter((id) => id !== all[1]!.petId);
  const [first, second] = await shop.make<Import[]>("GET", "/imports");
  assert.deepEqual(await idsOf(`import=${first!.id}`), ids);
  assert.deepEqual(await idsOf(`import=${second!.id}`), [more!.petId], "a row that changed nothing is not of the import");
  assert.deepEqual(await idsOf("source=register"), [...ids, more!.petId]);
  assert.deepEqual(await idsOf("source=Register&sort=-id&limit=2"), [more!.petId, ids.at(-1)]);
  assert.deepEqual(await idsOf("source=Register&sourceId=a&sourceId=z&sourceId=b&sourceId=nothing"), [all[0]!.petId, more!.petId]);
  assert.deepEqual(await idsOf(`source=Register&sourceId=a&sourceId=z&import=${second!.id}`), [more!.petId]);
  assert.deepEqual(await idsOf(`source=Register&import=${second!.id}`), [more!.petId]);
  assert.deepEqual(await idsOf("source=Register&status=sold"), [all[2]!.petId]);
  assert.deepEqual(await idsOf(`source=Register&id=${all[0]!.petId}&id=999999`), [all[0]!.petId]);
  assert.deepEqual(await idsOf("source=Nowhere"), []);
  assert.deepEqual(await idsOf("source=Nowhere&sourceId=a"), []);
  assert.deepEqual(await idsOf("import=999999"), []);
  assert.equal((await shop.send("GET", "/pets?sourceId=a")).status, 400);
  assert.equal((await shop.send("GET", "/pets?source=Register&q=dog")).status, 400);
  assert.equal((await shop.send("GET", "/pets?source=Register&sort=name")).status, 400);
});

test("pages of the pets of an import hold each pet once", async () => {
  const shop = await openShop();
  const results = await shop.importAll(Array.from({ length: 25 }, (_, i) => shop.row(`${i}`, `Dog ${i}`)));
  await shop.make("DELETE", `/pets/${results[3]!.petId}`);
  for (const sort of ["id", "-id"]) {
    const found: number[] = [];
    for (let path = `/pets?source=Register&sort=${sort}&limit=10`; path !== "";) {
      const { body, headers } = await shop.send<Pet[]>("GET", path);
      found.push(...body.map(({ id }) => id));
      path = /<\/v1([^>]*)>/.exec(headers.get("link") ?? "")?.[1] ?? "";
    }
    const expected = results.filter((_, i) => i !== 3).map(({ petId }) => petId);
    assert.deepEqual(found, sort === "id" ? expected : expected.toReversed());
  }
});

test("two calls with the same new rows at once make each pet once", async () => {
  const shop = await openShop();
  const [one, two] = [await shop.begin(), await shop.begin()];
  const rows = Array.from({ length: 50 }, (_, i) => shop.row(`${i}`, "Rex", { quantity: 1 }));
  const answers = await Promise.all([one, two, one, two].map(({ id }) => shop.make<Result[]>("POST", `/imports/${id}/rows`, rows)));
  assert.equal(new Set(answers.flat().map(({ petId }) => petId)).size, 50);
  assert.equal(answers.flat().filter(({ outcome }) => outcome === "created").length, 50);
});

test("stock entries do not count as records, and an import that does not fit is refused whole", async () => {
  const shop = await openShop("enterprise", { records: 4 });
  const { id } = await shop.begin();
  const rows = ["a", "b", "c"].map((one) => shop.row(one, "Rex", { quantity: 1 }));
  await shop.make("POST", `/imports/${id}/rows`, rows);
  const { records } = await shop.make<{ records: object }>("GET", "/account");
  assert.deepEqual(records, { limit: 4, used: 4, remaining: 0 });
  const beyond = await shop.send("POST", `/imports/${id}/rows`, [shop.row("a", "Max"), shop.row("d", "Rex")]);
  assert.deepEqual([beyond.status, beyond.body.code], [403, "storage_limit_reached"]);
  assert.deepEqual(outcomes(await shop.make("POST", `/imports/${id}/rows`, rows)), ["unchanged", "unchanged", "unchanged"]);
});

test("a row describes and prices its pet, and later only what the source changed is written", async () => {
  const shop = await openShop();
  const long = "Friendly. ".repeat(400);
  const price = { amount: 49_000, currency: "EUR" };
  const rows = [shop.row("a", "Rex", { profile: { description: long, price } }), shop.row("b", "Luna", { profile: {} })];
  const [rex, luna] = await shop.importAll(rows);
  const { petId } = rex!;
  assert.deepEqual(await shop.profileOf(petId), { petId, description: long.trim(), price, photos: [] });
  assert.equal((await shop.profileOf(luna!.petId)).code, "not_found");
  const described = (await loggedEvents(service.db, shop.id)).filter(({ type }) => type === "pet.profile_updated");
  assert.deepEqual(
    described.map(({ data, previous }) => [data["petId"], previous["price"]]),
    [[petId, null]],
  );
  await shop.make("PATCH", `/pets/${petId}/profile`, { description: "Own words." });
  assert.deepEqual(outcomes(await shop.importAll(rows)), ["unchanged", "unchanged"]);
  const cheaper = { ...price, amount: 45_000 };
  const changed = [shop.row("a", "Rex", { profile: { description: long, price: cheaper } }), shop.row("b", "Luna", { profile: { price } })];
  assert.deepEqual(outcomes(await shop.importAll(changed)), ["updated", "updated"]);
  assert.deepEqual(await shop.profileOf(petId), { petId, description: "Own words.", price: cheaper, photos: [] });
  assert.deepEqual((await shop.profileOf(luna!.petId)).price, price);
  const { id } = await shop.begin();
  const refusals: [object, string][] = [
    [{ description: "x".repeat(5_001) }, "description"],
    [{ price: { amount: -1, currency: "EUR" } }, "price.amount"],
    [{ price: { amount: 1 } }, "price.currency"],
    [{ colour: "red" }, "colour"],
  ];
  for (const [profile, place] of refusals) {
    const reply = await shop.send("POST", `/imports/${id}/rows`, [{ ...shop.row("c", "Max"), profile }]);
    assert.deepEqual([reply.status, reply.body.details?.[0]?.path], [400, `body[0].profile.${place}`], JSON.stringify(reply.body));
  }
});
