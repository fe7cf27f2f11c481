import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { newMember } from "./support/dashboard.ts";
import { exampleOf, operationsIn, type Document } from "./support/description.ts";
import type { Category, Failure } from "./support/models.ts";
import { startService, type Reply, type TestService } from "./support/service.ts";
import { fillWithExamples, made, newCategory, newPet } from "./support/shop.ts";

const operations = operationsIn(JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as Document);
let shop: TestService;
let stranger: string;
before(async () => {
  shop = await startService();
  await fillWithExamples(shop);
  ({ key: stranger } = await shop.newAccount());
});
after(() => shop.close());

const lists = ["/pets", "/categories", "/store/orders", "/store/inventory", "/projects"];

/** All that the shop has, as its own key sees it. */
async function contents(): Promise<unknown[]> {
  return Promise.all([...lists, "/projects/1/deployments", "/projects/1/domains"].map(async (path) => (await shop.ask("GET", path)).body));
}

/** Sends a request as somebody of another account. */
type Stranger = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply<Failure>>;

const strangers: Record<string, () => Promise<Stranger>> = {
  "with a key": async () => (method, path, body, headers) => shop.ask(method, path, { key: stranger, body, ...(headers && { headers }) }),
  "in the dashboard": async () => {
    const { id: account } = await shop.newAccount();
    const person = await newMember(shop, { account, email: "stranger@shop.example", role: "owner" });
    return (method, path, body, headers) => person.ask(method, path, body, headers);
  },
};

for (const [how, come] of Object.entries(strangers))
  test(`every operation returns 404, never 403, for another account's identifier in the path, and changes nothing: ${how}`, async () => {
    const send = await come();
    const earlier = await contents();
    const concerned = operations.filter(({ path }) => path.includes("{"));
    assert.ok(concerned.length >= 16);
    for (const operation of concerned) {
      const { path, body, contentType } = exampleOf(operation);
      const headers: Record<string, string> = contentType ? { "content-type": contentType } : {};
      const foreign = await send(operation.method, path, body, headers);
      assert.deepEqual([foreign.status, foreign.body.code], [404, "not_found"], operation.operationId);
      const unknown = exampleOf(operation, {
        petId: 987,
        categoryId: 987,
        orderId: 987,
        importId: 987,
        keyId: 987,
        projectId: 987,
        webhookId: 987,
      }).path;
      const absent = await send(operation.method, unknown, body, headers);
      const [words, others] = [absent, foreign].map(({ body: { message } }) => message.replaceAll(/\d+/g, "N"));
      assert.equal(words, others, "foreign and absent get the same message");
    }
    assert.deepEqual(await contents(), earlier);
  });

test("another account's identifier in a body returns 422, like an unknown one", async () => {
  const mine = await newCategory(shop, "Mine", stranger);
  const pet = await newPet(shop, mine.id, {}, stranger);
  const order = await made<{ id: number }>(shop, "POST", "/store/orders", {}, stranger);
  const foreign: [string, string, unknown][] = [
    ["POST", "/pets", { name: "A", categoryId: 1 }],
    ["POST", "/pets/batch", [{ name: "A", categoryId: 1 }]],
    ["PUT", `/pets/${pet.id}`, { name: "A", categoryId: 1 }],
    ["PATCH", `/pets/${pet.id}`, { categoryId: 1 }],
    ["POST", "/store/orders", { petId: 1 }],
    ["PUT", `/store/orders/${order.id}`, { petId: 1 }],
    ["PATCH", `/store/orders/${order.id}`, { petId: 1 }],
  ];
  for (const [method, path, body] of foreign) {
    const reply = await shop.ask<Failure>(method, path, { key: stranger, body });
    assert.deepEqual([reply.status, reply.body.code], [422, "unknown_reference"], `${method} ${path}`);
  }
});

test("lists and filters show nothing of another account", async () => {
  const { key } = await shop.newAccount();
  const queries = [
    ...lists,
    "/pets?id=1&id=2",
    "/pets?categoryId=1",
    "/pets?q=re",
    "/pets?status=available&sort=-name",
    "/store/orders?petId=1",
  ];
  for (const path of queries) assert.deepEqual((await shop.ask("GET", path, { key })).body, [], path);
});

test("a cursor of another account returns only the caller's own rows", async () => {
  const { headers } = await shop.ask("GET", "/pets?limit=1");
  const cursor = /cursor=([^&>]+)/.exec(headers.get("link") ?? "")?.[1] ?? "";
  const { key } = await shop.newAccount();
  const reply = await shop.ask("GET", `/pets?limit=1&cursor=${cursor}`, { key });
  assert.deepEqual([reply.status, reply.body], [200, []]);
});

test("names are unique within an account, not across accounts", async () => {
  const { key } = await shop.newAccount();
  assert.equal((await newCategory(shop, "Dogs", key)).name, "Dogs");
  assert.equal((await shop.ask("POST", "/categories", { key, body: { name: "dogs" } })).status, 409);
});

test("the limits of one account are not used up by another", async () => {
  const { key } = await shop.newAccount("free");
  for (let i = 0; i < 61; i++) await shop.ask("GET", "/pets", { key });
  assert.equal((await shop.ask("GET", "/pets", { key })).status, 429);
  assert.equal((await shop.ask<Category[]>("GET", "/categories", { key: stranger })).status, 200);
});
