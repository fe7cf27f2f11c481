import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { exampleOf, operationsIn, type Document } from "./support/description.ts";
import type { Failure } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";
import { fillWithExamples } from "./support/shop.ts";

const operations = operationsIn(JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as Document);
const hourMs = 3_600_000;
let now = Date.UTC(2027, 0, 1);
let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => now, env: { TRUSTED_PROXIES: "127.0.0.1" } });
  await fillWithExamples(shop);
});
after(() => shop.close());

type Terms = { scopes?: string[]; expires?: string; publishable?: boolean; origins?: string[]; name?: string };
const newKey = (terms: Terms = {}, account = shop.accountId) => shop.administration["keys.create"]({ account, ...terms });
const statusWith = async (key: string, path = "/pets") => (await shop.ask("GET", path, { key })).status;

/** The scope that each operation needs. */
const scopes: Record<string, string> = {
  listPets: "catalogue:read",
  createPet: "catalogue:write",
  createPetsBatch: "catalogue:write",
  getPet: "catalogue:read",
  replacePet: "catalogue:write",
  updatePet: "catalogue:write",
  deletePet: "catalogue:write",
  getProfile: "catalogue:read",
  replaceProfile: "catalogue:write",
  updateProfile: "catalogue:write",
  deleteProfile: "catalogue:write",
  addPhoto: "catalogue:write",
  deletePhoto: "catalogue:write",
  listCategories: "catalogue:read",
  createCategory: "catalogue:write",
  getCategory: "catalogue:read",
  replaceCategory: "catalogue:write",
  updateCategory: "catalogue:write",
  deleteCategory: "catalogue:write",
  listOrders: "orders:read",
  createOrder: "orders:write",
  getOrder: "orders:read",
  replaceOrder: "orders:write",
  updateOrder: "orders:write",
  deleteOrder: "orders:write",
  getContact: "contacts:read",
  replaceContact: "contacts:write",
  deleteContact: "contacts:write",
  listReservations: "orders:read",
  getReservation: "orders:read",
  updateReservation: "orders:write",
  listEvents: "events:read",
  streamEvents: "events:read",
  getEventsCheckpoint: "events:read",
  listInventory: "inventory:read",
  getInventoryItem: "inventory:read",
  replaceInventoryItem: "inventory:write",
  deleteInventoryItem: "inventory:write",
  adjustInventoryItem: "inventory:write",
  listImports: "catalogue:read",
  createImport: "catalogue:write",
  getImport: "catalogue:read",
  importRows: "catalogue:write",
  undoImport: "catalogue:write",
  getAccount: "account:read",
  getUsage: "account:read",
  listKeys: "keys:read",
  createKey: "keys:write",
  rotateKey: "keys:write",
  revokeKey: "keys:write",
  listProjects: "publishing:read",
  createProject: "publishing:write",
  getProject: "publishing:read",
  updateProject: "publishing:write",
  deleteProject: "publishing:write",
  listDeployments: "publishing:read",
  createDeployment: "publishing:write",
  getDeployment: "publishing:read",
  promoteDeployment: "publishing:write",
  listDomains: "publishing:read",
  addDomain: "publishing:write",
  getDomain: "publishing:read",
  updateDomain: "publishing:write",
  removeDomain: "publishing:write",
  verifyDomain: "publishing:write",
  listWebhooks: "webhooks:read",
  createWebhook: "webhooks:write",
  getWebhook: "webhooks:read",
  updateWebhook: "webhooks:write",
  deleteWebhook: "webhooks:write",
  rotateWebhookSecret: "webhooks:write",
  replayWebhook: "webhooks:write",
  testWebhook: "webhooks:write",
  listWebhookDeliveries: "webhooks:read",
  getWebhookDelivery: "webhooks:read",
  resendWebhookDelivery: "webhooks:write",
};
/** Changes of an endpoint also need the scope to read events, because the endpoint receives them. */
const alsoNeedEvents = new Set([
  "createWebhook",
  "updateWebhook",
  "rotateWebhookSecret",
  "replayWebhook",
  "getWebhookDelivery",
  "resendWebhookDelivery",
]);
/** Imports make and change stock too. */
const alsoNeedStock = new Set(["createImport", "importRows", "undoImport"]);
const all = [...new Set(Object.values(scopes))];

test("a key is sent as a bearer token, whatever the case of `Bearer`, or as X-API-Key", async () => {
  const headers: Record<string, string>[] = [
    { authorization: `Bearer ${shop.key}` },
    { authorization: `bearer  ${shop.key} ` },
    { "X-API-Key": shop.key },
  ];
  for (const one of headers) assert.equal((await shop.ask("GET", "/pets", { key: "", headers: one })).status, 200);
});

test("a missing or invalid key returns 401 with WWW-Authenticate", async () => {
  const { key } = await newKey();
  const mistyped = key.slice(0, -1) + (key.endsWith("a") ? "b" : "a");
  const bad = ["", mistyped, key.slice(1), `${key}x`, key.toUpperCase(), "psk_", "x", key.replace("psk_", "psp_")];
  for (const one of bad) {
    for (const [name, value] of [
      ["authorization", `Bearer ${one}`],
      ["x-api-key", one],
    ] as const) {
      const reply = await shop.ask<Failure>("GET", "/pets", { key: "", headers: { [name]: value, "x-forwarded-for": "192.0.2.1" } });
      assert.deepEqual([reply.status, reply.body.code], [401, "unauthorized"], one);
      assert.equal(reply.headers.get("www-authenticate"), 'Bearer realm="petstore"');
    }
  }
  for (const [authorization, oddity] of [
    [`Basic ${key}`, /another scheme/],
    [key, /without a scheme/],
    ["Bearer", /no key/],
    [`Token ${key}`, /another scheme/],
    [`Bearer\t${key}`, /a tab/],
    [`Bearer: ${key}`, /a colon/],
    [`Bearer "${key}"`, /quotation marks/],
    [`Bearer ${key}\u00ad`, /invisible/],
  ] as const) {
    const { status, body } = await shop.ask<Failure>("GET", "/pets", { key: "", headers: { authorization } });
    assert.equal(status, 401, authorization);
    assert.match(body.message, oddity);
    assert.ok(!body.message.includes(key.slice(4)));
  }
});

test("each operation needs one scope: without it the operation returns 403, with it alone never", async () => {
  for (const operation of operations) {
    const scope = scopes[operation.operationId];
    assert.ok(scope !== undefined, `${operation.operationId} has no scope in this table`);
    const { path, body, contentType } = exampleOf(operation);
    const send = (key: string) =>
      shop.ask<Failure>(operation.method, path, { key, body, ...(contentType && { headers: { "content-type": contentType } }) });
    const others = await newKey({ scopes: all.filter((one) => one !== scope) });
    const refused = await send(others.key);
    assert.deepEqual([refused.status, refused.body.code], [403, "forbidden"], operation.operationId);
    assert.match(refused.body.message, new RegExp(scope));
    const needed = [
      scope,
      ...(alsoNeedStock.has(operation.operationId)
        ? ["inventory:write"]
        : alsoNeedEvents.has(operation.operationId)
          ? ["events:read"]
          : []),
    ];
    assert.deepEqual(operation["x-scopes"], needed, operation.operationId);
    const own = await newKey({ scopes: [...needed, ...(operation.tags.includes("Keys") ? ["catalogue:read"] : [])] });
    assert.notEqual((await send(own.key)).status, 403, operation.operationId);
  }
});

test("a key that is created without scopes has all but those of contacts and those that manage keys", async () => {
  const { scopes: given } = await newKey();
  assert.deepEqual(given.toSorted(), all.filter((scope) => !/^(keys|contacts):/.test(scope)).toSorted());
});

test("a key is refused from the moment of its expiry", async () => {
  const { key } = await newKey({ expires: new Date(now + hourMs).toISOString() });
  assert.equal(await statusWith(key), 200);
  now += hourMs - 1;
  assert.equal(await statusWith(key), 200);
  now += 1;
  assert.equal(await statusWith(key), 401);
});

test("a publishable key starts with psp_ and reads only the catalogue and the inventory", async () => {
  const { key, scopes: given } = await newKey({ publishable: true });
  assert.match(key, /^psp_[0-9A-Za-z]{36}$/);
  assert.deepEqual(given, ["catalogue:read", "inventory:read"]);
  assert.deepEqual([await statusWith(key), await statusWith(key, "/store/inventory")], [200, 200]);
  assert.deepEqual([await statusWith(key, "/store/orders"), await statusWith(key, "/account")], [403, 403]);
  assert.equal((await shop.ask("POST", "/categories", { key, body: { name: "A" } })).status, 403);
  assert.deepEqual([await statusWith(key, "/imports"), await statusWith(key, "/imports/1")], [403, 403], "names of files and people");
  await assert.rejects(newKey({ publishable: true, scopes: ["orders:read"] }), { code: "invalid_request" });
});

test("a key bound to origins is refused from every other origin, and works for requests without an Origin", async () => {
  const { id, key: secret } = await shop.newAccount();
  const { id: keyId, key } = await newKey({ publishable: true, origins: ["https://Shop.example", "http://localhost:3000"] }, id);
  const statusFrom = async (origin: string | undefined, path = "/pets", sent = key) => {
    const { status, body, headers } = await shop.ask<Partial<Failure>>("GET", path, { key: sent, headers: origin ? { origin } : {} });
    assert.ok(headers.has("x-ratelimit-remaining"));
    assert.equal(headers.get("access-control-allow-origin"), "*");
    return body.code ?? status;
  };
  for (const origin of ["https://shop.example", "http://localhost:3000", undefined])
    assert.equal(await statusFrom(origin), 200, origin ?? "no origin");
  const others = ["https://other.example", "http://shop.example", "https://shop.example:8443", "https://a.shop.example", "null"];
  for (const origin of others) assert.equal(await statusFrom(origin), "forbidden", origin);
  assert.equal(await statusFrom("https://other.example", "/nothing"), "not_found", "the route comes first");
  assert.equal(await statusFrom("https://other.example", "/pets", secret), 200);
  const preflight = { origin: "https://other.example", "access-control-request-method": "GET" };
  assert.equal((await shop.ask("OPTIONS", "/pets", { key: "", headers: preflight })).status, 204);

  const { key: next } = await shop.administration["keys.rotate"]({ id: keyId });
  assert.deepEqual(
    [await statusFrom("https://other.example", "/pets", next), await statusFrom(undefined, "/pets", next)],
    ["forbidden", 200],
  );
});

test("Authorization takes precedence over X-API-Key, and two different keys return a 400 that counts on the key in Authorization", async () => {
  const [one, other] = [await shop.newAccount("free"), await shop.newAccount("free")];
  const send = async (bearer: string | undefined, apiKey: string) => {
    const headers = { "x-api-key": apiKey, ...(bearer !== undefined && { authorization: bearer }) };
    const { status, headers: answered } = await shop.ask("GET", "/pets", { key: "", headers });
    return [status, Number(answered.get("x-ratelimit-remaining"))];
  };
  assert.deepEqual(await send(undefined, one.key), [200, 59]);
  assert.deepEqual(await send("Basic c2hvcDpzaG9w", one.key), [200, 58]);
  assert.deepEqual(await send(`Bearer ${one.key}`, one.key), [200, 57]);
  assert.deepEqual(await send(`Bearer ${one.key}`, other.key), [400, 56]);
  assert.deepEqual(await send(`Bearer ${one.key}`, ""), [400, 55]);
  assert.equal((await send("Bearer psk_mistyped", one.key))[0], 401);
  assert.deepEqual(await send(undefined, other.key), [200, 59], "nothing else was counted there");
});

/** Sends requests from one address, and counts the statuses of the answers. */
async function visit(key: string, address: string, times: number): Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  for (let i = 0; i < times; i++) {
    const { status, body } = await shop.ask<Partial<Failure>>("GET", "/categories", { key, headers: { "x-forwarded-for": address } });
    const verdict = body.code ?? String(status);
    seen[verdict] = (seen[verdict] ?? 0) + 1;
  }
  return seen;
}

test("with a publishable key each caller's address has 60 requests a minute, and strikes count on the address", async () => {
  const { id, key: secret } = await shop.newAccount("business");
  const { key } = await newKey({ publishable: true }, id);
  assert.deepEqual(await visit(key, "198.51.100.1", 61), { 200: 60, rate_limit_exceeded: 1 });
  assert.deepEqual(await visit(key, "198.51.100.2", 2), { 200: 2 });
  const more = await visit(key, "198.51.100.1", 250);
  assert.ok((more["key_banned"] ?? 0) > 0);
  assert.deepEqual(await visit(key, "198.51.100.2", 2), { 200: 2 });
  assert.equal(await statusWith(secret), 200);
});

test("publishable keys together take at most half of the account's day, and never cause a ban of a secret key", async () => {
  const { id, key: secret } = await shop.newAccount("enterprise", { perMinute: 1_000, perDay: 150 });
  const { key } = await newKey({ publishable: true }, id);
  let passed = 0;
  for (const address of ["198.51.100.21", "198.51.100.22", "198.51.100.23"]) passed += (await visit(key, address, 40))["200"] ?? 0;
  assert.equal(passed, 75);
  assert.deepEqual(await visit(secret, "198.51.100.24", 75), { 200: 75 });
  assert.deepEqual(await visit(secret, "198.51.100.24", 75), { rate_limit_exceeded: 75 });
  const refusal = await shop.ask("GET", "/categories", { key: secret });
  assert.equal(refusal.headers.get("x-ratelimit-strikes-remaining"), "199", "only now were the account's own requests too many");
});

test("publishable keys together take at most half of the account's minute", async () => {
  const { id, key: secret } = await shop.newAccount("pro");
  const [one, two] = [await newKey({ publishable: true }, id), await newKey({ publishable: true }, id)];
  let passed = 0;
  for (const address of ["198.51.100.11", "198.51.100.12", "198.51.100.13", "198.51.100.14"]) {
    for (const { key } of [one, two]) passed += (await visit(key, address, 30))["200"] ?? 0;
  }
  assert.equal(passed, 150);
  assert.equal(await statusWith(secret), 200);
});
