import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { apiOperations } from "../src/app/operations.ts";
import { allNumbered } from "./support/event-log.ts";
import type { Category, Order, Pet } from "./support/models.ts";
import { openRaw } from "./support/raw.ts";
import { ask, startService, type Asked, type Reply, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

/** Keys have this one minute for their quotas. */
const now = Date.UTC(2027, 0, 1);
let shop: TestService;
let dogs: Category;
before(async () => {
  shop = await startService({ clock: () => now, env: { PUBLIC_URL: "https://shop.example" } });
  dogs = await newCategory(shop, "Dogs");
  for (const name of ["Rex", "Luna", "Bella"]) await newPet(shop, dogs.id, { name });
});
after(() => shop.close());

/** Connects the official client with a key, in the revision of the protocol that both prefer, or in an older one. */
async function connect(key: string, mode: "auto" | "legacy" = "auto"): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${shop.address}/mcp`), { requestInit }));
  return client;
}

type Result = { isError?: boolean; structuredContent?: unknown; content: { type: string; text?: string }[] };
const call = (client: Client, name: string, given: Record<string, unknown> = {}): Promise<Result> =>
  client.callTool({ name, arguments: given });

for (const mode of ["auto", "legacy"] as const) {
  test(`the official client finds and calls tools (${mode})`, async (t) => {
    const client = await connect(shop.key, mode);
    t.after(() => client.close());
    const { tools } = await client.listTools();
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    for (const name of [
      "listPets",
      "createPet",
      "updatePet",
      "deletePet",
      "createOrder",
      "adjustInventoryItem",
      "replaceInventoryItem",
      "replaceProfile",
      "createWebhook",
      "rotateWebhookSecret",
      "getAccount",
      "verifyDomain",
    ]) {
      assert.ok(byName.has(name), name);
    }
    for (const { operationId, deprecated, upload } of apiOperations) {
      if (deprecated || upload) assert.ok(!byName.has(operationId), operationId);
    }
    for (const name of ["listWebhooks", "getWebhook", "listKeys", "createKey", "listEvents"]) assert.ok(byName.has(name), name);
    for (const name of ["replacePet", "replaceCategory", "replaceOrder", "streamEvents"]) assert.ok(!byName.has(name), name);
    const hints = (name: string) => byName.get(name)?.annotations;
    assert.equal(hints("listPets")?.readOnlyHint, true);
    assert.deepEqual([hints("deletePet")?.destructiveHint, hints("deletePet")?.idempotentHint], [true, true]);
    assert.deepEqual([hints("replaceInventoryItem")?.destructiveHint, hints("replaceInventoryItem")?.idempotentHint], [true, true]);
    assert.deepEqual([hints("createPet")?.destructiveHint, hints("createPet")?.idempotentHint], [false, undefined]);

    const first = (await call(client, "listPets", { sort: "name", limit: 2 })).structuredContent as { items: Pet[]; next: string };
    assert.deepEqual(
      first.items.map(({ name }) => name),
      ["Bella", "Luna"],
    );
    const second = (await call(client, "listPets", { sort: "name", limit: 2, cursor: first.next })).structuredContent;
    assert.deepEqual(second, { items: [{ id: 1, name: "Rex", categoryId: dogs.id, status: "available" }], next: null });
    const created = await call(client, "createCategory", { body: { name: `By ${mode}` } });
    assert.deepEqual((created.structuredContent as Category).name, `By ${mode}`);
    const { id } = created.structuredContent as Category;
    const changed = await call(client, "updateCategory", { categoryId: id, body: { description: "New" } });
    assert.equal((changed.structuredContent as Category).description, "New");
    assert.deepEqual((await call(client, "deleteCategory", { categoryId: id })).content, [{ type: "text", text: "Done." }]);
  });
}

test("the events are read to their end by `next`, which the next call has as `after`", async (t) => {
  const client = await connect(shop.key);
  t.after(() => client.close());
  await allNumbered(shop.db);
  const positions: number[] = [];
  for (let next: number | null = 0; next !== null;) {
    const page = (await call(client, "listEvents", { after: next, limit: 2 })).structuredContent as Page;
    positions.push(...page.items.map(({ position }) => position));
    next = page.next;
  }
  const { body: checkpoint } = await shop.ask<{ position: number }>("GET", "/events/checkpoint");
  assert.ok(checkpoint.position > 3);
  assert.deepEqual(
    positions,
    Array.from({ length: checkpoint.position }, (_, i) => i + 1),
  );
});
type Page = { items: { position: number }[]; next: number | null };

test("a refusal of the API is an error of the tool, with its code: the same validation, references and stock", async (t) => {
  const client = await connect(shop.key);
  t.after(() => client.close());
  const codeOf = async (name: string, given: Record<string, unknown>): Promise<unknown[]> => {
    const { isError, structuredContent } = await call(client, name, given);
    const { code, status } = structuredContent as { code: string; status: number };
    return [isError, code, status];
  };
  assert.deepEqual(await codeOf("createPet", { body: { name: "" } }), [true, "invalid_request", 400]);
  assert.deepEqual(await codeOf("createPet", { body: { name: "A", categoryId: 999 } }), [true, "unknown_reference", 422]);
  assert.deepEqual(await codeOf("createPet", { name: "A", categoryId: 1 }), [true, "invalid_request", 400]);
  assert.deepEqual(await codeOf("updatePet", { body: { name: "A" } }), [true, "invalid_request", 400]);
  assert.deepEqual(await codeOf("updatePet", { petId: "../1", body: { name: "A" } }), [true, "invalid_request", 400]);
  assert.deepEqual(await codeOf("getOrder", { orderId: 999 }), [true, "not_found", 404]);
  assert.deepEqual(await codeOf("listPets", { cursor: "x" }), [true, "invalid_request", 400]);
  assert.deepEqual(await codeOf("listPets", { status: [{}] }), [true, "invalid_request", 400]);
  assert.deepEqual(await codeOf("createOrder", { body: {}, dryRun: "no" }), [true, "invalid_request", 400]);
  assert.deepEqual(await codeOf("createOrder", { body: {}, idempotencyKey: "\n" }), [true, "invalid_request", 400]);
  assert.deepEqual(await codeOf("createCategory", { body: { name: "dogs" } }), [true, "category_exists", 409]);
});

test("a photo from an address on the service's own network is refused", async (t) => {
  const client = await connect(shop.key);
  t.after(() => client.close());
  for (const url of ["http://127.0.0.1:9/rex.jpg", "http://169.254.169.254/", "ftp://shop.example/rex.jpg"]) {
    const refused = await call(client, "addPhotoFromUrl", { petId: 1, body: { url } });
    const { code, details } = refused.structuredContent as { code: string; details: { path: string }[] };
    assert.deepEqual([code, details[0]?.path], ["invalid_request", "body.url"], url);
  }
});

test("a dry run changes nothing, and an idempotency key makes a call happen once", async (t) => {
  const client = await connect(shop.key);
  t.after(() => client.close());
  const tried = await call(client, "createOrder", { body: { petId: 1 }, dryRun: true });
  assert.match(tried.content[1]?.text ?? "", /nothing has changed/);
  assert.deepEqual(await made<Order[]>(shop, "GET", "/store/orders"), []);
  const given = { body: { petId: 1 }, idempotencyKey: "once" };
  const [first, again] = [await call(client, "createOrder", given), await call(client, "createOrder", given)];
  assert.deepEqual(again.structuredContent, first.structuredContent);
  assert.equal((await made<Order[]>(shop, "GET", "/store/orders")).length, 1);
  const byHttp = await shop.ask<Order>("POST", "/store/orders", { body: { petId: 1 }, headers: { "idempotency-key": "once" } });
  assert.deepEqual([byHttp.body, byHttp.headers.get("idempotent-replayed")], [first.structuredContent, "true"]);
});

test("a refusal is an error in an agent's words again when its idempotency key is sent again", async (t) => {
  const client = await connect(shop.key);
  t.after(() => client.close());
  await call(client, "createCategory", { body: { name: "Parrots" } });
  const given = { body: { name: "Parrots" }, idempotencyKey: "refused" };
  const [first, again] = [await call(client, "createCategory", given), await call(client, "createCategory", given)];
  assert.equal(first.isError, true);
  assert.deepEqual(again, first);
});

test("a change with ifMatch happens only if the resource is as the agent saw it, by the version in an earlier result", async (t) => {
  const client = await connect(shop.key);
  t.after(() => client.close());
  const { structuredContent } = await call(client, "createCategory", { body: { name: "Rabbits" } });
  const { id: categoryId } = structuredContent as Category;
  const tagOf = ({ content }: Result): string => content[1]?.text?.replace(/^ifMatch: /, "") ?? assert.fail("the result has no version");
  const seen = tagOf(await call(client, "getCategory", { categoryId }));
  const changed = await call(client, "updateCategory", { categoryId, body: { description: "Soft" }, ifMatch: seen });
  assert.deepEqual([changed.isError, (changed.structuredContent as Category).description], [undefined, "Soft"]);
  for (const [name, given] of [
    ["updateCategory", { body: { description: "Loud" } }],
    ["deleteCategory", {}],
  ] as const) {
    const refused = await call(client, name, { categoryId, ifMatch: seen, ...given });
    assert.deepEqual([refused.isError, (refused.structuredContent as { code: string }).code], [true, "precondition_failed"], name);
  }
  assert.equal((await call(client, "deleteCategory", { categoryId, ifMatch: tagOf(changed) })).isError, undefined);
  const { tools } = await client.listTools();
  const taking = tools.filter(({ inputSchema }) => "ifMatch" in (inputSchema.properties ?? {})).map(({ name }) => name);
  const conditional = apiOperations.map(({ operationId }) => operationId).filter((name) => /^update(Pet|Category|Order)$/.test(name));
  assert.ok(conditional.length >= 3 && conditional.every((name) => taking.includes(name)), taking.join(" "));
});

test("a key sees only the tools of its scopes, and a call of another is a JSON-RPC error; another account's resources do not exist", async (t) => {
  const { key } = await shop.administration["keys.create"]({ account: shop.accountId, scopes: ["orders:read"] });
  const client = await connect(key);
  t.after(() => client.close());
  assert.deepEqual(
    (await client.listTools()).tools.map(({ name }) => name),
    ["listOrders", "getOrder"],
  );
  await assert.rejects(call(client, "createOrder", { body: {} }), { code: -32_602, message: /lacks the scope orders:write/ });
  await assert.rejects(call(client, "replacePet", { petId: 1 }), { code: -32_602, message: /no such tool/ });
  await assert.rejects(call(client, "list_orders"), { code: -32_602, message: /did you mean listOrders\?/ });
  await assert.rejects(call(client, "constructor"), { code: -32_602 });
  const stranger = await connect((await shop.newAccount()).key);
  t.after(() => stranger.close());
  assert.equal(((await call(stranger, "getCategory", { categoryId: dogs.id })).structuredContent as { code: string }).code, "not_found");
});

const message = (method: string, params: object | null = {}): object => ({ jsonrpc: "2.0", id: 1, method, params });
const post = <T = { error?: { code: number; message: string } }>(asked: Asked): Promise<Reply<T>> =>
  ask<T>(`${shop.address}/mcp`, "POST", { key: shop.key, ...asked });

test("each POST counts once in the account's quota, whatever it calls, and carries the limit headers", async () => {
  const { key } = await shop.newAccount("free");
  const left = async (asked: Asked) => Number((await post({ key, ...asked })).headers.get("x-ratelimit-remaining"));
  const body = message("tools/call", { name: "listPets", arguments: {} });
  assert.deepEqual([await left({ body }), await left({ body: message("tools/list") }), await left({ body: "{" })], [59, 58, 57]);
  const { headers } = await shop.ask("GET", "/pets", { key });
  assert.equal(headers.get("x-ratelimit-remaining"), "56");
  for (let i = 0; i < 56; i++) await post({ key, body });
  const refused = await post<{ code: string }>({ key, body });
  assert.deepEqual([refused.status, refused.body.code, refused.headers.has("retry-after")], [429, "rate_limit_exceeded", true]);
  let last = refused;
  for (let i = 0; i < 30 && last.body.code !== "key_banned"; i++) last = await post<{ code: string }>({ key, body });
  assert.deepEqual([last.status, last.body.code], [429, "key_banned"]);
});

test("requests that are refused before the protocol: no key, a foreign origin, other methods, sizes and types", async () => {
  const body = message("tools/list");
  const { key: publishable } = await shop.administration["keys.create"]({ account: shop.accountId, publishable: true });
  const cases: [string, Asked, number, string][] = [
    ["POST", { key: "", body }, 401, "unauthorized"],
    ["POST", { key: "psk_wrong", body }, 401, "unauthorized"],
    ["POST", { body, headers: { origin: "https://evil.example" } }, 403, "forbidden"],
    ["POST", { body, headers: { origin: "null" } }, 403, "forbidden"],
    ["POST", { key: publishable, body, headers: { origin: "https://evil.example" } }, 403, "forbidden"],
    ["POST", { body, headers: { prefer: "dry-run" } }, 400, "invalid_request"],
    ["POST", { body, headers: { "x-api-key": "other" } }, 400, "invalid_request"],
    ["POST", { body: " ".repeat(1_200_000) }, 413, "payload_too_large"],
    ["POST", { body: "{}", headers: { "content-type": "text/plain" } }, 415, "unsupported_media_type"],
    ["POST", { body, headers: { accept: "text/html" } }, 406, "not_acceptable"],
    ["GET", {}, 405, "method_not_allowed"],
    ["DELETE", {}, 405, "method_not_allowed"],
    ["PUT", { body }, 405, "method_not_allowed"],
  ];
  for (const [method, asked, status, code] of cases) {
    const reply = await ask<{ code: string }>(`${shop.address}/mcp`, method, { key: shop.key, ...asked });
    assert.deepEqual([reply.status, reply.body.code], [status, code], `${method} ${JSON.stringify(asked).slice(0, 80)}`);
    assert.ok(reply.headers.has("x-ratelimit-limit") && reply.headers.has("x-request-id"));
    assert.equal(reply.headers.get("access-control-allow-origin"), null);
    if (status === 401) assert.ok(reply.headers.has("www-authenticate"));
  }
  assert.equal((await post({ body, headers: { origin: "https://shop.example" } })).status, 200);
  const { body: dry } = await ask<{ message: string }>(`${shop.address}/mcp`, "POST", {
    key: shop.key,
    body,
    headers: { prefer: "dry-run" },
  });
  assert.match(dry.message, /argument dryRun/);
});

test("hostile messages get JSON-RPC errors, and never a 500 or another's data", async () => {
  const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
  const cases: [unknown, number, number | undefined][] = [
    ["", 400, -32_700],
    ["{", 400, -32_700],
    [deep, 400, -32_700],
    [Buffer.from([0x22, 0xff, 0x22]), 400, -32_700],
    [[message("tools/list"), message("tools/list")], 400, -32_600],
    ["[]", 400, -32_600],
    ["5", 400, undefined],
    ["null", 400, undefined],
    ['"text"', 400, undefined],
    [{}, 400, undefined],
    [{ jsonrpc: "1.0", id: 1, method: "tools/list" }, 400, undefined],
    [{ jsonrpc: "2.0", id: {}, method: "tools/list" }, 400, undefined],
    [message("nothing/here"), 200, -32_601],
    [message("subscriptions/listen"), 200, undefined],
    [message("resources/list"), 200, -32_601],
    [message("tools/call"), 200, undefined],
    [message("tools/call", { name: 5 }), 200, undefined],
    [message("tools/call", { name: "listPets", arguments: [] }), 200, -32_602],
    [message("tools/call", { name: "listPets", arguments: "{}" }), 200, -32_602],
    [message("initialize"), 200, -32_602],
    [message("tools/call", { name: "__proto__", arguments: {} }), 200, -32_602],
  ];
  for (const [body, status, code] of cases) {
    const reply = await post({ body, headers: { "content-type": "application/json" } });
    const shown = JSON.stringify(body).slice(0, 80);
    assert.ok(reply.status === status || (status === 200 && reply.status >= 400 && reply.status < 500), `${shown}: ${reply.status}`);
    assert.ok(reply.body.error, `${shown}: ${JSON.stringify(reply.body)}`);
    if (code !== undefined) assert.equal(reply.body.error.code, code, shown);
    assert.doesNotMatch(reply.body.error.message, /\n|"path"/, shown);
  }
  for (const version of ["1999-01-01", "x"]) {
    assert.equal((await post({ body: message("tools/list"), headers: { "mcp-protocol-version": version } })).status, 400);
  }
  for (const path of ["/mcp", "/mcp/"]) {
    for (const given of [{}, { arguments: null }, { arguments: {} }]) {
      const body = message("tools/call", { name: "listCategories", ...given });
      const { body: answered } = await ask<{ result: Result }>(`${shop.address}${path}`, "POST", { key: shop.key, body });
      assert.equal(answered.result.isError, undefined, path + JSON.stringify(given));
    }
  }
  assert.equal((await post({ body: message("tools/list", null) })).status, 200);
  const notified = await post({ body: { jsonrpc: "2.0", method: "notifications/initialized" } });
  assert.deepEqual([notified.status, notified.body], [202, ""]);
  assert.equal((await post({ body: message("tools/call", { name: "listPets", arguments: { __proto__: 1 } }) })).status, 200);
});

test("a body that is announced but not sent delays nobody, and a client that disconnects is not logged as a fault", async () => {
  const connection = await openRaw(shop.address);
  const head = ["POST /mcp HTTP/1.1", "Host: localhost", `Authorization: Bearer ${shop.key}`, "Content-Type: application/json"];
  await connection.write(`${head.join("\r\n")}\r\nContent-Length: 100\r\n\r\n{`);
  assert.equal((await post({ body: message("tools/list") })).status, 200);
  connection.socket.destroy();
  assert.equal((await post({ body: message("ping") })).status, 200);
});
