import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { dayMs, minuteMs } from "../src/platform/clock.ts";
import { expireContacts } from "../src/store/contacts/contacts.store.ts";
import { newMember } from "./support/dashboard.ts";
import { loggedEvents } from "./support/event-log.ts";
import type { Failure } from "./support/models.ts";
import { engine, startService, type TestService } from "./support/service.ts";
import { made, newCategory } from "./support/shop.ts";

type Contact = { name?: string; email?: string; phone?: string; address?: string; note?: string };

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

const ann = { name: "Ann Smith", email: "ann@example.com", phone: "+44 20 7946 0958", address: "1 High St\nYork", note: "After 6 pm" };
const pathOf = (orderId: number) => `/store/orders/${orderId}/contact`;
const newOrder = async (body: object = {}, key?: string) => (await made<{ id: number }>(service, "POST", "/store/orders", body, key)).id;
const statusOf = async (orderId: number, key?: string) => (await service.ask("GET", pathOf(orderId), { key: key ?? service.key })).status;
/** Deletes the contacts that will be too old this many days from now, give or take a minute. */
const expireIn = (days: number, moreMs = minuteMs) => expireContacts(service.db, Date.now() + days * dayMs + moreMs);

test("a contact is set, read, replaced and deleted beside an order whose own fields stay as they are", async () => {
  const order = await made<{ id: number }>(service, "POST", "/store/orders", {});
  const path = pathOf(order.id);
  assert.equal((await service.ask("GET", path)).status, 404);
  assert.equal((await service.ask("DELETE", path)).status, 404);
  const dry = await service.ask("PUT", path, { body: ann, headers: { prefer: "dry-run" } });
  assert.deepEqual([dry.status, await statusOf(order.id)], [201, 404]);
  assert.equal((await service.ask("PUT", path, { body: ann, headers: { "if-match": '"v1"' } })).status, 412);
  const created = await service.ask<Contact>("PUT", path, { body: { ...ann, name: " Ann Smith " } });
  assert.deepEqual([created.status, created.body, created.headers.get("location")], [201, ann, `/v1${path}`]);
  const etag = created.headers.get("etag")!;
  assert.equal((await service.ask("GET", path, { headers: { "if-none-match": etag } })).status, 304);
  const same = await service.ask<Contact>("PUT", path, { body: created.body });
  assert.deepEqual([same.status, same.headers.get("etag")], [200, etag], "writing back what was read changes nothing");
  const replaced = await service.ask<Contact>("PUT", path, { body: { phone: "1234567", note: null } });
  assert.deepEqual([replaced.status, replaced.body], [200, { phone: "1234567" }]);
  assert.equal((await service.ask("PUT", path, { body: ann, headers: { "if-match": etag } })).status, 412);
  assert.equal((await service.ask("DELETE", path, { headers: { "if-match": etag } })).status, 412);
  assert.equal((await service.ask("DELETE", path)).status, 204);
  assert.deepEqual([await statusOf(order.id), (await service.ask("GET", `/store/orders/${order.id}`)).body], [404, order]);
  assert.equal((await service.ask("PUT", path, { body: { name: "Bob" } })).status, 201);
  assert.equal(
    (await service.ask("PUT", path, { body: ann, headers: { "if-match": etag } })).status,
    412,
    "another contact has another ETag",
  );
  assert.equal((await service.ask("PUT", pathOf(999_999), { body: ann })).status, 404);
});

test("a contact without a field, and fields outside their bounds, are refused by name", async () => {
  const orderId = await newOrder();
  const wrong: [object, string][] = [
    [{}, "body"],
    [{ name: null }, "body"],
    [{ name: "x".repeat(201) }, "body.name"],
    [{ email: `${"x".repeat(250)}@b.example` }, "body.email"],
    [{ email: "ann" }, "body.email"],
    [{ phone: "1".repeat(51) }, "body.phone"],
    [{ address: "x".repeat(501) }, "body.address"],
    [{ note: "x".repeat(1_001) }, "body.note"],
    [{ colour: "red" }, "body.colour"],
  ];
  for (const [body, path] of wrong) {
    const reply = await service.ask<Failure>("PUT", pathOf(orderId), { body });
    assert.deepEqual([reply.status, reply.body.details?.[0]?.path], [400, path], JSON.stringify(body));
  }
  assert.equal(await statusOf(orderId), 404);
});

test("only a key that was given the scope by name has it; every member of the shop has it; another account sees nothing", async () => {
  const { id: account } = await service.newAccount();
  const newKey = (scopes?: string[]) => service.administration["keys.create"]({ account, scopes });
  const plain = await newKey();
  assert.ok(!plain.scopes.some((scope) => scope.startsWith("contacts")));
  const { key: reader } = await newKey(["contacts:read"]);
  const { key: writer } = await newKey(["contacts:write"]);
  await assert.rejects(
    service.administration["keys.create"]({ account, publishable: true, scopes: ["contacts:read"] }),
    /cannot have contacts:read/,
  );
  const orderId = await newOrder({}, plain.key);
  const put = async (key: string) => (await service.ask("PUT", pathOf(orderId), { key, body: ann })).status;
  assert.deepEqual([await put(plain.key), await put(reader), await put(writer)], [403, 403, 201]);
  assert.deepEqual([await statusOf(orderId, plain.key), await statusOf(orderId, writer), await statusOf(orderId, reader)], [403, 403, 200]);
  assert.equal(await statusOf(orderId), 404, "another account");
  for (const role of ["owner", "member"] as const) {
    const person = await newMember(service, { account, email: `${role}@shop.example`, role });
    assert.deepEqual((await person.ask<Contact>("GET", pathOf(orderId))).body, ann);
    assert.equal((await person.ask("PUT", pathOf(orderId), { ...ann, note: role })).status, 200);
    await person.ask("PUT", pathOf(orderId), ann);
  }
});

test("a key gives on the scopes of contacts only if it has them and names them", async () => {
  const { id: account } = await service.newAccount();
  const newKey = async (scopes: string[]) => (await service.administration["keys.create"]({ account, scopes })).key;
  const create = (key: string, body: object) => service.ask<{ scopes: string[] }>("POST", "/keys", { key, body });
  const [without, having] = [await newKey(["orders:read", "keys:write"]), await newKey(["orders:read", "contacts:read", "keys:write"])];
  assert.equal((await create(without, { scopes: ["contacts:read"] })).status, 403);
  assert.deepEqual((await create(having, { scopes: ["contacts:read"] })).body.scopes, ["contacts:read"]);
  assert.deepEqual((await create(having, {})).body.scopes, ["orders:read"], "not by default");
});

test("a contact makes no event, and goes with its order and with its account", async () => {
  const { id: account, key } = await service.newAccount();
  const orderId = await newOrder({}, key);
  await made(service, "PUT", pathOf(orderId), ann, key);
  await made(service, "PUT", pathOf(orderId), { ...ann, note: "Other" }, key);
  const kept = await newOrder({}, key);
  await made(service, "PUT", pathOf(kept), ann, key);
  assert.equal((await service.ask("DELETE", pathOf(kept), { key })).status, 204);
  await made(service, "PUT", pathOf(kept), ann, key);
  assert.equal((await service.ask("DELETE", `/store/orders/${orderId}`, { key })).status, 204);
  const rows = async () =>
    (await service.db.query<{ order_id: number }>(sql`SELECT order_id FROM contacts WHERE account_id = ${account}`)).map(
      (row) => row.order_id,
    );
  assert.deepEqual(await rows(), [kept]);
  const events = await loggedEvents(service.db, account);
  assert.deepEqual(
    events.filter(({ type }) => type.startsWith("order.")).map(({ type }) => type),
    ["order.created", "order.created", "order.cancelled"],
  );
  assert.ok(!JSON.stringify(events).includes("Ann"));
  await service.administration["accounts.delete"]({ id: account });
  assert.deepEqual(await rows(), []);
});

test("a contact is deleted once its order has been complete for the shop's period, which owners set", async () => {
  const { id: account, key } = await service.newAccount();
  const categoryId = (await newCategory(service, "Dogs", key)).id;
  const petId = (await made<{ id: number }>(service, "POST", "/pets", { name: "Rex", categoryId }, key)).id;
  const [open, completed, placedComplete, later] = [
    await newOrder({ petId }, key),
    await newOrder({ petId }, key),
    await newOrder({ complete: true }, key),
    await newOrder({ petId }, key),
  ];
  for (const id of [open, completed, placedComplete, later]) await made(service, "PUT", pathOf(id), ann, key);
  await made(service, "PATCH", `/store/orders/${completed}`, { complete: true }, key);
  await made(service, "PUT", `/store/orders/${later}`, { petId, complete: true }, key);
  await service.db.write((tx) =>
    tx.query(sql`UPDATE contacts SET completed_at = completed_at + ${100 * dayMs} WHERE account_id = ${account} AND order_id = ${later}`),
  );
  const statuses = () => Promise.all([open, completed, placedComplete, later].map((id) => statusOf(id, key)));
  await made(service, "PATCH", `/store/orders/${completed}`, { shipDate: "2027-06-01T00:00:00Z" }, key); // later changes do not prolong it
  await expireIn(180, -minuteMs);
  assert.deepEqual(await statuses(), [200, 200, 200, 200]);
  await expireIn(180);
  assert.deepEqual(await statuses(), [200, 404, 404, 200]);
  const owner = await newMember(service, { account, email: "ann@shop.example", role: "owner" });
  const member = await newMember(service, { account, email: "bob@shop.example", role: "member" });
  assert.equal((await member.ask("PATCH", "/account", { contactDays: 30 })).status, 403);
  for (const wrong of [0, 3_651, 1.5]) assert.equal((await owner.ask("PATCH", "/account", { contactDays: wrong })).status, 400);
  const set = await owner.ask<{ account: object }>("PATCH", "/account", { contactDays: 30 });
  assert.partialDeepStrictEqual(set.body.account, { lowStock: 3, contactDays: 30 });
  const changed = (await loggedEvents(service.db, account)).findLast(({ type }) => type === "account.updated");
  assert.deepEqual(changed!.previous, { contactDays: 180 });
  await expireIn(130);
  assert.deepEqual(await statuses(), [200, 404, 404, 404]);
  await expireIn(4_000);
  assert.deepEqual(await statuses(), [200, 404, 404, 404], "that of an open order stays");
});

test("a contact that is set after its order was completed is kept from the completion on", async () => {
  const { id, key } = await service.newAccount();
  const orderId = await newOrder({ complete: true }, key);
  await service.db.write((tx) => tx.query(sql`UPDATE orders SET completed_at = completed_at - ${179 * dayMs} WHERE account_id = ${id}`));
  await made(service, "PUT", pathOf(orderId), ann, key);
  await expireIn(1, -minuteMs);
  assert.equal(await statusOf(orderId, key), 200);
  await expireIn(1);
  assert.equal(await statusOf(orderId, key), 404);
});

if (engine === "postgres")
  test("a contact gets its time from the database if a node of an earlier release completes the order", async () => {
    const { id, key } = await service.newAccount();
    const orderId = await newOrder({}, key);
    await made(service, "PUT", pathOf(orderId), ann, key);
    await service.db.write((tx) => tx.query(sql`UPDATE orders SET complete = TRUE, version = version + 1 WHERE account_id = ${id}`));
    await expireIn(180, -minuteMs);
    assert.equal(await statusOf(orderId, key), 200);
    await expireIn(180);
    assert.equal(await statusOf(orderId, key), 404);
  });
