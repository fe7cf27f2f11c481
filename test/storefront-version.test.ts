import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openCatalogue } from "../src/app/storefront.ts";
import { expireEvents } from "../src/events/log/retention.ts";
import { newMember } from "./support/dashboard.ts";
import { allNumbered } from "./support/event-log.ts";
import { examplePicture } from "./support/pictures.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

const dayMs = 86_400_000;

let service: TestService;
let category: number;
/** Has one unit that can be ordered. */
let tracked: number;
/** Has many. */
let stocked: number;
before(async () => {
  service = await startService();
  category = (await newCategory(service, "Dogs")).id;
  [tracked, stocked] = [(await newPet(service, category)).id, (await newPet(service, category)).id];
  await send("PUT", `/store/inventory/${tracked}`, { quantity: 1 });
  await send("PUT", `/store/inventory/${stocked}`, { quantity: 1_000 });
});
after(() => service.close());

const send = (method: string, path: string, body?: unknown) => made<{ id: number; photos: { id: number }[] }>(service, method, path, body);

async function version(accountId = service.accountId): Promise<string> {
  await allNumbered(service.db);
  return openCatalogue(service.db).version(accountId);
}

/** Makes a change, and returns whether the version moved. */
async function moves(change: () => Promise<unknown>): Promise<boolean> {
  const known = await version();
  await change();
  return (await version()) !== known;
}

test("each change that a storefront shows moves the version of its catalogue", async () => {
  let pet = 0;
  let other = 0;
  const changes: [string, () => Promise<unknown>][] = [
    ["a category is created", async () => (other = (await newCategory(service, "Cats")).id)],
    ["a category is renamed", () => send("PATCH", `/categories/${other}`, { name: "Birds" })],
    ["an animal is created", async () => (pet = (await newPet(service, category)).id)],
    ["a batch of animals is created", () => send("POST", "/pets/batch", [{ name: "Bird", categoryId: category }])],
    ["an animal is renamed", () => send("PATCH", `/pets/${pet}`, { name: "Rexina" })],
    ["an animal moves to another category", () => send("PATCH", `/pets/${pet}`, { categoryId: other })],
    ["an animal is reserved", () => send("PATCH", `/pets/${pet}`, { status: "pending" })],
    [
      "a profile is written",
      () => send("PUT", `/pets/${pet}/profile`, { description: "Friendly.", price: { amount: 1, currency: "EUR" } }),
    ],
    ["a price changes", () => send("PATCH", `/pets/${pet}/profile`, { price: { amount: 2, currency: "EUR" } })],
    ["a photo is added", () => addPhoto(pet)],
    ["a photo is removed", async () => send("DELETE", `/pets/${pet}/profile/photos/${await photoOf(pet)}`)],
    ["a profile is deleted", () => send("DELETE", `/pets/${pet}/profile`)],
    ["the last unit of an animal is ordered", () => send("POST", "/store/orders", { petId: tracked })],
    ["the stock of a sold-out animal is raised", () => send("PUT", `/store/inventory/${tracked}`, { quantity: 10 })],
    ["an animal is deleted", () => send("DELETE", `/pets/${pet}`)],
    ["a category is deleted", () => send("DELETE", `/categories/${other}`)],
  ];
  for (const [name, change] of changes) assert.equal(await moves(change), true, name);
});

const photoOf = async (pet: number): Promise<number> => (await send("GET", `/pets/${pet}/profile`)).photos[0]!.id;

function addPhoto(pet: number): Promise<unknown> {
  return service.ask("POST", `/pets/${pet}/profile/photos?alt=Rex`, { body: examplePicture, headers: { "content-type": "image/jpeg" } });
}

test("a change that no page shows leaves the version of the catalogue", async () => {
  let order = 0;
  const changes: [string, () => Promise<unknown>][] = [
    ["an order of an animal with stock left", async () => (order = (await send("POST", "/store/orders", { petId: stocked })).id)],
    ["a change of an order", () => send("PATCH", `/store/orders/${order}`, { quantity: 2 })],
    ["a completed order", () => send("PATCH", `/store/orders/${order}`, { complete: true })],
    ["stock that leaves the status", () => send("PUT", `/store/inventory/${stocked}`, { quantity: 500 })],
    ["a project", () => send("POST", "/projects", { name: "Shop", slug: "unseen" })],
    ["a webhook", () => send("POST", "/webhooks", { url: "https://hooks.example.com/x", types: ["*"] })],
    ["a key", () => service.administration["keys.create"]({ account: service.accountId })],
    ["a member", () => newMember(service, { account: service.accountId, email: "o@shop.example", role: "owner" })],
    ["another account's animal", async () => anotherShop()],
    ["a pet that is written as it was", async () => send("PATCH", `/pets/${stocked}`, {})],
  ];
  for (const [name, change] of changes) assert.equal(await moves(change), false, name);
});

async function anotherShop(): Promise<void> {
  const { key } = await service.newAccount();
  const { id } = await newCategory(service, "Cats", key);
  await newPet(service, id, {}, key);
}

test("the version never falls back to an earlier one, however many events are deleted", async () => {
  const { id, key } = await service.newAccount();
  const empty = await version(id);
  const { id: cats } = await newCategory(service, "Cats", key);
  await newPet(service, cats, {}, key);
  await made(service, "POST", "/projects", { name: "Shop", slug: "newest-event" }, key);
  const shown = await version(id);
  await expireEvents(service.db, Date.now() + 31 * dayMs, { eventDaysKept: 30, auditDaysKept: 30 });
  assert.equal((await service.ask<unknown[]>("GET", "/events?after=0", { key })).status, 410, "the events of the animals are gone");
  assert.ok(Number(await version(id)) >= Number(shown));
  assert.ok(Number(shown) > Number(empty));
});

test("the newest animals that are not sold are listed for the sitemap in steps, with a turn between them", async () => {
  const { id, key } = await service.newAccount();
  const { id: cats } = await newCategory(service, "Cats", key);
  const names = (status: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `Cat ${n}`, categoryId: cats, status }));
  const pets: { id: number; status: string }[] = [];
  for (const status of ["available", "sold", "pending", "available"])
    pets.push(...(await made<typeof pets>(service, "POST", "/pets/batch", names(status, 400), key)));
  const unsold = pets.filter(({ status }) => status !== "sold").map((pet) => pet.id);
  let turns = 0;
  const count = (): void => void ((turns += 1), (next = setImmediate(count)));
  let next = setImmediate(count);
  const listed = await openCatalogue(service.db).newest(id, 1_100);
  clearImmediate(next);
  assert.deepEqual(listed, unsold.toReversed().slice(0, 1_100));
  assert.ok(turns >= 2, `${turns} turns`);
});
