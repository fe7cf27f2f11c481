import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { descriptionOf } from "../src/app/description.ts";
import { loadSettings } from "../src/app/settings.ts";
import { newMember } from "./support/dashboard.ts";
import { dereferenced, exampleOf, operationsIn, type Document, type Operation } from "./support/description.ts";
import type { Failure, Pet } from "./support/models.ts";
import { startService, type Reply, type TestService } from "./support/service.ts";
import { fillWithExamples, made, newCategory, newPet } from "./support/shop.ts";

type Json = Record<string, unknown>;
type ObjectSchema = { properties: Record<string, Json>; required?: string[] };

const document = JSON.parse(JSON.stringify(descriptionOf(loadSettings({})))) as Document;
const operations = operationsIn(document);
const byMethod = (...methods: string[]) => operations.filter(({ method }) => methods.includes(method));

let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => Date.UTC(2026, 11, 24, 10) });
  await fillWithExamples(shop);
});
after(() => shop.close());

/** The object that an operation takes as its body, or takes several of. */
function bodySchema(operation: Operation): ObjectSchema | undefined {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  if (!schema) return undefined;
  const { items, ...object } = dereferenced(schema, document) as Json;
  return (items ?? object) as ObjectSchema;
}

/** Sends a write that must leave the resource at its path as it is, its ETag included. */
async function leavesAsItIs(method: string, path: string, bodyOf: (resource: Json) => unknown): Promise<void> {
  const earlier = await shop.ask<Json>("GET", path);
  const body = bodyOf(earlier.body);
  const written = await shop.ask<Json>(method, path, { body });
  const later = await shop.ask<Json>("GET", path);
  const etag = earlier.headers.get("etag");
  assert.ok(etag);
  assert.deepEqual([written.status, written.body, written.headers.get("etag")], [200, earlier.body, etag], JSON.stringify(body));
  assert.deepEqual([later.body, later.headers.get("etag")], [earlier.body, etag]);
}

for (const operation of byMethod("PUT")) {
  test(`${operation.operationId} takes the resource as it was read, and changes nothing`, () =>
    leavesAsItIs("PUT", exampleOf(operation).path, (resource) => resource));
}

for (const operation of byMethod("PATCH")) {
  test(`${operation.operationId} changes nothing if it names no field, or each with the value that it has`, async () => {
    const { path } = exampleOf(operation);
    await leavesAsItIs("PATCH", path, () => ({}));
    const fields = Object.keys(bodySchema(operation)?.properties ?? {});
    await leavesAsItIs("PATCH", path, (resource) => Object.fromEntries(fields.map((name) => [name, resource[name]])));
  });
}

for (const operation of byMethod("PUT", "PATCH")) {
  const [name, parameter] = /May also hold `(\w+)`, which must be the same as `(\w+)`/.exec(bodyWords(operation))?.slice(1) ?? [];
  if (name === undefined) continue;
  test(`${operation.operationId} ignores its own ${name} in the body, and refuses another one`, async () => {
    const { path } = exampleOf(operation);
    const { [name]: own } = await made<Json>(shop, "GET", path);
    await leavesAsItIs(operation.method, path, (resource) => (operation.method === "PUT" ? resource : { [name]: own }));
    for (const other of [Number(own) + 1, String(own), true]) {
      const { status, body }: Reply<Failure> = await shop.ask(operation.method, path, {
        body: { ...(exampleOf(operation).body as Json), [name]: other },
      });
      assert.deepEqual([status, body.details?.map((detail) => detail.path)], [400, [`body.${name}`]]);
      if (typeof other === "number") assert.equal(body.details?.[0]?.message, `must be the same as ${parameter} in the path`);
    }
  });
}

function bodyWords({ requestBody }: Operation): string {
  return (requestBody as { description?: string } | undefined)?.description ?? "";
}

test("pets, categories, orders, entries and projects have an identifier that a body may repeat", () => {
  const repeated = byMethod("PUT", "PATCH").filter((operation) => bodyWords(operation).includes("May also hold"));
  const expected = ["replacePet", "updatePet", "replaceCategory", "updateCategory", "replaceOrder", "updateOrder"];
  for (const id of [...expected, "replaceInventoryItem", "updateProject"])
    assert.ok(
      repeated.some(({ operationId }) => operationId === id),
      id,
    );
});

test("a POST takes no identifier, but for an order's, which it ignores", async () => {
  for (const [path, body] of [
    ["/pets", { id: 1, name: "Rex", categoryId: 1 }],
    ["/categories", { id: 1, name: "Horses" }],
  ] as const) {
    const { status, body: error } = await shop.ask<Failure>("POST", path, { body });
    assert.deepEqual([status, error.details?.[0]?.path], [400, "body.id"]);
  }
  assert.notEqual((await made<Json>(shop, "POST", "/store/orders", { id: 424_242 }))["id"], 424_242);
});

test("a PUT of a stock count takes the status that the entry had, or that follows, and refuses any other", async () => {
  const { id } = await newPet(shop, 1);
  const path = `/store/inventory/${id}`;
  const put = <T = unknown>(body: Json) => shop.ask<T>("PUT", path, { body });
  assert.equal((await put({ petId: id, quantity: 0, status: "sold" })).status, 201);
  // as it was read, with another count
  assert.deepEqual((await put({ petId: id, quantity: 3, status: "sold" })).body, { petId: id, quantity: 3, status: "available" });
  // as it follows
  assert.equal((await put({ petId: id, quantity: 0, status: "sold" })).status, 200);
  assert.equal((await put({ petId: id, quantity: 3, status: null })).status, 200);
  const earlier = await shop.ask("GET", path);
  for (const [quantity, status] of [
    [3, "sold"],
    [5, "pending"],
  ] as const) {
    const refused = await put<Failure>({ quantity, status });
    assert.deepEqual([refused.status, refused.body.code, refused.body.details?.[0]?.path], [400, "invalid_request", "body.status"]);
    assert.match(refused.body.message, /must be available, which follows from the count/);
  }
  const later = await shop.ask("GET", path);
  assert.deepEqual([later.body, later.headers.get("etag")], [earlier.body, earlier.headers.get("etag")]);
});

test("an adjustment by 0 changes nothing", async () => {
  const { id } = await newPet(shop, 1);
  const path = `/store/inventory/${id}`;
  assert.equal((await shop.ask("POST", `${path}/adjustments`, { body: { delta: 0 } })).status, 404);
  const { headers } = await shop.ask("PUT", path, { body: { quantity: 2 } });
  const same = await shop.ask("POST", `${path}/adjustments`, { body: { delta: 0 } });
  assert.deepEqual([same.status, same.headers.get("etag")], [200, headers.get("etag")]);
});

test("a write that changes nothing still honours If-Match", async () => {
  const pet = await newPet(shop, 1);
  assert.equal((await shop.ask("PUT", `/pets/${pet.id}`, { body: pet, headers: { "if-match": '"other"' } })).status, 412);
  assert.equal((await shop.ask("PATCH", `/pets/${pet.id}`, { body: {}, headers: { "if-match": '"v1"' } })).status, 200);
});

/** An optional field of an operation's body, with a body that leaves it out and the refusal where null is none. */
const left = byMethod("POST", "PUT").flatMap((operation) => {
  const { properties = {}, required = [] } = bodySchema(operation) ?? {};
  return Object.keys(properties).flatMap((name) => (required.includes(name) ? [] : [{ operation, name }]));
});

test("the description says of each optional field of a POST or PUT that it may be null, and of no required one", () => {
  assert.ok(left.length >= 8);
  for (const operation of byMethod("POST", "PUT")) {
    const { properties = {}, required = [] } = bodySchema(operation) ?? {};
    for (const [name, schema] of Object.entries(properties)) {
      const mayBeNull = schema["nullable"] === true || "anyOf" in schema;
      assert.equal(mayBeNull, !required.includes(name), `${operation.operationId} ${name}`);
    }
  }
});

/** Where to send a body again and again: not to a key that has a successor, nor with the query that ends an import. */
async function repeatablePath({ operationId, ...operation }: Operation): Promise<string> {
  const path = exampleOf({ operationId, ...operation }).path.split("?")[0] ?? "";
  if (operationId !== "rotateKey") return path;
  const { id } = await made<{ id: number }>(shop, "POST", "/keys", { scopes: ["catalogue:read"] });
  return path.replace(/\d+/, String(id));
}

/** The member without which another one is refused. */
const together: Record<string, string> = { publishable: "origins" };
/** The members of answers that differ from call to call. */
const volatile = new Set(["id", "name", "secret", "position", "key", "previous", "outcome", "createdAt", "replaces"]);

let names = 0;
for (const { operation, name } of left) {
  test(`${operation.operationId} takes null for ${name} as if it were left out`, async () => {
    await made(shop, "PUT", "/store/inventory/1", { quantity: 1_000 });
    const [one = {}] = [exampleOf(operation).body].flat() as Json[];
    const { [name]: _left, [together[name] ?? name]: _other, ...rest } = one;
    const answers = [];
    for (const more of [{}, { [name]: null }]) {
      names += 1;
      const object = { ...rest, ...("name" in rest && { name: `Name ${names}` }), ...more };
      const body = Array.isArray(exampleOf(operation).body) ? [object] : object;
      const { status, body: answer } = await shop.ask<Json | Json[]>(operation.method, await repeatablePath(operation), { body });
      assert.ok(status < 300, JSON.stringify(answer));
      const [fields = {}] = [answer].flat();
      answers.push(Object.entries(fields).filter(([member]) => !volatile.has(member)));
    }
    assert.deepEqual(answers[1], answers[0]);
  });
}

test("the dashboard's calls take null for an optional field as the API does", async () => {
  const owner = await newMember(shop, {
    account: shop.accountId,
    email: "owner@shop.example",
    role: "owner",
    password: "a good long password",
  });
  const pet = await owner.ask<Pet>("POST", "/pets", { name: "Rex", categoryId: 1, status: null });
  assert.deepEqual([pet.status, pet.body.status], [201, "available"]);
  const key = await owner.ask("POST", "/keys", { name: null, scopes: null, expires: null, publishable: null, origins: null });
  assert.equal(key.status, 201, JSON.stringify(key.body));
  const refused = await owner.ask<Failure>("POST", "/members", { email: null, role: null });
  assert.deepEqual([refused.status, refused.body.details?.map((detail) => detail.path)], [400, ["body.email"]]);
});

test("null for a required field, or for one that is not known, is a 400 that names it", async () => {
  const refused: [string, string, Json, string][] = [
    ["POST", "/pets", { name: null, categoryId: 1 }, "body.name"],
    ["POST", "/pets", { name: "Rex", categoryId: null }, "body.categoryId"],
    ["PUT", "/pets/1", { name: "Rex", categoryId: null }, "body.categoryId"],
    ["POST", "/categories", { name: null }, "body.name"],
    ["PUT", "/store/inventory/1", { quantity: null }, "body.quantity"],
    ["POST", "/projects", { name: "Rex", slug: null }, "body.slug"],
    ["POST", "/pets", { name: "Rex", categoryId: 1, colour: null }, "body.colour"],
  ];
  for (const [method, path, body, where] of refused) {
    const reply = await shop.ask<Failure>(method, path, { body });
    assert.deepEqual([reply.status, reply.body.details?.map((detail) => detail.path)], [400, [where]], JSON.stringify(body));
  }
});

test("in a PATCH null removes a value, and is refused where the field is required", async () => {
  const { id } = await newCategory(shop, "Ponies");
  await made(shop, "PATCH", `/categories/${id}`, { description: "Small." });
  assert.deepEqual(await made(shop, "PATCH", `/categories/${id}`, { description: null }), { id, name: "Ponies" });
  assert.equal((await shop.ask("PATCH", `/categories/${id}`, { body: { name: null } })).status, 400);
  const pet = await newPet(shop, 1, { status: "sold" });
  assert.equal((await made<Pet>(shop, "PATCH", `/pets/${pet.id}`, { status: null })).status, "available");
});
