import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Category, Failure, InventoryItem, Order, Pet } from "./support/models.ts";
import { startService, type Asked, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

let shop: TestService;
let dogs: number;
before(async () => {
  shop = await startService({ env: { GET_PET_SUNSET: "2099-12-31T00:00:00Z" } });
  dogs = (await newCategory(shop, "Dogs")).id;
});
after(() => shop.close());

async function refusal(method: string, path: string, asked?: Asked): Promise<[number, string]> {
  const { status, body } = await shop.ask<Failure>(method, path, asked);
  return [status, body.code];
}

test("a pet is available by default, and a response has exactly the model's fields", async () => {
  const pet = await newPet(shop, dogs);
  assert.deepEqual(pet, { id: pet.id, name: "Rex", categoryId: dogs, status: "available" });
  assert.equal((await newPet(shop, dogs, { status: "sold" })).status, "sold");
});

test("PUT replaces a pet: without a status it becomes available, and the response shows the stored pet", async () => {
  const { id } = await newPet(shop, dogs, { status: "sold" });
  const replaced = await shop.ask<Pet>("PUT", `/pets/${id}`, { body: { name: " Max ", categoryId: dogs } });
  assert.deepEqual([replaced.status, replaced.body], [200, { id, name: "Max", categoryId: dogs, status: "available" }]);
  assert.deepEqual((await shop.ask("GET", `/pets?id=${id}`)).body, [replaced.body]);
});

test("PATCH of a pet is a merge patch: an absent field keeps its value, and null resets the status to its default", async () => {
  const pet = await newPet(shop, dogs, { name: "Bo", status: "sold" });
  const patch = async (body: unknown) => made<Pet>(shop, "PATCH", `/pets/${pet.id}`, body);
  assert.deepEqual(await patch({ name: "Bob" }), { ...pet, name: "Bob" });
  assert.deepEqual(await patch({}), { ...pet, name: "Bob" });
  assert.deepEqual(await patch({ status: null }), { ...pet, name: "Bob", status: "available" });
  for (const required of [{ name: null }, { categoryId: null }]) {
    assert.deepEqual(await refusal("PATCH", `/pets/${pet.id}`, { body: required }), [400, "invalid_request"]);
  }
});

test("PATCH accepts application/merge-patch+json and application/json", async () => {
  const { id } = await newPet(shop, dogs);
  for (const type of ["application/merge-patch+json", "application/json", "Application/Merge-Patch+JSON; charset=UTF-8"]) {
    assert.equal((await shop.ask("PATCH", `/pets/${id}`, { body: { name: "A" }, headers: { "content-type": type } })).status, 200, type);
  }
  const asPatch = { headers: { "content-type": "application/merge-patch+json" } };
  assert.deepEqual(await refusal("PUT", `/pets/${id}`, { body: { name: "A", categoryId: dogs }, ...asPatch }), [
    415,
    "unsupported_media_type",
  ]);
});

test("a merge patch that is not an object returns 400 and changes nothing", async () => {
  const pet = await newPet(shop, dogs);
  for (const body of ["[]", "null", '"a"', "1"]) {
    assert.deepEqual(await refusal("PATCH", `/pets/${pet.id}`, { body }), [400, "invalid_request"]);
  }
  assert.deepEqual((await shop.ask("GET", `/pets/${pet.id}`)).body, pet);
});

test("a batch is created as a whole, in the order given, or not at all", async () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `Batch ${i}`);
  const created = await shop.ask<Pet[]>("POST", "/pets/batch", { body: names.map((name) => ({ name, categoryId: dogs })) });
  assert.equal(created.status, 201);
  assert.deepEqual(
    created.body.map(({ name }) => name),
    names,
  );
  assert.ok(created.body.every(({ id }, i, pets) => i === 0 || id > (pets[i - 1]?.id ?? 0)));

  const spoilt = [
    { name: "Spoilt", categoryId: dogs },
    { name: "Spoilt", categoryId: 999 },
  ];
  const refused = await shop.ask<Failure>("POST", "/pets/batch", { body: spoilt });
  assert.deepEqual([refused.status, refused.body.code], [422, "unknown_reference"]);
  assert.match(refused.body.message, /body\[1\]\.categoryId/);
  assert.deepEqual((await shop.ask("GET", "/pets?q=spoilt")).body, []);
});

test("a batch has 1 to 1,000 pets", async () => {
  const pets = (count: number) => Array.from({ length: count }, () => ({ name: "A", categoryId: dogs }));
  assert.deepEqual(await refusal("POST", "/pets/batch", { body: pets(1_001) }), [400, "invalid_request"]);
  assert.deepEqual(await refusal("POST", "/pets/batch", { body: [] }), [400, "invalid_request"]);
  assert.deepEqual(await refusal("POST", "/pets/batch", { body: { name: "A", categoryId: dogs } }), [400, "invalid_request"]);
});

test("a pet with an unfulfilled order cannot be deleted", async () => {
  const pet = await newPet(shop, dogs);
  const order = await made<Order>(shop, "POST", "/store/orders", { petId: pet.id });
  assert.deepEqual(await refusal("DELETE", `/pets/${pet.id}`), [409, "pet_in_use"]);
  assert.deepEqual((await shop.ask("GET", `/pets/${pet.id}`)).body, pet);
  await made(shop, "DELETE", `/store/orders/${order.id}`);
  assert.equal((await shop.ask("DELETE", `/pets/${pet.id}`)).status, 204);
});

test("deleting a pet deletes its inventory entry, and complete orders keep its identifier", async () => {
  const { id } = await newPet(shop, dogs);
  await made<InventoryItem>(shop, "PUT", `/store/inventory/${id}`, { quantity: 3 });
  const order = await made<Order>(shop, "POST", "/store/orders", { petId: id, complete: true });
  assert.equal((await shop.ask("DELETE", `/pets/${id}`)).status, 204);
  assert.deepEqual(await refusal("GET", `/store/inventory/${id}`), [404, "not_found"]);
  assert.deepEqual((await shop.ask("GET", `/store/orders/${order.id}`)).body, order);
  assert.deepEqual((await shop.ask("GET", `/store/orders?petId=${id}`)).body, [order]);
});

test("a category has a description only if one is set; a PUT without one removes it, and so does null in a patch", async () => {
  const { id } = await newCategory(shop, "Fish");
  const path = `/categories/${id}`;
  assert.deepEqual((await shop.ask("GET", path)).body, { id, name: "Fish" });
  const described = { name: "Fish", description: "Wet." };
  assert.deepEqual(await made<Category>(shop, "PUT", path, described), { id, ...described });
  assert.deepEqual(await made<Category>(shop, "PUT", path, { name: "Fish" }), { id, name: "Fish" });
  assert.deepEqual(await made<Category>(shop, "PATCH", path, { description: " Wet. " }), { id, ...described });
  assert.deepEqual(await made<Category>(shop, "PATCH", path, { name: "Fishes" }), { id, ...described, name: "Fishes" });
  assert.deepEqual(await made<Category>(shop, "PATCH", path, { description: null }), { id, name: "Fishes" });
  assert.deepEqual(await refusal("PATCH", path, { body: { name: null } }), [400, "invalid_request"]);
});

test("category names are unique, whatever their case or width", async () => {
  const { id } = await newCategory(shop, "Straße Ⅷ");
  for (const name of ["Straße Ⅷ", " straße viii ", "STRAßE VIII", "ｓｔｒａßｅ ⅷ"]) {
    assert.deepEqual(await refusal("POST", "/categories", { body: { name } }), [409, "category_exists"], name);
  }
  const other = await newCategory(shop, "Lane");
  assert.deepEqual(await refusal("PUT", `/categories/${other.id}`, { body: { name: "straße viii" } }), [409, "category_exists"]);
  assert.deepEqual(await refusal("PATCH", `/categories/${other.id}`, { body: { name: "straße viii" } }), [409, "category_exists"]);
  assert.deepEqual((await shop.ask("GET", `/categories/${other.id}`)).body, other);
  assert.equal((await shop.ask("PUT", `/categories/${id}`, { body: { name: "STRAßE viii" } })).status, 200);
});

test("a category with pets cannot be deleted, and an empty one can", async () => {
  const cats = await newCategory(shop, "Cats");
  const pet = await newPet(shop, cats.id);
  assert.deepEqual(await refusal("DELETE", `/categories/${cats.id}`), [409, "category_not_empty"]);
  await made(shop, "PATCH", `/pets/${pet.id}`, { categoryId: dogs });
  assert.equal((await shop.ask("DELETE", `/categories/${cats.id}`)).status, 204);
});

test("an order in a response always has id, quantity and complete; petId and shipDate only when set", async () => {
  const draft = await made<Order>(shop, "POST", "/store/orders", {});
  assert.deepEqual(draft, { id: draft.id, quantity: 1, complete: false });
  const pet = await newPet(shop, dogs);
  const full = { petId: pet.id, quantity: 2, shipDate: "2027-01-01T00:00:00Z", complete: false };
  const path = `/store/orders/${draft.id}`;
  assert.deepEqual(await made<Order>(shop, "PUT", path, full), { id: draft.id, ...full });
  assert.deepEqual(await made<Order>(shop, "PATCH", path, { petId: null, shipDate: null, quantity: null, complete: null }), draft);
  assert.deepEqual(await made<Order>(shop, "PATCH", path, { quantity: 5 }), { ...draft, quantity: 5 });
  assert.deepEqual(await made<Order>(shop, "PUT", path, {}), draft);
});

test("the id in an order's body is ignored on POST, and returns 400 on PUT and PATCH if it differs", async () => {
  const order = await made<Required<Pick<Order, "id">>>(shop, "POST", "/store/orders", { id: 424_242 });
  assert.notEqual(order.id, 424_242);
  const path = `/store/orders/${order.id}`;
  assert.deepEqual(await refusal("PUT", path, { body: { id: order.id + 1 } }), [400, "invalid_request"]);
  assert.deepEqual(await refusal("PATCH", path, { body: { id: order.id + 1 } }), [400, "invalid_request"]);
  assert.deepEqual(await made<Order>(shop, "PUT", path, { id: order.id, quantity: 2 }), { ...order, quantity: 2 });
});

test("PUT of an unknown resource returns 404, except for an inventory entry, which it creates", async () => {
  for (const [path, body] of Object.entries({
    "/pets/99999": { name: "A", categoryId: dogs },
    "/categories/99999": { name: "A" },
    "/store/orders/99999": {},
  })) {
    assert.deepEqual(await refusal("PUT", path, { body }), [404, "not_found"]);
  }
  const { id } = await newPet(shop, dogs);
  const path = `/store/inventory/${id}`;
  const begun = await shop.ask<InventoryItem>("PUT", path, { body: { quantity: 0 } });
  assert.deepEqual(
    [begun.status, begun.headers.get("location"), begun.body],
    [201, `/v1${path}`, { petId: id, quantity: 0, status: "sold" }],
  );
  const replaced = await shop.ask<InventoryItem>("PUT", path, { body: { quantity: 7 } });
  assert.deepEqual([replaced.status, replaced.body], [200, { petId: id, quantity: 7, status: "available" }]);
  assert.equal((await shop.ask("DELETE", path)).status, 204);
  assert.deepEqual(await refusal("DELETE", path), [404, "not_found"]);
});

test("an adjustment is a relative change; one that would go below zero is refused and changes nothing", async () => {
  const { id } = await newPet(shop, dogs);
  const path = `/store/inventory/${id}`;
  assert.deepEqual(await refusal("POST", `${path}/adjustments`, { body: { delta: 1 } }), [404, "not_found"]);
  await made(shop, "PUT", path, { quantity: 2 });
  const adjust = (delta: unknown) => shop.ask<InventoryItem>("POST", `${path}/adjustments`, { body: { delta } });
  assert.deepEqual((await adjust(3)).body, { petId: id, quantity: 5, status: "available" });
  assert.deepEqual((await adjust(-5)).body, { petId: id, quantity: 0, status: "sold" });
  assert.deepEqual(await refusal("POST", `${path}/adjustments`, { body: { delta: -1 } }), [409, "insufficient_stock"]);
  for (const delta of [0.5, "1", null, 2_147_483_648]) assert.equal((await adjust(delta)).status, 400, String(delta));
  assert.deepEqual((await shop.ask("GET", path)).body, { petId: id, quantity: 0, status: "sold" });
});

test("a count, together with the units that open orders hold, is at most 2^31−1", async () => {
  const { id } = await newPet(shop, dogs);
  const path = `/store/inventory/${id}`;
  await made(shop, "PUT", path, { quantity: 2_147_483_647 });
  assert.deepEqual(await refusal("POST", `${path}/adjustments`, { body: { delta: 1 } }), [400, "invalid_request"]);
  await made<Order>(shop, "POST", "/store/orders", { petId: id, quantity: 10 });
  assert.deepEqual(await refusal("PUT", path, { body: { quantity: 2_147_483_638 } }), [400, "invalid_request"]);
  assert.equal((await shop.ask("PUT", path, { body: { quantity: 2_147_483_637 } })).status, 200);
});

test("every response of GET /pets/{petId} names its deprecation, its sunset and its successor", async () => {
  const { id } = await newPet(shop, dogs);
  for (const [asked, status] of [
    [id, 200],
    [999_999, 404],
    ["x", 400],
  ] as const) {
    const { status: answered, headers } = await shop.ask("GET", `/pets/${asked}`);
    assert.equal(answered, status);
    assert.match(headers.get("deprecation") ?? "", /^@\d+$/);
    assert.equal(headers.get("sunset"), "Thu, 31 Dec 2099 00:00:00 GMT");
    assert.equal(headers.get("link"), `</v1/pets?id=${asked}>; rel="successor-version"`);
  }
  const put = await shop.ask("PATCH", `/pets/${id}`, { body: {} });
  assert.deepEqual([put.headers.get("deprecation"), put.headers.get("sunset")], [null, null]);
});

test("GET /pets/{petId} returns 410 from the moment of its sunset, and the other operations stay", async (t) => {
  const sunset = Date.UTC(2027, 11, 31);
  let now = sunset - 1;
  const service = await startService({ clock: () => now });
  t.after(() => service.close());
  const { id } = await newPet(service, (await newCategory(service, "Dogs")).id);
  assert.equal((await service.ask("GET", `/pets/${id}`)).status, 200);
  now = sunset;
  for (const method of ["GET", "HEAD"]) {
    const gone = await service.ask<Failure>(method, `/pets/${id}`);
    assert.equal(gone.status, 410);
    assert.equal(gone.headers.get("link"), `</v1/pets?id=${id}>; rel="successor-version"`);
    assert.ok(gone.headers.has("sunset") && gone.headers.has("deprecation"));
    if (method === "GET") assert.equal(gone.body.code, "operation_sunset");
  }
  assert.equal((await service.ask<Pet[]>("GET", `/pets?id=${id}`)).body.length, 1);
  assert.equal((await service.ask("PATCH", `/pets/${id}`, { body: { name: "A" } })).status, 200);
});

test("GET /account returns the plan, the limits and their use, and counts as a request", async (t) => {
  const now = Date.UTC(2027, 0, 1, 12, 30, 15, 500);
  const service = await startService({ clock: () => now });
  t.after(() => service.close());
  const { id, key } = await service.newAccount("pro");
  await service.ask("GET", "/pets", { key });
  const { body } = await service.ask<Record<string, unknown>>("GET", "/account", { key });
  assert.deepEqual([body["id"], body["name"], body["plan"]], [id, "Test shop", "pro"]);
  assert.deepEqual(body["minute"], { limit: 300, used: 2, remaining: 298, resetAt: "2027-01-01T12:31:00Z" });
  assert.deepEqual(body["day"], { limit: 10_000, used: 2, remaining: 9_998, resetAt: "2027-01-02T00:00:00Z" });
  assert.deepEqual(body["key"], { id: 2, strikes: 0, strikesRemaining: 60 });
});
