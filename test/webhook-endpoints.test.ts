import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import type { Webhook } from "../src/events/webhooks/webhooks.ts";
import { startDnsServer } from "./support/dns-server.ts";
import type { Failure } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { until } from "./support/until.ts";
import { openScene, names } from "./support/webhook-scene.ts";
import { deliveriesOf, newWebhook, startReceiver, webhookOf, type WithSecret } from "./support/webhooks.ts";

/** Begins now, because the package `standardwebhooks` refuses other times. */
const time = { now: Date.now() };
let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => time.now, env: { WEBHOOK_PRIVATE_ADDRESSES: "on" } });
});
after(() => shop.close());

test("an endpoint that is deleted while a message is under way gets nothing more, and its deliveries are gone", async (t) => {
  const { receiver, newCategory, ask, at } = await openScene(t, shop);
  receiver.answer = () => undefined;
  await newCategory("1");
  await until(() => receiver.got.length === 1);
  assert.equal((await ask("DELETE", at)).status, 204);
  for (const name of ["2", "3"]) await newCategory(name);
  const elsewhere = await openScene(t, shop);
  await elsewhere.newCategory("Other");
  await elsewhere.until("delivered", 1);
  assert.equal(receiver.got.length, 1);
  assert.deepEqual([(await ask("GET", at)).status, (await ask("GET", `${at}/deliveries`)).status], [404, 404]);
});

test("a new endpoint shows its secret once, a repeated request gets the same one, and the database never holds it in clear", async (t) => {
  const { ask, receiver, key } = await openScene(t, shop);
  const make = () => shop.ask<WithSecret>("POST", "/webhooks", { key, body: { url: receiver.url }, headers: { "idempotency-key": "one" } });
  const [first, again] = [await make(), await make()];
  assert.deepEqual([first.status, again.status, again.headers.get("idempotent-replayed")], [201, 201, "true"]);
  assert.match(first.body.secret, /^whsec_/);
  assert.equal(again.body.secret, first.body.secret);
  const { body: listed } = await ask<object[]>("GET", "/webhooks");
  assert.ok(listed.every((one) => !("secret" in one)));
  const bare = first.body.secret.slice("whsec_".length);
  const kept = await Promise.all(
    [sql`SELECT * FROM webhooks`, sql`SELECT * FROM idempotency`, sql`SELECT * FROM events`].map((query) => shop.db.query(query)),
  );
  assert.ok(!JSON.stringify(kept).includes(bare));
});

test("an endpoint's invalid fields are refused by name, and an account has at most twenty endpoints", async (t) => {
  const { receiver, ask, at, key } = await openScene(t, shop);
  const refusedAt = async (body: unknown, method = "POST", path = "/webhooks") => {
    const reply = await ask<Failure>(method, path, body);
    assert.equal(reply.status, 400, JSON.stringify(body));
    return reply.body.details?.[0]?.path;
  };
  for (const url of [
    "",
    "ftp://a.example/",
    "https://",
    "no url",
    "https://user@a.example/",
    "https://:pw@a.example/",
    "https://a.example/#f",
  ])
    assert.equal(await refusedAt({ url }), "body.url", url);
  assert.equal(await refusedAt({ url: `https://a.example/${"x".repeat(2_000)}` }), "body.url");
  assert.equal(await refusedAt({ url: receiver.url, types: ["order.*", "dog.barked"] }), "body.types[1]");
  assert.equal(await refusedAt({ url: receiver.url, types: [] }), "body.types");
  assert.equal(await refusedAt({ types: ["*"] }), "body.url");
  assert.equal(await refusedAt({ url: receiver.url, secret: "whsec_mine" }), "body.secret");
  assert.equal(await refusedAt({ types: ["nothing.*"] }, "PATCH", at), "body.types[0]");
  assert.equal(await refusedAt({ after: -1 }, "POST", `${at}/replay`), "body.after");
  for (let i = 1; i < 20; i++) await newWebhook(shop, { url: receiver.url }, key);
  assert.equal(await refusedAt({ url: receiver.url }), "body");
});

test("an endpoint has port 80, 443, or one from 1024 to 65535, and any other is refused by name", async (t) => {
  const { ask, at } = await openScene(t, shop);
  const put = (url: string) => ask<Failure>("PATCH", at, { url });
  for (const port of [1, 22, 25, 53, 81, 444, 1_023].flatMap((other) => [other, `0000${other}`]).concat(0)) {
    const { status, body } = await put(`https://a.example:${port}/`);
    const rule = { path: "body.url", message: "must have port 80, 443, or one from 1024 to 65535" };
    assert.deepEqual([status, body.details], [400, [rule]], `${port}`);
  }
  assert.equal((await put("https://a.example:65536/")).status, 400);
  for (const port of ["", ":80", ":443", ":1024", ":65535"])
    for (const scheme of ["http", "https"]) assert.equal((await put(`${scheme}://a.example${port}/`)).status, 200, `${scheme} ${port}`);
});

test("creating, changing and replaying need the scope events:read beside webhooks:write, and foreign endpoints are not found", async (t) => {
  const { receiver, webhook, at, accountId } = await openScene(t, shop);
  const { key } = await shop.administration["keys.create"]({ account: accountId, scopes: ["webhooks:read", "webhooks:write"] });
  const foreign = await shop.newAccount();
  const asks: [string, string, unknown?][] = [
    ["POST", "/webhooks", { url: receiver.url }],
    ["PATCH", at, { url: receiver.url }],
    ["POST", `${at}/rotate`],
    ["POST", `${at}/replay`, { after: 0 }],
    ["GET", `${at}/deliveries/1`],
  ];
  for (const [method, path, body] of asks) {
    assert.equal((await shop.ask(method, path, { key, body })).status, 403, path);
    if (path !== "/webhooks") assert.equal((await shop.ask(method, path, { key: foreign.key, body })).status, 404, path);
  }
  for (const [method, path] of [
    ["GET", at],
    ["GET", `${at}/deliveries`],
    ["POST", `${at}/test`],
    ["DELETE", at],
  ] as const)
    assert.equal((await shop.ask(method, path, { key: foreign.key })).status, 404, path);
  assert.equal((await shop.ask("POST", `${at}/test`, { key })).status, 202);
  assert.equal((await webhookOf(shop, webhook.id, key)).id, webhook.id);
});

test("a name that resolves to a private address after its endpoint was made gets no connection, and its deliveries say why", async (t) => {
  const dns = await startDnsServer();
  let connections = 0;
  const inside = createServer(() => connections++).listen(0, "127.0.0.1");
  await once(inside, "listening");
  const guarded = await startService({ env: { DNS_SERVERS: dns.address } });
  t.after(async () => {
    await Promise.all([guarded.close(), dns.close()]);
    inside.close();
  });
  const url = `https://turns.example:${(inside.address() as AddressInfo).port}/hook`;
  dns.set("turns.example", "A", ["127.0.0.1"]);
  const refused = await guarded.ask<Failure>("POST", "/webhooks", { body: { url } });
  assert.deepEqual([refused.status, refused.body.details?.[0]?.path], [400, "body.url"]);
  dns.set("turns.example", "A", ["1.1.1.1"]);
  const { id } = await newWebhook(guarded, { url, types: ["category.created"] });
  dns.set("turns.example", "A", ["127.0.0.1"]);
  await made(guarded, "POST", "/categories", { name: "Turned" });
  await until(async () => (await deliveriesOf(guarded, id))[0]?.attempts === 1);
  const [delivery] = await deliveriesOf(guarded, id);
  assert.equal(delivery?.status, "pending");
  assert.equal(delivery.error, "The URL leads to an address that is not on the public internet.");
  for (const path of ["/webhooks", `/webhooks/${id}`]) {
    const { status } = await guarded.ask(path === "/webhooks" ? "POST" : "PATCH", path, { body: { url } });
    assert.equal(status, 400, path);
  }
  assert.equal(connections, 0);
});

test("DNS servers that never answer for IPv6 stop no webhook over IPv4", async (t) => {
  const dns = await startDnsServer();
  const receiver = await startReceiver();
  const { port } = new URL(receiver.url);
  const servers = Array.from({ length: 4 }, () => dns.address).join(",");
  const silent = await startService({ env: { DNS_SERVERS: servers, WEBHOOK_PRIVATE_ADDRESSES: "on" } });
  t.after(() => Promise.all([silent.close(), receiver.close(), dns.close()]));
  dns.set("half.example", "A", ["127.0.0.1"]);
  dns.fail("half.example", "timeout", ["AAAA"]);
  const { id } = await newWebhook(silent, { url: `http://half.example:${port}/hook`, types: ["category.created"] });
  await made(silent, "POST", "/categories", { name: "Half" });
  await until(async () => (await deliveriesOf(silent, id))[0]?.attempts === 1);
  assert.equal((await deliveriesOf(silent, id))[0]?.status, "delivered");
});

test("more endpoints that hang than a node has places for delay no other account, once each has failed", async (t) => {
  const hanging = await startReceiver();
  const open = new Set<ServerResponse>();
  let closed = 0;
  hanging.answer = (_, response) => {
    open.add(response);
    response.on("close", () => void (open.delete(response) && closed++));
  };
  const keys: string[] = [];
  t.after(async () => {
    for (const key of keys)
      for (const { id } of (await shop.ask<Webhook[]>("GET", "/webhooks", { key })).body)
        await shop.ask("DELETE", `/webhooks/${id}`, { key });
    await hanging.close();
  });
  for (let account = 0; account < 14; account++) {
    const { key } = await shop.newAccount();
    keys.push(key);
    for (let i = 0; i < 20; i++) await newWebhook(shop, { url: hanging.url, types: ["category.created"] }, key);
  }
  const makeEvents = () => Promise.all(keys.map((key) => made(shop, "POST", "/categories", { name: `At ${closed}` }, key)));
  await makeEvents();
  const failing = sql`SELECT COUNT(*) AS count FROM webhooks WHERE url = ${hanging.url} AND failing_since IS NOT NULL`;
  await until(async () => Number((await shop.db.query<{ count: number }>(failing))[0]?.count) === 280);
  const { receiver, newCategory } = await openScene(t, shop);
  /** Whether a message arrives while no attempt ends. On a slow machine one may end by its time, which says nothing. */
  const overtakes = async (name: string): Promise<boolean> => {
    await until(() => open.size === 0);
    time.now += 3_600_000; // every retry is due
    const ended = closed;
    await makeEvents();
    await until(() => open.size >= 128 || closed > ended);
    await newCategory(name);
    await until(() => names(receiver).includes(name));
    return closed === ended;
  };
  let tries = 0;
  while (!(await overtakes(`Quick ${tries}`))) assert.ok(++tries < 5, "each message waited until an attempt ended");
});

test("a message that gets no place is no attempt, and is sent when there is one", async (t) => {
  const queues = { deliveries: { max: 1, waitingMaxPerKey: 0 } };
  const small = await startService({ clock: () => time.now, env: { WEBHOOK_PRIVATE_ADDRESSES: "on" }, queues });
  const types = ["category.*"];
  const [hanging, other] = [await openScene(t, small, { types }), await openScene(t, small, { types })];
  t.after(() => small.close());
  const waiting: ServerResponse[] = [];
  hanging.receiver.answer = (_, response) => void waiting.push(response);
  await hanging.newCategory("Holds the place");
  await until(() => waiting.length === 1);
  await other.newCategory("Has none");
  const metrics = async () => (await fetch(`${small.address}/metrics`)).text();
  await until(async () => /^petstore_turns_refused_total\{of="deliveries"\} [1-9]/m.test(await metrics()));
  const [pending] = await other.until("pending", 1);
  assert.deepEqual([pending?.attempts, pending?.error, other.receiver.got.length], [0, null, 0]);
  waiting[0]?.end();
  time.now += 1_000;
  const [delivered] = await other.until("delivered", 1);
  assert.deepEqual([delivered?.attempts, names(other.receiver)], [1, ["Has none"]]);
});

test("endpoints that hang delay nobody else", async (t) => {
  const hanging = await Promise.all(Array.from({ length: 10 }, () => openScene(t, shop)));
  for (const { receiver } of hanging) receiver.answer = () => undefined;
  for (const { newCategory } of hanging) await newCategory("Stuck");
  await until(() => hanging.every(({ receiver }) => receiver.got.length > 0));
  const { receiver, newCategory } = await openScene(t, shop);
  const began = performance.now();
  await newCategory("Quick");
  await until(() => names(receiver).includes("Quick"));
  assert.ok(receiver.got.at(-1)!.at - began < 2_000);
});
