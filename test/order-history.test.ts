import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { expireEvents } from "../src/events/log/retention.ts";
import { newMember } from "./support/dashboard.ts";
import { allNumbered, type LoggedEvent } from "./support/event-log.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

type Shown = Omit<LoggedEvent, "actor"> & { actor: { type: string; id: number | null; name: string | null } };
type History = { events: Shown[]; isWhole: boolean };
let people = 0;

/** An account with a member who works in the dashboard, and a pet with stock. */
async function openShop() {
  const account = await service.newAccount();
  people += 1;
  const email = `clerk${people}@shop.example`;
  const member = await newMember(service, { account: account.id, email, role: "member" });
  const category = await newCategory(service, "Dogs", account.key);
  const pet = await newPet(service, category.id, {}, account.key);
  await service.ask("PUT", `/store/inventory/${pet.id}`, { key: account.key, body: { quantity: 1_000 } });
  const place = async (body: object = { petId: pet.id }) =>
    (await service.ask<{ id: number }>("POST", "/store/orders", { key: account.key, body })).body.id;
  const history = async (id: number) => {
    const { status, body } = await member.ask<History>("GET", `/orders/${id}/history`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  return { ...account, email, member, pet, place, history };
}

test("the history of an order says who placed, changed, shipped and cancelled it, with names and what was before", async () => {
  const { key, email, member, pet, place, history } = await openShop();
  await place();
  const id = await place({ petId: pet.id, quantity: 2 });
  await place();
  await service.ask("PATCH", `/store/orders/${id}`, { key, body: { quantity: 3 }, headers: { "x-request-id": "three" } });
  const shipDate = "2027-01-02T03:04:05Z";
  assert.equal((await member.ask("PATCH", `/store/orders/${id}`, { shipDate })).status, 200);
  assert.equal((await member.ask("DELETE", `/store/orders/${id}`)).status, 204);
  const { events, isWhole } = await history(id);
  assert.equal(isWhole, true);
  const last = { id, petId: pet.id, quantity: 3, shipDate, complete: false };
  const [byKey, byMember] = [events[0]!.actor, events[3]!.actor];
  assert.deepEqual([byKey.type, byMember.type, byMember.name], ["key", "member", email]);
  assert.match(byKey.name!, /^Key \d+$/);
  const { shipDate: _shipDate, ...three } = last;
  assert.deepEqual(
    events.map(({ type, actor, data, previous }) => ({ type, actor, data, previous })),
    [
      { type: "order.created", actor: byKey, data: { ...three, quantity: 2 }, previous: {} },
      { type: "order.updated", actor: byKey, data: three, previous: { quantity: 2 } },
      { type: "order.updated", actor: byMember, data: last, previous: { shipDate: null } },
      { type: "order.cancelled", actor: byMember, data: last, previous: {} },
    ],
  );
  assert.equal(events[1]!.requestId, "three");
  assert.ok(events.every(({ resource, position }, i) => resource.id === id && position > (events[i - 1]?.position ?? 0)));
});

test("an order among many has its own history, and another account's order and one that never existed are a 404", async () => {
  const { key, place, history } = await openShop();
  const ids = await Promise.all(Array.from({ length: 40 }, () => place()));
  const other = await openShop();
  for (const id of ids.slice(0, 10)) {
    await service.ask("PATCH", `/store/orders/${id}`, { key, body: { complete: true } });
    const { events, isWhole } = await history(id);
    assert.deepEqual([events.map(({ type }) => type), isWhole], [["order.created", "order.completed"], true]);
    assert.equal(events[0]!.data["id"], id);
    assert.equal((await other.member.ask("GET", `/orders/${id}/history`)).status, 404);
  }
  for (const id of ids.slice(10))
    assert.deepEqual(
      (await history(id)).events.map(({ data }) => data["id"]),
      [id],
    );
  assert.equal((await other.member.ask("GET", "/orders/999999999/history")).status, 404);
  assert.equal((await other.member.ask("GET", "/orders/x/history")).status, 400);
});

test("the placing is found among placings that are not in the order of their ids", async () => {
  const { id: accountId, history } = await openShop();
  const ids = Array.from({ length: 300 }, (_, i) => 5_000_000 + ((i * 7) % 300));
  await service.db.write(async (tx) => {
    for (const id of ids) tx.record({ accountId, type: "order.created", resource: { type: "order", id }, data: { id } });
  });
  await allNumbered(service.db);
  for (let id = 5_000_000; id < 5_000_300; id += 13) {
    const { events, isWhole } = await history(id);
    assert.deepEqual([events.map(({ data }) => data["id"]), isWhole], [[id], true]);
  }
});

test("the newest hundred changes of an order are shown, and the answer says if there are more", async () => {
  const { key, place, history } = await openShop();
  const id = await place();
  const change = (i: number) =>
    service.ask("PATCH", `/store/orders/${id}`, { key, body: { shipDate: new Date(Date.UTC(2027, 0, 1, 0, i)).toISOString() } });
  for (let i = 1; i <= 100; i++) await change(i);
  const whole = await history(id);
  assert.deepEqual([whole.events.length, whole.isWhole], [101, true]);
  await change(101);
  const { events, isWhole } = await history(id);
  assert.deepEqual([events.length, isWhole, events[0]!.type], [101, false, "order.created"]);
  assert.equal(events.at(-1)!.data["shipDate"], "2027-01-01T01:41:00Z");
});

test("an order whose placing is no longer kept has the rest of its history, which says that it is not whole", async () => {
  const { id: accountId, key, place, history } = await openShop();
  const [id, quiet] = [await place(), await place()];
  await allNumbered(service.db);
  const day = 86_400_000;
  await service.db.write((tx) => tx.query(sql`UPDATE events SET at = ${Date.now() - 40 * day} WHERE account_id = ${accountId}`));
  await service.ask("PATCH", `/store/orders/${id}`, { key, body: { quantity: 2 } });
  await allNumbered(service.db);
  await expireEvents(service.db, Date.now(), { eventDaysKept: 30, auditDaysKept: 365 });
  const { events, isWhole } = await history(id);
  assert.deepEqual([events.map(({ type }) => type), isWhole], [["order.updated"], false]);
  assert.deepEqual(await history(quiet), { events: [], isWhole: false });
});
