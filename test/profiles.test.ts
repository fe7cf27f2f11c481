import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loggedEvents } from "./support/event-log.ts";
import type { Failure } from "./support/models.ts";
import { picture } from "./support/pictures.ts";
import { pathOf, upload, type Profile } from "./support/profiles.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

let service: TestService;
let categoryId: number;
before(async () => {
  service = await startService();
  categoryId = (await newCategory(service, "Dogs")).id;
});
after(() => service.close());

const price = { amount: 49_000, currency: "EUR" };

test("a profile is created, read, replaced, patched and deleted beside a pet whose own fields stay as they are", async () => {
  const pet = await newPet(service, categoryId);
  assert.equal((await service.ask("GET", pathOf(pet.id))).status, 404);
  assert.equal((await service.ask("PATCH", pathOf(pet.id), { body: { price } })).status, 404);
  assert.equal((await service.ask("DELETE", pathOf(pet.id))).status, 404);
  const created = await service.ask<Profile>("PUT", pathOf(pet.id), { body: { description: " Friendly ", price } });
  assert.deepEqual([created.status, created.body], [201, { petId: pet.id, description: "Friendly", price, photos: [] }]);
  assert.equal(created.headers.get("location"), `/v1${pathOf(pet.id)}`);
  const read = await service.ask<Profile>("GET", pathOf(pet.id));
  assert.equal(read.headers.get("etag"), created.headers.get("etag"));
  const notModified = await service.ask("GET", pathOf(pet.id), { headers: { "if-none-match": read.headers.get("etag")! } });
  assert.equal(notModified.status, 304);
  const same = await service.ask("PUT", pathOf(pet.id), { body: read.body });
  assert.deepEqual(
    [same.status, same.headers.get("etag")],
    [200, read.headers.get("etag")],
    "a PUT of the profile that a GET returned changes nothing",
  );
  const patched = await service.ask<Profile>("PATCH", pathOf(pet.id), { body: { description: null } });
  assert.deepEqual(patched.body, { petId: pet.id, price, photos: [] });
  const late = { body: { price: null }, headers: { "if-match": read.headers.get("etag")! } };
  assert.equal((await service.ask("PATCH", pathOf(pet.id), late)).status, 412);
  const cheaper = await service.ask<Profile>("PATCH", pathOf(pet.id), { body: { price: { amount: 700 } } });
  assert.deepEqual(cheaper.body.price, { ...price, amount: 700 }, "a nested object is merged too");
  const replaced = await service.ask<Profile>("PUT", pathOf(pet.id), { body: {} });
  assert.deepEqual(replaced.body, { petId: pet.id, photos: [] });
  for (const [change, path] of [
    [{ amount: 700 }, "body.price.currency"],
    [{ amount: 700, currency: null }, "body.price.currency"],
    [{ currency: "EUR" }, "body.price.amount"],
    [{}, "body.price.amount"],
  ] as const) {
    const refused = await service.ask<{ details: { path: string }[] }>("PATCH", pathOf(pet.id), { body: { price: change } });
    assert.deepEqual([refused.status, refused.body.details[0]?.path], [400, path], "the result is validated");
  }
  assert.deepEqual((await service.ask("GET", `/pets?id=${pet.id}`)).body, [pet], "the model of a pet is exact");
  assert.equal((await service.ask("DELETE", pathOf(pet.id), { headers: { "if-match": '"v0"' } })).status, 412);
  assert.equal((await service.ask("DELETE", pathOf(pet.id))).status, 204);
  assert.equal((await service.ask("GET", pathOf(pet.id))).status, 404);
  assert.equal((await service.ask("PUT", pathOf(999_999), { body: {} })).status, 404);
});

test("texts, prices and photo lists outside their bounds are refused by name, and change nothing", async () => {
  const pet = await newPet(service, categoryId);
  await made(service, "PUT", pathOf(pet.id), { description: "x".repeat(5_000), price: { amount: 0, currency: "JPY" } });
  const wrong: [object, string][] = [
    [{ description: "x".repeat(5_001) }, "body.description"],
    [{ description: "a\u0000b" }, "body.description"],
    [{ price: { amount: -1, currency: "EUR" } }, "body.price.amount"],
    [{ price: { amount: 1.5, currency: "EUR" } }, "body.price.amount"],
    [{ price: { amount: 2 ** 60, currency: "EUR" } }, "body.price.amount"],
    [{ price: { amount: 1, currency: "eur" } }, "body.price.currency"],
    [{ price: { amount: 1, currency: "EURO" } }, "body.price.currency"],
    [{ price: { amount: 1 } }, "body.price.currency"],
    [{ price: 12 }, "body.price"],
    [{ photos: Array.from({ length: 11 }, (_, id) => ({ id })) }, "body.photos"],
    [{ photos: [{ id: 999_999 }] }, "body.photos[0].id"],
    [{ colour: "red" }, "body.colour"],
    [{ petId: pet.id + 1 }, "body.petId"],
  ];
  for (const [body, path] of wrong) {
    const reply = await service.ask<Failure>("PUT", pathOf(pet.id), { body });
    assert.ok([400, 422].includes(reply.status), `${JSON.stringify(body)}: ${reply.status}`);
    assert.equal(reply.body.details?.[0]?.path, path);
  }
  assert.equal((await made<Profile>(service, "GET", pathOf(pet.id))).description?.length, 5_000);
});

test("a publishable key reads profiles and cannot write them; another account sees nothing", async () => {
  const pet = await newPet(service, categoryId);
  await made(service, "PUT", pathOf(pet.id), { price });
  const { key } = await service.administration["keys.create"]({ account: service.accountId, publishable: true });
  assert.equal((await service.ask("GET", pathOf(pet.id), { key })).status, 200);
  assert.equal((await service.ask("PUT", pathOf(pet.id), { key, body: {} })).status, 403);
  assert.equal((await upload(service, pet.id, await picture("red"), {}, key)).status, 403);
  const other = await service.newAccount();
  assert.equal((await service.ask("GET", pathOf(pet.id), { key: other.key })).status, 404);
  assert.equal((await upload(service, pet.id, await picture("red"), {}, other.key)).status, 404);
});

test("each change of a profile is an event of its pet with the profile after it, and only the fields that changed as they were", async () => {
  const { id, key } = await service.newAccount();
  const pet = await newPet(service, (await newCategory(service, "Cats", key)).id, {}, key);
  const path = pathOf(pet.id);
  const read = async () => (await service.ask<Profile>("GET", path, { key })).body;
  const shown: { data: unknown; previous: unknown }[] = [];
  const change = async (method: string, body?: object) => {
    await service.ask(method, path, { key, ...(body && { body }) });
    if (method !== "DELETE") shown.push({ data: await read(), previous: undefined });
  };
  await change("PUT", { description: "Calm", price });
  await service.ask("PUT", path, { key, body: { description: "Calm", price } });
  await change("PATCH", { description: "Calm and kind" });
  assert.equal((await upload(service, pet.id, await picture("red", { width: 40, height: 30 }), {}, key)).status, 201);
  const full = await read();
  await change("PATCH", { price: null });
  await change("DELETE");
  const events = (await loggedEvents(service.db, id)).filter(({ type }) => type === "pet.profile_updated");
  assert.ok(events.every(({ resource, actor }) => resource.id === pet.id && resource.type === "pet" && actor.type === "key"));
  assert.deepEqual(
    events.map(({ previous }) => previous),
    [
      { description: null, price: null },
      { description: "Calm" },
      { photos: [] },
      { price },
      { description: "Calm and kind", photos: full.photos },
    ],
  );
  const [set, described, unpriced] = shown.map(({ data }) => data);
  assert.deepEqual(
    events.map(({ data }) => data),
    [set, described, full, unpriced, { petId: pet.id, photos: [] }],
  );
});
