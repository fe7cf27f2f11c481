import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import fc from "fast-check";
import sql from "sql-template-tag";
import { statusOf, type ProblemCode } from "../src/platform/error-table.ts";
import { bodyChecker, operationsIn, type Document, type Operation } from "./support/description.ts";
import { runs, someOf } from "./support/fault-runs.ts";
import { bytesOf, hostileCursor, hostileRequest, type Known } from "./support/hostile.ts";
import type { Failure } from "./support/models.ts";
import { examplePicture } from "./support/pictures.ts";
import { sendRaw, type RawAnswer } from "./support/raw.ts";
import { engine, startService, type TestService } from "./support/service.ts";
import { addEnquiry, addProfileRows, exampleSite, made, newCategory, newPet } from "./support/shop.ts";
import { until } from "./support/until.ts";

const document = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as Document;
const operations = operationsIn(document);
const check = bodyChecker(document);
/** Requests to each operation in one run. */
const requestsEach = runs(5, 120);
/** On PostgreSQL, where a request takes several times as long, a run searches some operations: only their texts and numbers differ. */
const searched = engine === "postgres" ? someOf(operations, 8) : operations;
/** Requests are so far apart that a caller without a key stays within its address's day. */
const betweenMs = 90_000;
const keptMsMax = 12 * 3_600_000;

let now = Date.UTC(2026, 5, 1);
let service: TestService;
let site: Buffer;
before(async () => {
  service = await startService({ clock: () => now });
  site = Buffer.from(await exampleSite());
});
after(() => service.close());

type Shop = Known & { id: number };

/** A shop with a bit of everything. */
async function openShop(): Promise<Shop> {
  const { id, key } = await service.newAccount();
  const values: Record<string, (number | string)[]> = {};
  const keep = (name: string, value: number | string): void => void (values[name] ??= []).push(value);
  const shop: Shop = { id, key, values, files: { createDeployment: site, addPhoto: examplePicture } };
  for (const name of ["Dogs", "Cats", "Fish"]) keep("categoryId", (await newCategory(service, name, key)).id);
  for (const name of ["Rex", "Luna", "Łódź", "ﷺ", "Tiger"]) {
    const { id: petId } = await newPet(service, Number(values["categoryId"]![0]), { name }, key);
    keep("petId", petId);
    if (name !== "Luna") await made(service, "PUT", `/store/inventory/${petId}`, { quantity: 5 }, key);
    if (name === "Tiger") continue;
    for (const complete of [false, true])
      keep("orderId", (await made<{ id: number }>(service, "POST", "/store/orders", { petId, complete }, key)).id);
  }
  for (let i = 0; i < 2; i++) keep("reservationId", (await addEnquiry(service, id, Number(values["petId"]![0]))).id);
  for (let i = 0; i < 2; i++)
    keep("importId", (await made<{ id: number }>(service, "POST", "/imports", { source: "Register", fileName: "animals.csv" }, key)).id);
  keep("photoId", await addProfileRows(service, id, Number(values["petId"]![0])));
  const webhook = await made<{ id: number }>(service, "POST", "/webhooks", { url: "https://hooks.example.com/", types: ["order.*"] }, key);
  keep("webhookId", webhook.id);
  keep("deliveryId", (await made<{ id: number }>(service, "POST", `/webhooks/${webhook.id}/test`, undefined, key)).id);
  for (let i = 0; i < 2; i++) keep("keyId", (await made<{ id: number }>(service, "POST", "/keys", {}, key)).id);
  for (const slug of [`a${id}`, `b${id}`]) await publish(shop, slug);
  return shop;
}

/** Shops that several operations use, because no request may change them: of a neighbour, and of those that only read. */
const kept = new Map<"neighbour" | "read", { shop: Shop; openedAt: number }>();

/** Opens a kept shop anew before its domain has waited too long for its DNS. */
async function keptShop(use: "neighbour" | "read"): Promise<Shop> {
  const open = kept.get(use);
  if (open !== undefined && now - open.openedAt <= keptMsMax) return open.shop;
  const shop = await openShop();
  kept.set(use, { shop, openedAt: now });
  return shop;
}

/** A project with a deployment and a domain. */
async function publish(shop: Shop, slug: string): Promise<void> {
  const { key } = shop;
  const { id } = await made<{ id: number }>(service, "POST", "/projects", { name: slug, slug }, key);
  const upload = { key, body: site, headers: { "content-type": "application/gzip" } };
  const { body } = await service.ask<{ id: number }>("POST", `/projects/${id}/deployments`, upload);
  await service.publishing.idle();
  const { hostname } = await made<{ hostname: string }>(
    service,
    "POST",
    `/projects/${id}/domains`,
    { hostname: `www.${slug}.example` },
    key,
  );
  for (const [name, value] of Object.entries({ projectId: id, deploymentId: body.id, hostname })) (shop.values[name] ??= []).push(value);
}

/** All records of an account, versions and holds included. */
async function recordsOf({ id }: Pick<Shop, "id">): Promise<unknown> {
  // deployments, domains and undoes that were accepted before change in the background
  await service.publishing.idle();
  const undoing = sql`SELECT 1 FROM imports WHERE account_id = ${id} AND status = 'undoing'`;
  await until(async () => (await service.db.query(undoing)).length === 0);
  const tables = [
    sql`SELECT * FROM categories WHERE account_id = ${id} ORDER BY id`,
    sql`SELECT * FROM pets WHERE account_id = ${id} ORDER BY id`,
    sql`SELECT * FROM profiles WHERE account_id = ${id} ORDER BY pet_id`,
    sql`SELECT * FROM photos WHERE account_id = ${id} ORDER BY id`,
    sql`SELECT * FROM inventory WHERE account_id = ${id} ORDER BY pet_id`,
    sql`SELECT * FROM orders WHERE account_id = ${id} ORDER BY id`,
    // On PostgreSQL an event waits for its position.
    sql`SELECT type, resource FROM events WHERE account_id = ${id}
      UNION ALL SELECT type, resource FROM event_outbox WHERE account_id = ${id} ORDER BY type, resource`,
    sql`SELECT id, url, types, description, ordered, enabled, replays, version FROM webhooks WHERE account_id = ${id} ORDER BY id`,
    sql`SELECT * FROM projects WHERE account_id = ${id} ORDER BY id`,
    sql`SELECT * FROM deployments WHERE account_id = ${id} ORDER BY id`,
    sql`SELECT project_id, hostname, status, is_primary, redirect_to, redirect_status FROM domains WHERE account_id = ${id} ORDER BY id`,
  ];
  return Promise.all(tables.map((query) => service.db.query(query)));
}

/** Checks an answer to any request: a described success, or an Error with a code and status of the specification's table. */
function requireInContract(operation: Operation, { status, headers, body }: RawAnswer): void {
  for (const name of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
    assert.ok(headers[name], `${status} without ${name}`);
  if (body !== "") assert.equal(headers["content-type"], "application/json; charset=utf-8");
  const parsed: unknown = body === "" ? "" : JSON.parse(body);
  if (status < 400) return assert.deepEqual(check(operation, status, parsed), []);

  assert.ok(status < 500, `${status} ${body}`);
  const { code, message, status: told, details, ...rest } = parsed as Failure;
  assert.equal(statusOf(code as ProblemCode), status, body);
  assert.deepEqual([told, typeof message, message.length > 0, rest], [status, "string", true, {}]);
  assert.equal((details ?? []).length > 0, status === 400 || status === 422, body);
  // a random path may belong to no operation or to another one
  if (![404, 405].includes(status)) assert.deepEqual(check(operation, status, parsed), []);
}

for (const operation of searched) {
  test(`${operation.operationId} answers anything by its description, and a refusal changes nothing`, async () => {
    const shop = operation.method === "GET" ? await keptShop("read") : await openShop();
    const other = await keptShop("neighbour");
    const neighbours = await recordsOf(other);
    let records = await recordsOf(shop);
    const property = fc.asyncProperty(hostileRequest(operation, shop), async (request) => {
      now += betweenMs;
      const answer = await sendRaw(service.address, bytesOf(operation.method, request));
      requireInContract(operation, answer);
      const afterwards = await recordsOf(shop);
      if (operation.method === "GET" || answer.status >= 400) assert.deepEqual(afterwards, records, `a ${answer.status} changed something`);
      records = afterwards;
    });
    await fc.assert(property, { numRuns: requestsEach, endOnFailure: true });
    assert.deepEqual(await recordsOf(other), neighbours, "another account's records");
  });
}

const lists = {
  listPets: [
    "/pets?limit=1",
    ...["-id", "name", "-name"].map((sort) => `/pets?limit=1&sort=${sort}`),
    "/pets?limit=1&q=R",
    "/pets?limit=1&q=r&sort=-name",
  ],
  listCategories: ["/categories?limit=1"],
  listOrders: ["/store/orders?limit=1", "/store/orders?limit=1&complete=false", "/store/orders?limit=1&sort=-id"],
  listReservations: ["/reservations?limit=1", "/reservations?limit=1&state=open", "/reservations?limit=1&sort=-id"],
  listInventory: ["/store/inventory?limit=1", "/store/inventory?limit=1&status=available"],
  listImports: ["/imports?limit=1", "/imports?limit=1&sort=-id", "/imports?limit=1&source=Register"],
  listKeys: ["/keys?limit=1"],
};

for (const [operationId, paths] of someOf(Object.entries(lists), engine === "postgres" ? 2 : 1)) {
  test(`${operationId} answers any cursor with a page or a 400`, async () => {
    const shop = await openShop();
    await newPet(service, Number(shop.values["categoryId"]![0]), { name: "Rita" }, shop.key);
    const operation = operations.find((candidate) => candidate.operationId === operationId);
    assert.ok(operation);
    for (const path of paths) {
      const first = await service.ask("GET", path, { key: shop.key });
      const real = /[?&]cursor=([^&>]+)/.exec(first.headers.get("link") ?? "")?.[1];
      assert.ok(real, path);
      const property = fc.asyncProperty(hostileCursor(real), async (cursor) => {
        const target = `${path}&cursor=${encodeURIComponent(cursor.toWellFormed())}`;
        const headers: [string, string][] = [["X-API-Key", shop.key]];
        const answer = await sendRaw(service.address, bytesOf("GET", { target, headers, body: undefined, chunked: false }));
        requireInContract(operation, answer);
        assert.ok([200, 400, 431].includes(answer.status), `${answer.status}`);
      });
      await fc.assert(property, { numRuns: requestsEach, endOnFailure: true });
    }
  });
}
