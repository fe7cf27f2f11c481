import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Failure } from "./support/models.ts";
import { startService, type Asked, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";

const now = Date.UTC(2030, 0, 1);
let shop: TestService;
/** A key that may only read orders. */
let narrow: string;
before(async () => {
  shop = await startService({ clock: () => now, env: { GET_PET_SUNSET: "2029-12-31T00:00:00Z", TRUSTED_PROXIES: "127.0.0.1" } });
  const { id } = await newCategory(shop, "Dogs");
  await newPet(shop, id, { name: "Rex", status: "sold" });
  await newCategory(shop, "Cats");
  ({ key: narrow } = await shop.administration["keys.create"]({ account: shop.accountId, scopes: ["orders:read"] }));
  for (let i = 0; i < 60; i++) await shop.ask("GET", "/pets", { key: "", headers: { "x-forwarded-for": "192.0.2.66" } });
});
after(() => shop.close());

const tooLarge = " ".repeat(1_048_577);
const html = { accept: "text/html" };
const plain = { "content-type": "text/plain" };

/** Requests that deserve several refusals, the first of which they must get. */
const cases: [string, string, Asked, number, string][] = [
  ["429 of the address before 401", "GET /nothing", { key: "", headers: { "x-forwarded-for": "192.0.2.66" } }, 429, "rate_limit_exceeded"],
  ["401 before the route's 404", "GET /nothing", { key: "" }, 401, "unauthorized"],
  ["401 before the route's 405", "PATCH /pets", { key: "" }, 401, "unauthorized"],
  ["401 before 410", "GET /pets/1", { key: "" }, 401, "unauthorized"],
  ["401 before 413", "POST /pets", { key: "", body: tooLarge }, 401, "unauthorized"],
  ["the route's 404 before 403 and 406", "GET /nothing", { headers: html }, 404, "not_found"],
  ["405 before 406 and 415", "PUT /pets", { headers: { ...html, ...plain }, body: "{}" }, 405, "method_not_allowed"],
  [
    "404 and 405 before a content type that is none",
    "PUT /pets",
    { headers: { "content-type": "json" }, body: "{}" },
    405,
    "method_not_allowed",
  ],
  [
    "406 before a content type that is none",
    "POST /pets",
    { headers: { ...html, "content-type": "json" }, body: "{}" },
    406,
    "not_acceptable",
  ],
  ["405 before 413", "PUT /pets", { body: tooLarge }, 405, "method_not_allowed"],
  ["410 before 403 and 406", "GET /pets/1", { headers: html }, 410, "operation_sunset"],
  ["410 before 400", "GET /pets/01?x=1", {}, 410, "operation_sunset"],
  ["410 before 404 of the id", "GET /pets/999", {}, 410, "operation_sunset"],
  ["406 before 413", "POST /pets", { headers: html, body: tooLarge }, 406, "not_acceptable"],
  ["406 before 415 and 400", "POST /pets?x=1", { headers: { ...html, ...plain }, body: "{" }, 406, "not_acceptable"],
  ["413 before 415", "POST /pets", { headers: plain, body: tooLarge }, 413, "payload_too_large"],
  ["413 before 400", "PUT /categories/01?x=1", { body: tooLarge }, 413, "payload_too_large"],
  [
    "415 before 400 of the path, the query and the body",
    "PUT /categories/01?x=1",
    { headers: plain, body: "{" },
    415,
    "unsupported_media_type",
  ],
  ["404 and 405 before two keys", "GET /nothing", { headers: { "x-api-key": "other" } }, 404, "not_found"],
  ["415 before two keys", "POST /pets", { headers: { ...plain, "x-api-key": "other" }, body: "{}" }, 415, "unsupported_media_type"],
  ["400 of two keys before 404 of the id", "GET /categories/999", { headers: { "x-api-key": "other" } }, 400, "invalid_request"],
  ["400 before idempotency", "POST /pets", { headers: { "idempotency-key": "used" }, body: { name: "" } }, 400, "invalid_request"],
  ["400 of the path before 404", "PUT /categories/01", { body: { name: "A" } }, 400, "invalid_request"],
  ["400 of the query before 404", "GET /categories/999?x=1", {}, 400, "invalid_request"],
  ["400 of the body before 404 of the id", "PUT /categories/999", { body: {} }, 400, "invalid_request"],
  ["400 of the id in a body before 404", "PUT /store/orders/999", { body: { id: 1 } }, 400, "invalid_request"],
  ["404 of the id before 412", "PUT /categories/999", { headers: { "if-match": '"x"' }, body: { name: "A" } }, 404, "not_found"],
  ["400 of a value before 404 of the id", "PUT /pets/999/profile", { body: { facts: { born: "2023-02-30" } } }, 400, "invalid_request"],
  ["404 of the id before 422", "PUT /pets/999", { body: { name: "A", categoryId: 999 } }, 404, "not_found"],
  ["404 of the id before 409", "PUT /categories/999", { body: { name: "Cats" } }, 404, "not_found"],
  ["412 before 422", "PUT /pets/1", { headers: { "if-match": '"x"' }, body: { name: "A", categoryId: 999 } }, 412, "precondition_failed"],
  ["412 before 409", "PUT /categories/1", { headers: { "if-match": '"x"' }, body: { name: "Cats" } }, 412, "precondition_failed"],
  ["412 before 409 of a DELETE", "DELETE /categories/1", { headers: { "if-match": '"x"' } }, 412, "precondition_failed"],
];

for (const [title, line, asked, status, code] of cases) {
  test(`when several refusals apply: ${title}`, async () => {
    const [method = "", path = ""] = line.split(" ");
    const reply = await shop.ask<Failure>(method, path, asked);
    assert.deepEqual([reply.status, reply.body.code], [status, code], reply.body.message);
  });
}

test("when several refusals apply: 403 before 406, 413, 415 and 400", async () => {
  const asked = { key: narrow, headers: { ...html, ...plain }, body: tooLarge };
  const reply = await shop.ask<Failure>("POST", "/pets/batch?x=1", asked);
  assert.deepEqual([reply.status, reply.body.code], [403, "forbidden"]);
});

test("when several refusals apply: 410 before 403", async () => {
  const reply = await shop.ask<Failure>("GET", "/pets/1", { key: narrow });
  assert.deepEqual([reply.status, reply.body.code], [410, "operation_sunset"]);
});

test("when several refusals apply: idempotency before 404 of the id, and 422 before 409", async () => {
  const headers = { "idempotency-key": "adjust" };
  await shop.ask("POST", "/store/inventory/999/adjustments", { headers, body: { delta: 1 } });
  const reused = await shop.ask<Failure>("POST", "/store/inventory/999/adjustments", { headers, body: { delta: 2 } });
  assert.deepEqual([reused.status, reused.body.code], [422, "idempotency_key_reused"]);

  const { body: order } = await shop.ask<{ id: number }>("POST", "/store/orders", { body: { complete: true } });
  const changed = await shop.ask<Failure>("PUT", `/store/orders/${order.id}`, { body: { petId: 999 } });
  assert.deepEqual([changed.status, changed.body.code], [422, "unknown_reference"]);
});

test("the storage limit's 403 comes after 400, idempotency, 404, 412, 422 and the other 409s", async () => {
  const { id, key } = await shop.newAccount("enterprise");
  const { id: categoryId } = await newCategory(shop, "Dogs", key);
  const { id: petId } = await newPet(shop, categoryId, { status: "sold" }, key);
  await shop.ask("POST", "/categories", { key, headers: { "idempotency-key": "used" }, body: { name: "Cats" } });
  await shop.administration["accounts.setPlan"]({ id, plan: "enterprise", records: 0 });
  const full: [string, string, Asked, number, string][] = [
    ["POST", "/categories", { body: { name: "" } }, 400, "invalid_request"],
    ["POST", "/categories", { headers: { "idempotency-key": "used" }, body: { name: "Birds" } }, 422, "idempotency_key_reused"],
    ["PUT", "/store/inventory/999", { body: { quantity: 1 } }, 404, "not_found"],
    ["PUT", `/store/inventory/${petId}`, { headers: { "if-match": '"x"' }, body: { quantity: 1 } }, 412, "precondition_failed"],
    ["POST", "/pets", { body: { name: "Rex", categoryId: 999_999 } }, 422, "unknown_reference"],
    ["POST", "/pets/batch", { body: [{ name: "Rex", categoryId: 999_999 }] }, 422, "unknown_reference"],
    ["POST", "/store/orders", { body: { petId: 999_999 } }, 422, "unknown_reference"],
    ["POST", "/store/orders", { body: { petId } }, 409, "pet_not_available"],
    ["POST", "/categories", { body: { name: "Dogs" } }, 409, "category_exists"],
    ["POST", "/categories", { body: { name: "Birds" } }, 403, "storage_limit_reached"],
  ];
  for (const [method, path, asked, status, code] of full) {
    const reply = await shop.ask<Failure>(method, path, { ...asked, key });
    assert.deepEqual([reply.status, reply.body.code], [status, code], `${method} ${path}`);
  }
});

test("when several refusals apply: key_banned and rate_limit_exceeded before all that concerns the route", async () => {
  const { key } = await shop.newAccount("free");
  const send = () => shop.ask<Failure>("PUT", "/nothing", { key, headers: html });
  for (let i = 0; i < 60; i++) assert.equal((await send()).status, 404);
  for (let i = 0; i < 20; i++) assert.equal((await send()).body.code, "rate_limit_exceeded");
  assert.equal((await send()).body.code, "key_banned");
});

test("when several refusals apply: 403 of the plan before 406, 413, 415, 400 and 404", async () => {
  const { key } = await shop.newAccount("free");
  const asked: Asked[] = [
    { body: {} },
    { body: { hostname: "*.example.com" } },
    { body: "{" },
    { headers: { ...html, ...plain }, body: tooLarge },
    { body: { hostname: "www.example.com" } },
  ];
  for (const one of asked) {
    const reply = await shop.ask<Failure>("POST", "/projects/999/domains", { ...one, key });
    assert.deepEqual([reply.status, reply.body.code], [403, "plan_required"]);
  }
  const verify = await shop.ask<Failure>("POST", "/projects/01/domains/www.example.com/verify", { key });
  assert.deepEqual([verify.status, verify.body.code], [403, "plan_required"]);
});
