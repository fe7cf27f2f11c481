import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { expireEvents } from "../src/events/log/retention.ts";
import { newMember } from "./support/dashboard.ts";
import { allNumbered } from "./support/event-log.ts";
import { pathOf } from "./support/profiles.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

type Change = { field: string; before: unknown; after: unknown };
type Shown = {
  position: number;
  type: string;
  at: string;
  actor: { type: string; id: number | null; name: string | null };
  orderId?: number;
  quantity?: number;
  changes: Change[];
};
type History = { events: Shown[]; read: number; next: number | null };
let people = 0;

/** An account with a member who works in the dashboard, two categories and a pet. */
async function openShop() {
  const { id: accountId, key } = await service.newAccount();
  people += 1;
  const email = `keeper${people}@shop.example`;
  const member = await newMember(service, { account: accountId, email, role: "member" });
  const [dogs, cats] = [await newCategory(service, "Dogs", key), await newCategory(service, "Cats", key)];
  const pet = await newPet(service, dogs.id, { name: "Rex" }, key);
  const by = { key };
  const history = async (petId = pet.id, until?: number) => {
    const { status, body } = await member.ask<History>("GET", `/pets/${petId}/history${until === undefined ? "" : `?before=${until}`}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  return { accountId, key, by, email, member, dogs, cats, pet, history };
}

const changes = (...list: [field: string, before: unknown, after: unknown][]) =>
  list.map(([field, was, is]) => ({ field, before: was, after: is }));

test("the history of an animal has its changes, its stock and its orders, the newest first, with who made them", async () => {
  const { by, email, member, dogs, cats, pet, history } = await openShop();
  const other = await newPet(service, dogs.id, { name: "Ben" }, by.key);
  await service.ask("PATCH", `/pets/${pet.id}`, { ...by, body: { categoryId: cats.id, name: "Max" } });
  await service.ask("PUT", pathOf(pet.id), { ...by, body: { description: "Barks.", price: { amount: 4_900, currency: "EUR" } } });
  assert.equal((await member.ask("PUT", `/store/inventory/${pet.id}`, { quantity: 3 })).status, 201);
  await service.ask("PUT", `/store/inventory/${other.id}`, { ...by, body: { quantity: 3 } });
  const order = await service.ask<{ id: number }>("POST", "/store/orders", { ...by, body: { petId: pet.id, quantity: 3 } });
  const orderId = order.body.id;
  await service.ask("POST", "/store/orders", { ...by, body: { petId: other.id } });
  await service.ask("PATCH", `/store/orders/${orderId}`, { ...by, body: { petId: other.id, quantity: 1 } });
  const { events, next } = await history();
  assert.equal(next, null);
  const [byKey, byMember] = [events.at(-1)!.actor, events.find(({ actor }) => actor.type === "member")!.actor];
  assert.match(byKey.name!, /^Key \d+$/);
  assert.equal(byMember.name, email);
  const shown = events.map(({ type, actor, orderId: of, quantity, changes: changed }) => ({
    type,
    actor: actor.type,
    ...(of !== undefined && { of, quantity }),
    // the engines write the events of one request in their own order of fields
    changes: changed.toSorted((a, b) => a.field.localeCompare(b.field)),
  }));
  const sorted = (part: typeof shown) => part.toSorted((a, b) => a.type.localeCompare(b.type));
  const created = { type: "pet.created", actor: "key", changes: [] };
  const moved = { type: "pet.updated", actor: "key", changes: changes(["categoryId", dogs.id, cats.id], ["name", "Rex", "Max"]) };
  const priced = {
    type: "pet.profile_updated",
    actor: "key",
    changes: changes(["description", null, null], ["price", null, { amount: 4_900, currency: "EUR" }]),
  };
  const counted = { type: "inventory.updated", actor: "member", changes: changes(["quantity", null, 3], ["status", null, "available"]) };
  assert.deepEqual(shown.slice(-4), [counted, priced, moved, created]);
  assert.deepEqual(sorted(shown.slice(3, 6)), [
    { type: "inventory.updated", actor: "key", changes: changes(["quantity", 3, 0], ["status", "available", "pending"]) },
    { type: "order.created", actor: "key", of: orderId, quantity: 3, changes: [] },
    { type: "pet.updated", actor: "key", changes: changes(["status", "available", "pending"]) },
  ]);
  assert.deepEqual(sorted(shown.slice(0, 3)), [
    { type: "inventory.updated", actor: "key", changes: changes(["quantity", 0, 3], ["status", "pending", "available"]) },
    { type: "order.updated", actor: "key", of: orderId, quantity: 1, changes: changes(["petId", pet.id, other.id], ["quantity", 3, 1]) },
    { type: "pet.updated", actor: "key", changes: changes(["status", "pending", "available"]) },
  ]);
});

test("an animal whose number begins or ends like another's has only its own history", async () => {
  const { accountId, member } = await openShop();
  await service.db.write(async (tx) => {
    for (const petId of [17, 170, 117, 1_717]) {
      const data = { complete: false, id: petId, petId, quantity: petId };
      tx.record({ accountId, type: "order.created", resource: { type: "order", id: petId }, data });
      tx.record({ accountId, type: "order.updated", resource: { type: "order", id: 17 }, data, previous: { petId: petId + 1 } });
      tx.record({ accountId, type: "category.updated", resource: { type: "category", id: 17 }, data: { id: 17 } });
    }
  });
  await allNumbered(service.db);
  const { body } = await member.ask<History>("GET", "/pets/17/history");
  assert.deepEqual(
    body.events.map(({ type, quantity }) => [type, quantity]),
    [
      ["order.updated", 17],
      ["order.created", 17],
    ],
  );
});

test("a page has the newest 20 events, and a page reads at most 20,000 events of the log and names where the next one begins", async () => {
  const { accountId, by, pet, history } = await openShop();
  for (let i = 0; i < 25; i++) await service.ask("PATCH", `/pets/${pet.id}`, { ...by, body: { name: `Rex ${i}` } });
  const first = await history();
  assert.equal(first.events.length, 20);
  const second = await history(pet.id, first.next!);
  const found = [...first.events, ...second.events];
  const names = found.flatMap(({ changes: changed }) => changed.map((one) => one.after));
  assert.deepEqual(
    names,
    Array.from({ length: 25 }, (_, i) => `Rex ${24 - i}`),
  );
  assert.deepEqual([found.at(-1)!.type, second.next], ["pet.created", null]);

  const others = 20_500;
  for (let done = 0; done < others; done += 500)
    await service.db.write(async (tx) => {
      for (let i = 0; i < 500; i++)
        tx.record({ accountId, type: "category.updated", resource: { type: "category", id: 1 }, data: { id: 1 } });
    });
  await allNumbered(service.db);
  const far = await history();
  assert.deepEqual([far.events, far.read], [[], 20_000]);
  const back = await history(pet.id, far.next!);
  assert.deepEqual(back.events, first.events);
  assert.equal(far.read + back.read, others + first.read);
  assert.equal((await history(pet.id, 1)).events.length, 0);
});

test("a deleted animal keeps its history, one that never existed is a 404, and nobody sees another shop's", async () => {
  const { by, member, pet, history } = await openShop();
  const stranger = await openShop();
  assert.equal((await stranger.member.ask("GET", `/pets/${pet.id}/history`)).status, 404);
  await service.ask("DELETE", `/pets/${pet.id}`, by);
  assert.deepEqual(
    (await history()).events.map(({ type }) => type),
    ["pet.deleted", "pet.created"],
  );
  assert.equal((await stranger.member.ask("GET", `/pets/${pet.id}/history`)).status, 404);
  assert.equal((await member.ask("GET", "/pets/999999999/history")).status, 404);
  for (const wrong of ["/pets/x/history", `/pets/${pet.id}/history?before=0`, `/pets/${pet.id}/history?limit=5`])
    assert.equal((await member.ask("GET", wrong)).status, 400, wrong);
});

test("events that are no longer kept are not in the history, and an animal without any has an empty one", async () => {
  const { accountId, by, dogs, pet, history } = await openShop();
  const quiet = await newPet(service, dogs.id, { name: "Ben" }, by.key);
  await allNumbered(service.db);
  await service.db.write((tx) => tx.query(sql`UPDATE events SET at = ${Date.now() - 40 * 86_400_000} WHERE account_id = ${accountId}`));
  await service.ask("PATCH", `/pets/${pet.id}`, { ...by, body: { name: "Max" } });
  await allNumbered(service.db);
  await expireEvents(service.db, Date.now(), { eventDaysKept: 30, auditDaysKept: 365 });
  const { events, next } = await history();
  assert.deepEqual([events.map(({ type }) => type), next], [["pet.updated"], null]);
  assert.deepEqual(await history(quiet.id), { events: [], read: 1, next: null });
});
