import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import sql from "sql-template-tag";
import { forgetOldAnswers, keepAnswer } from "../src/platform/http/idempotency.store.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Pet } from "./support/models.ts";
import { openRaw, type RawConnection } from "./support/raw.ts";
import { startService, type Reply, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { until } from "./support/until.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
let now = Date.UTC(2027, 0, 1);
let shop: TestService;
let categoryId: number;
before(async () => {
  shop = await startService({ clock: () => now });
  ({ id: categoryId } = await newCategory(shop, "Dogs"));
});
after(() => shop.close());

let keys = 0;
const newKey = (): string => `key-${(keys += 1)}`;

/** A resource or an Error. */
type Either = { id: number; code: string };

function post<T = Either>(path: string, body: unknown, idempotencyKey: string, key = shop.key): Promise<Reply<T>> {
  return shop.ask<T>("POST", path, { body, key, headers: { "idempotency-key": idempotencyKey } });
}

const isReplay = ({ headers }: Reply): boolean => headers.get("idempotent-replayed") === "true";

test("a replay of the same body returns the first response, with its Location and ETag, and does nothing twice", async () => {
  const key = newKey();
  const first = await post("/pets", { name: "Once", categoryId }, key);
  assert.deepEqual([first.status, isReplay(first)], [201, false]);
  await made(shop, "PATCH", `/pets/${first.body.id}`, { name: "Changed" });
  const again = await post("/pets", { categoryId, name: "Once" }, key);
  assert.deepEqual([again.status, again.body, isReplay(again)], [201, first.body, true]);
  for (const header of ["location", "etag", "content-type"]) assert.equal(again.headers.get(header), first.headers.get(header));
  assert.notEqual(again.headers.get("x-request-id"), first.headers.get("x-request-id"));
  assert.deepEqual((await shop.ask<Pet[]>("GET", "/pets?q=once")).body, []);
});

test("another body with the same key returns 422 idempotency_key_reused, and the first response stays stored", async () => {
  const key = newKey();
  const first = await post("/pets", { name: "A", categoryId }, key);
  const other = await post("/pets", { name: "B", categoryId }, key);
  assert.deepEqual([other.status, other.body.code, isReplay(other)], [422, "idempotency_key_reused", false]);
  assert.deepEqual((await post("/pets", { name: "A", categoryId }, key)).body, first.body);
});

test("bodies are compared after validation: trimmed, with defaults, and null equal to an absent field", async () => {
  const key = newKey();
  const first = await post("/pets", { name: "Same", categoryId }, key);
  const same = [
    { name: "Same", categoryId, status: null },
    { name: "Same", categoryId, status: "available" },
    { name: "  Same ", categoryId },
  ];
  for (const body of same) {
    const again = await post("/pets", body, key);
    assert.deepEqual([again.status, again.body, isReplay(again)], [201, first.body, true]);
  }
  assert.equal((await post("/pets", { name: "Same", categoryId, status: "sold" }, key)).body.code, "idempotency_key_reused");
});

test("every POST accepts a key: batches, categories, orders and adjustments are done once", async () => {
  const pet = await newPet(shop, categoryId);
  await made(shop, "PUT", `/store/inventory/${pet.id}`, { quantity: 10 });
  const posts: [string, unknown][] = [
    ["/pets/batch", [{ name: "Twin", categoryId }]],
    ["/categories", { name: "Once" }],
    ["/store/orders", { petId: pet.id, quantity: 2 }],
    [`/store/inventory/${pet.id}/adjustments`, { delta: -3 }],
  ];
  for (const [path, body] of posts) {
    const key = newKey();
    const [first, again] = [await post<unknown>(path, body, key), await post<unknown>(path, body, key)];
    assert.deepEqual([again.status, again.body, isReplay(again)], [first.status, first.body, true], path);
  }
  assert.equal((await shop.ask<Pet[]>("GET", "/pets?q=twin")).body.length, 1);
  assert.deepEqual((await shop.ask("GET", `/store/inventory/${pet.id}`)).body, { petId: pet.id, quantity: 5, status: "available" });
});

test("while the first request runs, a second one with its key returns 409 idempotency_key_in_use", async (t) => {
  const key = newKey();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  t.after(() => release());
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const blocker = shop.db.write(async (tx) => {
    await tx.query(sql`SELECT 1 FROM categories WHERE id = ${categoryId}${tx.forUpdate}`);
    begin();
    await held; // keeps SQLite's writer busy, or the pets' category locked
  });
  await begun;
  // the first waits for that, and the second is refused before it needs it
  const both = ["Held", "Held"].map((name) => post("/pets", { name, categoryId }, key));
  const refused = await Promise.race(both);
  assert.deepEqual([refused.status, refused.body.code], [409, "idempotency_key_in_use"]);
  release();
  await blocker;
  assert.deepEqual(
    (await Promise.all(both)).map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409],
  );
  assert.deepEqual((await post("/pets", { name: "Held", categoryId }, key)).status, 201);
  assert.equal((await shop.ask<Pet[]>("GET", "/pets?q=held")).body.length, 1);
});

test("a request whose client has gone while it waits for its place does not refuse the one that is sent again", async (t) => {
  const key = newKey();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  t.after(() => release());
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const blocker = shop.db.write(async (tx) => {
    await tx.query(sql`SELECT 1 FROM categories WHERE id = ${categoryId}${tx.forUpdate}`);
    begin();
    await held;
  });
  await begun;
  const body = { name: "Twice sent", categoryId };
  const leaving = new AbortController();
  const headers = { "x-api-key": shop.key, "idempotency-key": key, "content-type": "application/json" };
  const busy = shop.db.load().writes;
  const first = fetch(`${shop.address}/v1/pets`, { method: "POST", headers, body: JSON.stringify(body), signal: leaving.signal });
  await until(() => shop.db.load().writes > busy);
  leaving.abort();
  await assert.rejects(first);
  const again = until(async () => (await post("/pets", body, key)).status === 201);
  release();
  await Promise.all([blocker, again]);
  assert.equal((await shop.ask<Pet[]>("GET", "/pets?q=twice")).body.length, 1);
});

test("of many simultaneous requests with one key, exactly one is executed", async () => {
  const key = newKey();
  const replies = await Promise.all(Array.from({ length: 20 }, () => post("/pets", { name: "Crowd", categoryId }, key)));
  for (const reply of replies) assert.ok(reply.status === 201 || reply.body.code === "idempotency_key_in_use");
  assert.equal(new Set(replies.filter(({ status }) => status === 201).map(({ body }) => body.id)).size, 1);
  assert.equal((await shop.ask<Pet[]>("GET", "/pets?q=crowd")).body.length, 1);
});

test("60 clients that repeat a finished key at once all get its stored response, even while the writer is busy", async (t) => {
  const key = newKey();
  const first = await post("/pets", { name: "Sixty", categoryId }, key);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  t.after(() => release());
  const blocker = shop.db.write(() => held);
  const replies = await Promise.all(Array.from({ length: 60 }, () => post("/pets", { name: "Sixty", categoryId }, key)));
  for (const reply of replies) assert.deepEqual([reply.status, reply.body, isReplay(reply)], [201, first.body, true]);
  release();
  await blocker;
});

test("responses 404, 409 and 422 are stored: a replay gets them even if their cause is gone", async () => {
  const { id } = await newPet(shop, categoryId);
  const [absent, short, unknown] = [newKey(), newKey(), newKey()];
  const adjustments = `/store/inventory/${id}/adjustments`;
  const first404 = await post(adjustments, { delta: -1 }, absent);
  await made(shop, "PUT", `/store/inventory/${id}`, { quantity: 0 });
  const first409 = await post(adjustments, { delta: -1 }, short);
  await made(shop, "PUT", `/store/inventory/${id}`, { quantity: 5 });
  const first422 = await post("/store/orders", { petId: 999_999 }, unknown);
  assert.deepEqual([first404.status, first409.status, first422.status], [404, 409, 422]);
  for (const [first, again] of [
    [first404, await post(adjustments, { delta: -1 }, absent)],
    [first409, await post(adjustments, { delta: -1 }, short)],
    [first422, await post("/store/orders", { petId: 999_999 }, unknown)],
  ] as const) {
    assert.deepEqual([again.status, again.body, isReplay(again)], [first.status, first.body, true]);
  }
  assert.deepEqual((await shop.ask("GET", `/store/inventory/${id}`)).body, { petId: id, quantity: 5, status: "available" });
  const reused = await post(adjustments, { delta: -2 }, short);
  assert.deepEqual([reused.status, reused.body.code], [422, "idempotency_key_reused"]);
});

test("responses 400, 401, 403, 406, 413 and 415 are not stored: a corrected request may use the same key", async () => {
  const key = newKey();
  const { key: reader } = await shop.administration["keys.create"]({ account: shop.accountId, scopes: ["catalogue:read"] });
  const good = { name: "Mended", categoryId };
  const headers = { "idempotency-key": key };
  const statuses = [
    await post("/pets", { name: "" }, key),
    await post("/pets", good, key, "psk_wrong"),
    await post("/pets", good, key, reader),
    await shop.ask("POST", "/pets", { body: good, headers: { ...headers, accept: "text/html" } }),
    await shop.ask("POST", "/pets", { body: " ".repeat(1_048_577), headers }),
    await shop.ask("POST", "/pets", { body: good, headers: { ...headers, "content-type": "text/plain" } }),
  ].map(({ status }) => status);
  assert.deepEqual(statuses, [400, 401, 403, 406, 413, 415]);
  const mended = await post("/pets", good, key);
  assert.deepEqual([mended.status, isReplay(mended)], [201, false]);
});

test("a response 429 is not stored", async () => {
  const { key } = await shop.newAccount("enterprise", { perMinute: 1, perDay: 1_000 });
  await shop.ask("GET", "/account", { key });
  const idempotencyKey = newKey();
  assert.equal((await post("/categories", { name: "A" }, idempotencyKey, key)).status, 429);
  now += 60_000;
  const passed = await post("/categories", { name: "A" }, idempotencyKey, key);
  assert.deepEqual([passed.status, isReplay(passed)], [201, false]);
});

test("a response is stored for 24 hours, and no longer", async () => {
  const key = newKey();
  const first = await post("/pets", { name: "Day", categoryId }, key);
  now += dayMs - 1;
  assert.equal((await post("/pets", { name: "Day", categoryId }, key)).body.id, first.body.id);
  now += 1;
  const later = await post("/pets", { name: "Another", categoryId }, key);
  assert.deepEqual([later.status, isReplay(later)], [201, false]);
  assert.equal((await post("/pets", { name: "Another", categoryId }, key)).body.id, later.body.id);
});

test("no response expires early when the clock is set 26 hours forward or back, and back again", async (t) => {
  const time = { set: now, passed: 0 };
  const service = await startService({ clock: () => time.set, timer: () => time.passed });
  t.after(() => service.close());
  const order = (key: string) =>
    service.ask<{ id: number }>("POST", "/store/orders", { body: { quantity: 2 }, headers: { "idempotency-key": key } });
  const ids = new Map<string, number>();
  for (const [at, set] of [0, 26, 0, -26, 0].entries()) {
    time.set = now + set * hourMs;
    const key = `made at step ${at}`;
    ids.set(key, (await order(key)).body.id);
    for (const [earlier, id] of ids) assert.equal((await order(earlier)).body.id, id, `${earlier}, asked for at step ${at}`);
  }
  time.passed += 50 * hourMs;
  time.set += 50 * hourMs;
  for (const [earlier, id] of ids) assert.notEqual((await order(earlier)).body.id, id, earlier);
});

test("responses older than 24 hours are deleted, however many there are, and younger ones stay", async () => {
  const answer = { bodyHash: "", status: 204, headers: {}, body: null };
  const slot = (key: string) => ({ accountId: shop.accountId, target: "POST /v1/pets", key });
  await shop.db.write(async (tx) => {
    for (let i = 0; i < 2_500; i++) await keepAnswer(tx, slot(`old ${i}`), answer, now - dayMs);
    await keepAnswer(tx, slot("young"), answer, now - dayMs + 1);
  });
  await forgetOldAnswers(shop.db, { earliest: now, latest: now });
  const left = await shop.db.query<{ key: string }>(sql`SELECT key FROM idempotency WHERE target = 'POST /v1/pets' AND status = 204`);
  assert.deepEqual(
    left.map(({ key }) => key),
    ["young"],
  );
});

test("a key belongs to its account, method and path", async () => {
  const key = newKey();
  const category = await post<{ id: number }>("/categories", { name: "Mine" }, key);
  const pet = await post("/pets", { name: "Mine", categoryId }, key);
  assert.deepEqual([category.status, pet.status, isReplay(pet)], [201, 201, false]);
  const other = await shop.newAccount();
  const theirs = await post<{ id: number }>("/categories", { name: "Mine" }, key, other.key);
  assert.deepEqual([theirs.status, isReplay(theirs)], [201, false]);
  assert.notEqual(theirs.body.id, category.body.id);
  const put = await shop.ask("PATCH", `/pets/${pet.body.id}`, { body: { name: "Not kept" }, headers: { "idempotency-key": key } });
  assert.deepEqual([put.status, isReplay(put)], [200, false]);
});

test("another API key of the account replays too: responses are stored for the account", async () => {
  const { key: second } = await shop.administration["keys.create"]({ account: shop.accountId });
  const idempotencyKey = newKey();
  const first = await post("/pets", { name: "Shared", categoryId }, idempotencyKey);
  const again = await post("/pets", { name: "Shared", categoryId }, idempotencyKey, second);
  assert.deepEqual([again.body, isReplay(again)], [first.body, true]);
});

test("a key of other than 1 to 255 printable characters returns 400", async () => {
  for (const key of ["", "x".repeat(256), "caf\u00e9", "a\tb"]) {
    const { status, body } = await post("/pets", { name: "A", categoryId }, key);
    assert.deepEqual([status, body.code], [400, "invalid_request"], JSON.stringify(key));
  }
  assert.equal((await post("/pets", { name: "A", categoryId }, "x".repeat(255))).status, 201);
});

test("stored responses survive a restart", async (t) => {
  const dataDir = temporaryFolder(t);
  const earlier = await startService({ dataDir });
  const headers = { "idempotency-key": "restart" };
  const first = await earlier.ask("POST", "/categories", { body: { name: "A" }, headers });
  await earlier.close();
  const next = await startService({ dataDir });
  const again = await next.ask("POST", "/categories", { key: earlier.key, body: { name: "A" }, headers });
  await next.close();
  assert.deepEqual([again.status, again.body, isReplay(again)], [201, first.body, true]);
});

test("a request whose client goes before its write has its turn does nothing, and its key stays free; the same over MCP", async (t) => {
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  const connections = promisify(shop.app.server.getConnections.bind(shop.app.server));
  const all = shop.db.load().pool?.connectionsMax ?? 1;
  const begun = Array.from({ length: all }, () => shop.db.write(() => held.promise));
  await until(() => shop.db.load().writes >= all);
  const key = newKey();
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "createCategory", arguments: { name: "Gone too" } } };
  const [earlier, requests] = [await connections(), [] as RawConnection[]];
  for (const [path, asked, extra] of [
    ["/v1/categories", { name: "Gone" }, `Idempotency-Key: ${key}\r\n`],
    ["/mcp", call, ""],
  ] as const) {
    const raw = await openRaw(shop.address);
    const body = JSON.stringify(asked);
    const head = `Host: localhost\r\nAuthorization: Bearer ${shop.key}\r\n${extra}Content-Type: application/json\r\nContent-Length: ${body.length}`;
    await raw.write(`POST ${path} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
    requests.push(raw);
  }
  await until(() => shop.db.load().writes >= all + requests.length);
  for (const raw of requests) raw.close();
  await until(async () => (await connections()) <= earlier);
  held.resolve();
  await Promise.all(begun);
  await until(() => shop.db.load().writes === 0);
  const { status, headers } = await post("/categories", { name: "Gone" }, key);
  assert.deepEqual([status, headers.has("idempotent-replayed")], [201, false]);
  const { body: categories } = await shop.ask<{ name: string }[]>("GET", "/categories");
  assert.equal(categories.filter(({ name }) => name.startsWith("Gone")).length, 1);
});
