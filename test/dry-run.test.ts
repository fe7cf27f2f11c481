import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import sql, { raw } from "sql-template-tag";
import { apiOperations, dashboardOperations } from "../src/app/operations.ts";
import { asksForDryRun, dryRunRefusal } from "../src/platform/http/preferences.ts";
import { allNumbered } from "./support/event-log.ts";
import { runs } from "./support/fault-runs.ts";
import type { Failure, InventoryItem, Order, Pet } from "./support/models.ts";
import { picture } from "./support/pictures.ts";
import { ask, engine, startService, testOnce, type Asked, type Reply, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

type Description = { paths: Record<string, Record<string, { parameters?: unknown[] }>> };

const now = Date.UTC(2027, 0, 1);
let shop: TestService;
let categoryId: number;
before(async () => {
  shop = await startService({ clock: () => now });
  for (const name of ["Dogs", "Cats", "Birds", "Fish"]) await newPet(shop, (await newCategory(shop, name)).id);
  for (const petId of [1, 2]) await made(shop, "PUT", `/store/inventory/${petId}`, { quantity: 5 });
  for (const petId of [1, 2, 3]) await made(shop, "POST", "/store/orders", { petId });
  ({ id: categoryId } = await newCategory(shop, "Kept"));
});
after(() => shop.close());

const dry = { prefer: "dry-run" };
const applied = ({ headers }: Reply): string | null => headers.get("preference-applied");
const tryOut = <T = Failure>(method: string, path: string, asked: Asked = {}): Promise<Reply<T>> =>
  shop.ask<T>(method, path, { ...asked, headers: { ...dry, ...asked.headers } });

/** Tables that change without a change of the shop: counts of requests, and leases. */
const ofRequests = new Set(["nodes", "node_beats", "usage", "request_log", "changes", "event_numbering"]);

/** Every row of the database, as texts; on SQLite the last identifiers that were given too. */
async function everyRow(): Promise<Record<string, string[]>> {
  const { db } = shop;
  await allNumbered(db);
  const catalogue = engine === "sqlite" ? "sqlite_schema WHERE type = 'table'" : "pg_tables WHERE schemaname = current_schema()";
  const tables = await db.query<{ name: string }>(
    sql`SELECT ${raw(engine === "sqlite" ? "name" : "tablename AS name")} FROM ${raw(catalogue)}`,
  );
  const rows: Record<string, string[]> = {};
  for (const { name } of tables) {
    if (ofRequests.has(name)) continue;
    const found = await db.query(sql`SELECT * FROM ${raw(name)}`);
    rows[name] = found.map((row) => JSON.stringify({ ...row, last_used_at: null })).toSorted();
  }
  return rows;
}

/** An answer, without the identifier of what was created, which PostgreSQL gives only once, and without the digest of what has it. */
function answerOf({ status, body, headers }: Reply): unknown {
  const given = engine === "postgres" && status === 201;
  const shown = JSON.stringify(body, (name, value: unknown) => (given && (name === "id" || name === "petId") ? "given" : value));
  const etag = headers.get("etag");
  return [status, shown, given ? etag?.replace(/-.*/, "") : etag, given ? null : headers.get("location")];
}

const small = fc.integer({ min: 1, max: 4 });
const few = fc.integer({ min: 0, max: 3 });
const status = fc.constantFrom("available", "pending", "sold");
const name = fc.constantFrom("Rex", "Luna", "Dogs", "Cats");
type Step = [method: string, path: string, body?: unknown];
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ name, categoryId: small }).map((body): Step => ["POST", "/pets", body]),
  fc
    .array(fc.record({ name, categoryId: small, status }), { minLength: 1, maxLength: 3 })
    .map((body): Step => ["POST", "/pets/batch", body]),
  fc.tuple(small, small, status).map(([id, category, to]): Step => ["PUT", `/pets/${id}`, { name: "R", categoryId: category, status: to }]),
  fc.tuple(small, status).map(([id, to]): Step => ["PATCH", `/pets/${id}`, { status: to }]),
  small.map((id): Step => ["DELETE", `/pets/${id}`]),
  name.map((text): Step => ["POST", "/categories", { name: text }]),
  fc.tuple(small, name).map(([id, text]): Step => ["PUT", `/categories/${id}`, { name: text }]),
  fc.tuple(small, name).map(([id, text]): Step => ["PATCH", `/categories/${id}`, { description: text }]),
  small.map((id): Step => ["DELETE", `/categories/${id}`]),
  fc
    .tuple(small, few, fc.boolean())
    .map(([petId, more, complete]): Step => ["POST", "/store/orders", { petId, quantity: more + 1, complete }]),
  fc.tuple(small, small, few).map(([id, petId, more]): Step => ["PUT", `/store/orders/${id}`, { petId, quantity: more + 1 }]),
  fc.tuple(small, fc.boolean()).map(([id, complete]): Step => ["PATCH", `/store/orders/${id}`, { complete }]),
  small.map((id): Step => ["DELETE", `/store/orders/${id}`]),
  fc.tuple(small, few).map(([id, quantity]): Step => ["PUT", `/store/inventory/${id}`, { quantity }]),
  small.map((id): Step => ["DELETE", `/store/inventory/${id}`]),
  fc.tuple(small, fc.integer({ min: -3, max: 3 })).map(([id, delta]): Step => ["POST", `/store/inventory/${id}/adjustments`, { delta }]),
);

test("any sequence of dry runs changes no row, and each answers what the change itself then answers", async () => {
  const sequences = fc.array(step, { minLength: 1, maxLength: 8 });
  const property = fc.asyncProperty(sequences, async (steps) => {
    const rows = await everyRow();
    for (const [method, path, body] of steps) assert.equal(applied(await tryOut(method, path, { body })), "dry-run", `${method} ${path}`);
    assert.deepEqual(await everyRow(), rows);
    for (const [method, path, body] of steps) {
      const unchanged = await everyRow();
      const tried = await tryOut(method, path, { body });
      assert.deepEqual(await everyRow(), unchanged);
      const done = await shop.ask(method, path, { body });
      assert.deepEqual([answerOf(tried), applied(done)], [answerOf(done), null], `${method} ${path} ${JSON.stringify(body)}`);
    }
  });
  await fc.assert(property, { numRuns: runs(engine === "sqlite" ? 12 : 6, 60) });
});

testOnce("every operation that changes pets, categories, orders or inventory has a dry run, and says so in the description", async () => {
  const changing = apiOperations.filter(({ scope, write }) => write && /^(catalogue|orders|inventory):/.test(scope ?? ""));
  assert.ok(changing.length >= 16);
  for (const { operationId, dryRun } of changing) assert.ok(dryRun, operationId);
  const { paths } = (await ask<Description>(`${shop.address}/openapi.json`, "GET")).body;
  for (const { path, method, operationId, dryRun } of apiOperations) {
    const { parameters } = paths[path]?.[method.toLowerCase()] ?? assert.fail(operationId);
    assert.equal(JSON.stringify(parameters).includes('"#/components/parameters/Prefer"'), dryRun ?? false, operationId);
  }
});

test("a dry run of a photo answers what the photo then gets, and keeps neither a row nor the encoded picture", async () => {
  const { id: petId } = await newPet(shop, categoryId, { name: "Shown" });
  const path = `/pets/${petId}/profile/photos`;
  const photo = await picture("teal");
  const asked = (headers: Record<string, string> = {}, body: Uint8Array = photo): Asked => ({
    body,
    headers: { "content-type": "image/jpeg", ...headers },
  });
  const [rows, files] = [await everyRow(), contentOf(shop)];
  const tried = await tryOut("POST", path, asked());
  const refused = await tryOut("POST", path, asked({}, Buffer.from("no picture")));
  const late = await tryOut("POST", path, asked({ "if-match": '"v9"' }));
  assert.deepEqual(
    [tried, refused, late].map((reply) => [reply.status, applied(reply)]),
    [
      [201, "dry-run"],
      [400, "dry-run"],
      [412, "dry-run"],
    ],
  );
  assert.deepEqual(await everyRow(), rows);
  assert.deepEqual(contentOf(shop), files);
  assert.equal((await shop.ask("GET", `/pets/${petId}/profile`)).status, 404);
  const done = await shop.ask("POST", path, asked());
  assert.deepEqual([answerOf(tried), applied(done)], [answerOf(done), null]);
  assert.notDeepEqual([await everyRow(), contentOf(shop)], [rows, files]);
});

/** The published content in the data folder. On PostgreSQL it is in rows. */
function contentOf({ dataDir }: TestService): string[] {
  const folder = join(dataDir, "content");
  return existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted() : [];
}

test("a dry run among orders takes no units, and leaves as many for the others", async () => {
  const { id: petId } = await newPet(shop, categoryId, { name: "Row" });
  await made(shop, "PUT", `/store/inventory/${petId}`, { quantity: 10 });
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, i) => shop.ask("POST", "/store/orders", { body: { petId }, headers: i % 2 === 0 ? dry : {} })),
  );
  const sold = replies.filter((reply) => applied(reply) === null && reply.status === 201);
  assert.equal(sold.length, 10);
  assert.equal(replies.filter((reply) => applied(reply) !== null).length, 20);
  for (const { status: got } of replies) assert.ok(got === 201 || got === 409, `${got}`);
  assert.equal((await made<InventoryItem>(shop, "GET", `/store/inventory/${petId}`)).quantity, 0);
  assert.equal((await made<Order[]>(shop, "GET", `/store/orders?petId=${petId}&limit=100`)).length, 10);
});

test("a dry run is refused as the change would be: by conditions, references, stock and the storage limit", async () => {
  const { id: petId } = await newPet(shop, categoryId, { name: "Refused" });
  await made(shop, "PUT", `/store/inventory/${petId}`, { quantity: 1 });
  const { id, key } = await shop.newAccount("enterprise");
  await shop.administration["accounts.setPlan"]({ id, plan: "enterprise", records: 0 });
  const cases: [string, string, Asked, number, string][] = [
    ["POST", "/pets", { body: { name: "" } }, 400, "invalid_request"],
    ["POST", "/pets", { body: { name: "A", categoryId: 999_999 } }, 422, "unknown_reference"],
    ["PATCH", `/pets/${petId}`, { body: { name: "A" }, headers: { "if-match": '"x"' } }, 412, "precondition_failed"],
    ["POST", "/store/orders", { body: { petId, quantity: 2 } }, 409, "insufficient_stock"],
    ["DELETE", "/store/orders/999999", {}, 404, "not_found"],
    ["POST", "/categories", { key, body: { name: "Full" } }, 403, "storage_limit_reached"],
  ];
  for (const [method, path, asked, expected, code] of cases) {
    const reply = await tryOut(method, path, asked);
    assert.deepEqual([reply.status, reply.body.code], [expected, code], `${method} ${path}`);
  }
});

test("an Idempotency-Key beside a dry run keeps nothing and replays nothing", async () => {
  const headers = { "idempotency-key": "tried" };
  const tried = await tryOut("POST", "/pets", { body: { name: "Tried", categoryId }, headers });
  const other = await tryOut("POST", "/pets", { body: { name: "Other", categoryId }, headers });
  assert.deepEqual([tried.status, other.status, other.headers.get("idempotent-replayed")], [201, 201, null]);
  const real = await shop.ask<Pet>("POST", "/pets", { body: { name: "Real", categoryId }, headers });
  assert.deepEqual([real.status, real.headers.get("idempotent-replayed"), applied(real)], [201, null, null]);
  const again = await tryOut<Pet>("POST", "/pets", { body: { name: "Again", categoryId }, headers });
  assert.deepEqual([again.status, again.body.name, again.headers.get("idempotent-replayed")], [201, "Again", null]);
  const bad = await tryOut("POST", "/pets", { body: { name: "Bad", categoryId }, headers: { "idempotency-key": "ä".repeat(300) } });
  assert.deepEqual([bad.status, bad.body.code], [400, "invalid_request"]);
});

testOnce("asking for a dry run where there is none is a 400 that changes nothing", async () => {
  const cases: [string, string, unknown?][] = [
    ["GET", "/pets"],
    ["HEAD", "/pets"],
    ["GET", "/account"],
    ["POST", "/projects", { name: "Tried", slug: "tried" }],
    ["DELETE", "/projects/1"],
  ];
  for (const [method, path, body] of cases) {
    const reply = await tryOut(method, path, { body });
    assert.deepEqual([reply.status, applied(reply)], [400, null], `${method} ${path}`);
    if (method === "HEAD") continue;
    assert.deepEqual([reply.body.code, reply.body.details?.[0]?.path], ["invalid_request", "header.Prefer"]);
  }
  assert.deepEqual(await made(shop, "GET", "/projects"), []);
});

testOnce("a refused dry run names where dry runs are, and every change there has one", async () => {
  const { body } = await tryOut("DELETE", "/projects/1");
  assert.equal(
    body.message,
    "This operation has no dry run. Prefer: dry-run is for changes of /pets, /categories, /store/orders, /reservations, /store/inventory, /imports and what is below them.",
  );
  const named = body.message.match(/\/[a-z/]+/g)!;
  const isNamed = (path: string): boolean => named.some((place) => path === place || path.startsWith(`${place}/`));
  const changes = [...apiOperations, ...dashboardOperations].filter(({ method }) => method !== "GET");
  for (const { operationId, path, dryRun } of changes) assert.equal(dryRun === true, isNamed(path), operationId);
});

test("the refusal of a dry run follows from the operations that have one", () => {
  const paths = ["/a/{id}", "/a/b", "/ab/{id}/c"].map((path) => ({ path, dryRun: true as const }));
  assert.match(dryRunRefusal([...paths, { path: "/none" }]), / changes of \/a, \/ab and what is below them\.$/);
});

test("each spelling of the preference counts, a value is a 400, and other preferences are ignored (RFC 7240)", () => {
  const asking = [
    "dry-run",
    "DRY-Run",
    "respond-async, dry-run",
    'dry-run=""',
    "dry-run;x=1",
    " dry-run , dry-run=1",
    'a="b\\"c", dry-run',
  ];
  for (const header of asking) assert.equal(asksForDryRun(header, undefined), true, header);
  for (const header of ['a=", dry-run', "a=b; c=d, dry-run", "=, dry-run"]) assert.equal(asksForDryRun(header, undefined), true, header);
  const others = ["", ",", "return=minimal", 'a="x, dry-run, y"', "respond-async; dry-run", "dry-runs", "wait=10", 'a="\\", dry-run"'];
  for (const header of others) assert.equal(asksForDryRun(header, undefined), false, header);
  for (const header of ["dry-run=1", "dry-run=false", 'dry-run="no"', "a, dry-run = true"]) {
    assert.throws(() => asksForDryRun(header, undefined), { code: "invalid_request" }, header);
  }
  assert.throws(() => asksForDryRun("dry-run", "It has none."), { code: "invalid_request" });
  assert.equal(asksForDryRun(`${"a,".repeat(8_000)}dry-run`, undefined), true);
});

test("a dry run counts as a request", async () => {
  const { key } = await shop.newAccount("free");
  const left = async (headers: Record<string, string>) =>
    Number((await shop.ask("POST", "/categories", { key, headers, body: { name: "Counted" } })).headers.get("x-ratelimit-remaining"));
  assert.equal((await left(dry)) - (await left(dry)), 1);
});
