import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { openAgent, type Agent, type Refusal, type Result } from "./support/agent.ts";
import { startDnsServer, type DnsServer } from "./support/dns-server.ts";
import { allNumbered } from "./support/event-log.ts";
import type { Category, InventoryItem, Order, Pet } from "./support/models.ts";
import { examplePicture } from "./support/pictures.ts";
import { ask, startService, type TestService } from "./support/service.ts";
import { visitSite } from "./support/storefront.ts";
import { until } from "./support/until.ts";
import { startReceiver, type Receiver } from "./support/webhooks.ts";

type Page<T> = { items: T[]; next: string | number | null };
type Profile = { description: string; price: { amount: number }; photos: { id: number; alt: string; url: string }[] };
type Domain = { hostname: string; status: string; record: { type: "CNAME"; value: string }; problems: { code: string }[] };
type Storefront = { name: string; colour: string; tagline: string | null; url: string; startPage: boolean };

let shop: TestService;
let dns: DnsServer;
let receiver: Receiver;
let agent: Agent;
const pictures = createServer((request, response) => {
  if (request.url === "/rex.jpg") response.writeHead(200).end(examplePicture);
  else response.writeHead(404).end();
});

before(async () => {
  dns = await startDnsServer();
  receiver = await startReceiver();
  pictures.listen(0, "127.0.0.1");
  await once(pictures, "listening");
  shop = await startService({ env: { WEBHOOK_PRIVATE_ADDRESSES: "on", DNS_SERVERS: dns.address } });
  const { key } = await shop.administration["keys.create"]({ account: shop.accountId, scopes: [...everyScope] });
  agent = await openAgent(shop.address, key);
});
after(async () => {
  await agent.close();
  await shop.close();
  await receiver.close();
  pictures.close();
  await dns.close();
});

const everyScope = [
  "catalogue:read catalogue:write orders:read orders:write inventory:read inventory:write publishing:read publishing:write",
  "events:read webhooks:read webhooks:write account:read contacts:read contacts:write keys:read keys:write",
].flatMap((line) => line.split(" "));

test("an agent plays a day of a shop with nothing but its tools and their results", async (t) => {
  let rex: Pet;
  await t.test("a category and a pet; a wrong value is refused with the argument's name", async () => {
    const { data: dogs } = await agent.act<Category>("Adds a category", { name: "Dogs" });
    const refused = await agent.refusal("Adds a pet to a category", { name: "", categoryId: dogs.id });
    assert.deepEqual(
      refused.details?.map(({ path }) => path),
      ["body.name"],
    );
    ({ data: rex } = await agent.act<Pet>("Adds a pet to a category", { name: "Rex", categoryId: dogs.id, idempotencyKey: "rex" }));
    const { data: again } = await agent.act<Pet>("Adds a pet to a category", { name: "Rex", categoryId: dogs.id, idempotencyKey: "rex" });
    assert.equal(again.id, rex.id);
    const { ifMatch } = await agent.act<Page<Pet>>("The pets that pass all given filters", { id: [rex.id] });
    const renamed = { petId: rex.id, name: "Rex the Dog", ifMatch };
    assert.equal((await agent.call<Pet>("updatePet", renamed)).data.name, "Rex the Dog");
    assert.equal((await agent.call<Refusal>("updatePet", renamed)).data.code, "precondition_failed");
  });

  await t.test("stock: the refusal for a pet that is not tracked names the tool that begins to track it", async () => {
    const refused = await agent.refusal("Adds units to the stock", { petId: rex.id, delta: 1 });
    const [name = ""] = agent.namedIn(refused.message);
    const { data: entry } = await agent.call<InventoryItem>(name, { petId: rex.id, quantity: 2 });
    assert.deepEqual(entry, { petId: rex.id, quantity: 2, status: "available" });
    assert.equal((await agent.act<InventoryItem>("Adds units to the stock", { petId: rex.id, delta: 1 })).data.quantity, 3);
  });

  await t.test(
    "a profile: the refusal to change one that is not there names the tool that creates it; a photo comes from the web",
    async () => {
      const price = { amount: 49_000, currency: "EUR" };
      const missing = await agent.call<Refusal>("updateProfile", { petId: rex.id, price });
      const [name = ""] = agent.namedIn(missing.data.message);
      await agent.call(name, { petId: rex.id, description: "A friendly dog.", price });
      const origin = `http://127.0.0.1:${(pictures.address() as AddressInfo).port}`;
      const photo = { petId: rex.id, alt: "Rex on a lawn" };
      const tried = await agent.act("Adds a photo that is on the web", { ...photo, url: `${origin}/rex.jpg`, dryRun: true });
      assert.match(tried.texts.join(" "), /nothing has changed/);
      await agent.act("Adds a photo that is on the web", { ...photo, url: `${origin}/rex.jpg` });
      const refused = await agent.refusal("Adds a photo that is on the web", { ...photo, url: `${origin}/none.jpg` });
      assert.deepEqual([refused.code, refused.details?.[0]?.path], ["invalid_request", "body.url"]);
      const { data: profile } = await agent.act<Profile>("photos of a pet that buyers see", { petId: rex.id });
      assert.deepEqual([profile.price.amount, profile.photos.map(({ alt }) => alt)], [49_000, ["Rex on a lawn"]]);
      assert.equal((await visitSite(profile.photos[0]!.url, new URL(profile.photos[0]!.url).pathname)).status, 200);
    },
  );

  await t.test("a webhook: its secret is shown once, and marked", async () => {
    const made = await agent.act<{ id: number; secret: string }>("Sends events from now on to a URL", {
      url: receiver.url,
      types: ["order.*"],
      idempotencyKey: "hook",
    });
    assert.deepEqual(made.secrets, ["secret"]);
    assert.match(made.texts.join(" "), /`secret` is a secret that is shown only here/);
    const read = await agent.act<object>("One webhook endpoint", { webhookId: made.data.id });
    assert.ok(!("secret" in read.data) && read.secrets.length === 0);
    const kept = JSON.stringify(await shop.db.query(sql`SELECT * FROM idempotency`));
    assert.ok(kept.includes("/v1/webhooks") && !kept.includes(made.data.secret));
  });

  await t.test(
    "an order without an id holds a unit; more than are free is refused; it is changed by its version, and fulfilled",
    async () => {
      const { data: order, ifMatch } = await agent.act<Order>("Places an order", { petId: rex.id, quantity: 2 });
      assert.ok(order.id! > 0 && order.complete === false);
      assert.equal((await agent.refusal("Places an order", { petId: rex.id, quantity: 2 })).code, "insufficient_stock");
      const changed = { orderId: order.id, quantity: 1, ifMatch };
      assert.equal((await agent.call<Order>("updateOrder", changed)).data.quantity, 1);
      assert.equal((await agent.call<Refusal>("updateOrder", changed)).data.code, "precondition_failed");
      assert.equal((await agent.call<Order>("updateOrder", { orderId: order.id, complete: true })).data.complete, true);
      assert.equal((await agent.refusal("Deletes an unfulfilled order", { orderId: order.id })).code, "order_complete");
      assert.equal((await agent.act<InventoryItem>("The stock of one pet", { petId: rex.id })).data.quantity, 2);
      await until(async () => receiver.got.length >= 3);
      assert.ok(receiver.got.every(({ body }) => body.type.startsWith("order.")));
    },
  );

  await t.test("the storefront is published, shown and changed, and a domain leads to it", async () => {
    const { data: project } = await agent.act<{ id: number }>("Creates a project", { name: "Rex & Co.", slug: "rex-and-co" });
    const on = { projectId: project.id };
    const early = await agent.refusal("Attaches your host name", { ...on, hostname: "www.rex-and-co.test" });
    assert.match(early.message, /publish its storefront first/);
    const hours = [{ days: "Mon – Fri", time: "9 – 18" }];
    const { data: first } = await agent.act<Storefront>("Serves pages of the shop's pets", { ...on, tagline: "Good friends", hours });
    assert.deepEqual([first.name, first.tagline, first.startPage], ["Rex & Co.", "Good friends", false]);
    assert.ok((await visitSite(first.url)).body.includes("Good friends"));
    const refused = await agent.refusal("Serves pages of the shop's pets", { ...on, colour: "red" });
    assert.deepEqual(
      refused.details?.map(({ path }) => path),
      ["body.colour"],
    );
    const { data: second } = await agent.act<Storefront>("Serves pages of the shop's pets", { ...on, colour: "#a0430a", tagline: null });
    assert.deepEqual([second.colour, second.tagline], ["#a0430a", null]);
    const { data: shown } = await agent.act<Storefront>("Serves pages of the shop's pets", on);
    assert.deepEqual(shown, second);
    const { data: deployments } = await agent.act<Page<object>>("A project's deployments", on);
    assert.equal(deployments.items.length, 2, "to show a storefront is no deployment");

    const { data: domain } = await agent.act<Domain>("Attaches your host name", { ...on, hostname: "www.rex-and-co.test" });
    const at = { ...on, hostname: domain.hostname };
    const { data: missing } = await agent.act<Domain>("Checks the DNS records now", at);
    assert.ok(
      missing.problems.some(({ code }) => code === "record_missing"),
      JSON.stringify(missing),
    );
    dns.set(domain.hostname, domain.record.type, [domain.record.value]);
    const { data: verified } = await agent.act<Domain>("Checks the DNS records now", at);
    assert.deepEqual([verified.status, verified.problems], ["verified", []], JSON.stringify(verified));
  });

  await t.test("the day is in the events, page by page, and a key for a helper is shown once", async () => {
    await allNumbered(shop.db);
    const types: string[] = [];
    for (let next: string | number | null = 0; next !== null;) {
      const { data }: Result<Page<{ type: string }>> = await agent.act("The account's events in order", { after: next, limit: 5 });
      types.push(...data.items.map(({ type }) => type));
      ({ next } = data);
    }
    for (const type of ["category.created", "pet.created", "order.created", "webhook.created", "deployment.ready"])
      assert.ok(types.includes(type), type);
    const made = await agent.act<{ id: number; key: string }>("Creates a key, with scopes", { name: "Helper", scopes: ["orders:read"] });
    assert.deepEqual(made.secrets, ["key"]);
    const helper = await openAgent(shop.address, made.data.key);
    t.after(() => helper.close());
    assert.deepEqual(
      helper.tools.map(({ name }) => name),
      ["listOrders", "getOrder"],
    );
    await agent.act("Revokes a key", { keyId: made.data.id });
  });
});

test("the list of tools of a key with every scope has at most 32,000 bytes as it is sent", async () => {
  const { key } = await shop.administration["keys.create"]({ account: shop.accountId, scopes: [...everyScope] });
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const { headers } = await ask(`${shop.address}/mcp`, "POST", { key, body });
  const bytes = Number(headers.get("content-length"));
  assert.ok(bytes > 20_000 && bytes <= 32_000, `${bytes} bytes`);
});

test("every tool that lists names the next page, and its last page names none", async () => {
  const lists = agent.tools.filter(({ name }) => name.startsWith("list"));
  const { data: projects } = await agent.call<Page<{ id: number }>>("listProjects");
  const { data: webhooks } = await agent.call<Page<{ id: number }>>("listWebhooks");
  const { data: dogs } = await agent.call<Page<Category>>("listCategories");
  const ids = { projectId: projects.items[0]!.id, webhookId: webhooks.items[0]!.id };
  await agent.act("Adds a category", { name: "Cats" });
  const { data: luna } = await agent.act<Pet>("Adds a pet to a category", { name: "Luna", categoryId: dogs.items[0]!.id });
  await agent.call("replaceInventoryItem", { petId: luna.id, quantity: 1 });
  await agent.act("Places an order", { petId: luna.id });
  await agent.act("Creates a project", { name: "Second", slug: "second-shop" });
  await agent.act("Sends events from now on to a URL", { url: receiver.url });
  await agent.act("Attaches your host name", { projectId: ids.projectId, hostname: "shop.rex-and-co.test" });
  for (const source of ["A", "B"]) await agent.act("Begins an import", { source, fileName: "pets.csv" });
  // a row may change between two calls: the place of a webhook moves with each delivery
  const identityOf = (row: { id?: unknown }): unknown => row.id ?? row;
  for (const { name, inputSchema } of lists) {
    const own = Object.fromEntries(Object.entries(ids).filter(([id]) => id in (inputSchema.properties ?? {})));
    const { data: all } = await agent.call<Page<object>>(name, { ...own, limit: 100 });
    assert.equal(all.next, null, name);
    assert.ok(all.items.length > 1, `${name} has no second row`);
    const place = name === "listEvents" ? "after" : "cursor";
    const { data: first } = await agent.call<Page<object>>(name, { ...own, limit: 1 });
    assert.deepEqual(first.items.map(identityOf), all.items.slice(0, 1).map(identityOf), name);
    const { data: second } = await agent.call<Page<object>>(name, { ...own, limit: 1, [place]: first.next });
    assert.deepEqual(second.items.map(identityOf), all.items.slice(1, 2).map(identityOf), name);
  }
});
