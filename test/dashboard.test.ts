import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newMember, openBrowser, tokenIn, type Browser, type Invited, type Standing } from "./support/dashboard.ts";
import type { Category, Failure } from "./support/models.ts";
import { ask, startService, type TestService } from "./support/service.ts";
import { newCategory } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";

const time = { now: Date.UTC(2030, 0, 1) };
let shop: TestService;
let owner: Browser;
let member: Browser;
before(async () => {
  shop = await startService({ clock: () => time.now });
  owner = await newMember(shop, { account: shop.accountId, email: "owner@shop.example", role: "owner" });
  member = await newMember(shop, { account: shop.accountId, email: "member@shop.example", role: "member" });
});
after(() => shop.close());

/** Each test has the windows of a minute of its own. */
const nextMinute = () => (time.now += 60_000);

test("the dashboard calls the operations of the API, and its links stay below its own prefix", async () => {
  const made = await owner.ask<Category>("POST", "/categories", { name: "Dogs" });
  assert.deepEqual([made.status, made.headers.get("location")], [201, `/dashboard/v1/categories/${made.body.id}`]);
  await owner.ask("POST", "/categories", { name: "Cats" });
  const page = await owner.ask<Category[]>("GET", "/categories?limit=1");
  const next = /^<\/dashboard\/v1(\/categories\?[^>]+)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1] ?? "";
  assert.equal((await owner.ask<Category[]>("GET", next)).body[0]?.name, "Cats");
  assert.deepEqual((await shop.ask<Category>("GET", `/categories/${made.body.id}`)).body, made.body);
});

test("projects, their deployments and their domains are managed in the dashboard, and an upload is sent once", async () => {
  const project = await member.ask<{ id: number; slug: string }>("POST", "/projects", { name: "Rex", slug: "rex" });
  const path = `/projects/${project.body.id}`;
  assert.deepEqual([project.status, project.headers.get("location")], [201, `/dashboard/v1${path}`]);
  const site = await packSite({ "index.html": "<h1>Rex</h1>", "petstore.json": "{}" });
  const headers = { "content-type": "application/gzip", "idempotency-key": "upload" };
  const sent = await member.ask<{ id: number }>("POST", `${path}/deployments`, site, headers);
  assert.deepEqual([sent.status, sent.headers.get("location")], [202, `/dashboard/v1${path}/deployments/${sent.body.id}`]);
  const again = await member.ask("POST", `${path}/deployments`, site, headers);
  assert.deepEqual([again.body, again.headers.get("idempotent-replayed")], [sent.body, "true"]);
  await shop.publishing.idle();
  const deployments = await member.ask<{ status: string }[]>("GET", `${path}/deployments`);
  assert.deepEqual(
    deployments.body.map(({ status }) => status),
    ["ready"],
  );
  assert.equal((await member.ask("POST", `${path}/deployments/${sent.body.id}/promote`)).status, 200);

  const domain = await member.ask<{ hostname: string }>("POST", `${path}/domains`, { hostname: "www.rex.example" });
  assert.deepEqual([domain.status, domain.headers.get("location")], [201, `/dashboard/v1${path}/domains/www.rex.example`]);
  assert.deepEqual((await member.ask<{ hostname: string }[]>("GET", `${path}/domains`)).body[0]?.hostname, "www.rex.example");
  assert.equal((await member.ask("PATCH", `${path}/domains/www.rex.example`, { primary: true })).status, 409);
  assert.equal((await member.ask("POST", `${path}/domains/www.rex.example/verify`)).status, 200);
  assert.equal((await member.ask("DELETE", `${path}/domains/www.rex.example`)).status, 200);
  assert.equal((await member.ask("DELETE", path)).status, 204);
});

test("an upload from another origin, or from nobody, is refused", async () => {
  const { body: project } = await owner.ask<{ id: number }>("POST", "/projects", { name: "Safe", slug: "safe" });
  const path = `/projects/${project.id}/deployments`;
  const site = await packSite({ "index.html": "Evil", "petstore.json": "{}" });
  const type = { "content-type": "application/gzip" };
  assert.equal((await owner.ask("POST", path, site, { ...type, origin: "https://evil.example" })).status, 403);
  assert.equal((await openBrowser(shop).ask("POST", path, site, type)).status, 401);
  assert.deepEqual((await owner.ask("GET", path)).body, []);
});

test("an Idempotency-Key holds in the dashboard too, and never keeps a key that is shown once", async () => {
  const headers = { "idempotency-key": "dashboard" };
  const first = await owner.ask<Category>("POST", "/categories", { name: "Fish" }, headers);
  assert.deepEqual((await owner.ask<Category>("POST", "/categories", { name: "Fish" }, headers)).body, first.body);
  const one = await owner.ask<{ key: string }>("POST", "/keys", {}, headers);
  const other = await owner.ask<{ key: string }>("POST", "/keys", {}, headers);
  assert.notEqual(one.body.key, other.body.key);
});

test("caches store nothing of the dashboard, and other origins cannot read it", async () => {
  for (const reply of [
    await owner.ask("GET", "/session"),
    await openBrowser(shop).ask("GET", "/pets"),
    await owner.ask("GET", "/nothing"),
  ]) {
    assert.equal(reply.headers.get("cache-control"), "no-store");
    assert.equal(reply.headers.get("cross-origin-resource-policy"), "same-origin");
    assert.equal(reply.headers.get("access-control-allow-origin"), null);
  }
});

test("the dashboard knows no keys, and the API no sessions", async () => {
  const withKey = await ask(`${shop.address}/dashboard/v1/pets`, "GET", { key: shop.key });
  assert.equal(withKey.status, 401);
  const withCookie = await shop.ask("GET", "/pets", { key: "", headers: { cookie: owner.cookie } });
  assert.equal(withCookie.status, 401);
});

test("a write from another origin, or from none, is refused before any of it is carried out", async () => {
  const evil: Record<string, string>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:1" },
    { origin: shop.address.replace("http:", "https:") },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ];
  for (const headers of evil) {
    for (const [method, path] of [
      ["POST", "/categories"],
      ["POST", "/sign-in"],
      ["POST", "/sign-out"],
      ["DELETE", "/sessions"],
    ] as const) {
      const reply = await owner.ask<Failure>(method, path, method === "POST" ? { name: "Evil" } : undefined, headers);
      assert.deepEqual([reply.status, reply.body.code], [403, "forbidden"], `${path} ${JSON.stringify(headers)}`);
      assert.match(reply.headers.get("x-ratelimit-limit") ?? "", /^\d+$/);
    }
  }
  const bare = await ask(`${shop.address}/dashboard/v1/categories`, "POST", { headers: { cookie: owner.cookie }, body: { name: "Evil" } });
  assert.equal(bare.status, 403);
  assert.equal((await owner.ask("GET", "/session")).status, 200);
  const { body } = await owner.ask<Category[]>("GET", "/categories?limit=100");
  assert.ok(body.every(({ name }) => name !== "Evil"));
});

test("a page of another site cannot call the dashboard, but an address that the user types is answered", async () => {
  assert.equal((await owner.ask("GET", "/pets", undefined, { "sec-fetch-site": "cross-site" })).status, 403);
  assert.equal((await owner.ask("GET", "/pets", undefined, { "sec-fetch-site": "none" })).status, 200);
});

test("a person has 300 calls a minute, shown by the headers, which take nothing of the account's quota", async () => {
  const { id, key } = await shop.newAccount("free");
  const person = await newMember(shop, { account: id, email: "busy@shop.example", role: "owner" });
  nextMinute();
  const replies = await Promise.all(Array.from({ length: 301 }, () => person.ask<Failure>("GET", "/pets")));
  assert.equal(replies.filter(({ status }) => status === 200).length, 300);
  const refused = replies.find(({ status }) => status === 429);
  assert.equal(refused?.body.code, "rate_limit_exceeded");
  assert.deepEqual(
    ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"].map((name) => refused.headers.get(name)),
    ["300", "0", String((time.now + 60_000) / 1_000), "60"],
  );
  const first = await shop.ask("GET", "/pets", { key });
  assert.deepEqual([first.headers.get("x-ratelimit-limit"), first.headers.get("x-ratelimit-remaining")], ["60", "59"]);
  nextMinute();
  assert.equal((await person.ask("GET", "/pets")).status, 200);
});

test("an account whose quota is used up is still managed in the dashboard", async () => {
  const { id, key } = await shop.newAccount("free");
  const person = await newMember(shop, { account: id, email: "full@shop.example", role: "owner" });
  for (let i = 0; i < 61; i++) await shop.ask("GET", "/pets", { key });
  assert.equal((await person.ask("GET", "/pets")).status, 200);
  const { body } = await person.ask<{ minute: { remaining: number }; key?: unknown }>("GET", "/account");
  assert.deepEqual([body.minute.remaining, body.key], [0, undefined]);
});

test("members work in the store and see who has access; owners alone change that", async () => {
  nextMinute();
  assert.equal((await member.ask("POST", "/categories", { name: "Birds" })).status, 201);
  for (const path of ["/keys", "/members", "/account", "/usage", "/sessions"])
    assert.equal((await member.ask("GET", path)).status, 200, path);
  const { body: keys } = await member.ask<{ id: number }[]>("GET", "/keys");
  const { body: members } = await member.ask<{ id: number }[]>("GET", "/members");
  const changes: [string, string, unknown?][] = [
    ["POST", "/keys", {}],
    ["POST", `/keys/${keys[0]?.id}/rotate`, {}],
    ["DELETE", `/keys/${keys[0]?.id}`],
    ["POST", "/members", { email: "friend@shop.example" }],
    ["PATCH", `/members/${members[1]?.id}`, { role: "owner" }],
    ["POST", `/members/${members[0]?.id}/reset`],
    ["DELETE", `/members/${members[0]?.id}`],
  ];
  for (const [method, path, body] of changes) {
    const reply = await member.ask<Failure>(method, path, body);
    assert.deepEqual([reply.status, reply.body.code], [403, "forbidden"], `${method} ${path}`);
  }
  assert.deepEqual((await member.ask("GET", "/members")).body, members);
});

test("a key that is made, rotated or revoked in the dashboard is so for the API at once", async () => {
  nextMinute();
  const { body: made } = await owner.ask<{ id: number; key: string; scopes: string[] }>("POST", "/keys", { scopes: ["catalogue:read"] });
  assert.equal((await shop.ask("GET", "/pets", { key: made.key })).status, 200);
  assert.equal((await shop.ask("POST", "/pets", { key: made.key, body: {} })).status, 403);
  const rotated = await owner.ask<{ id: number; key: string; previous: { id: number } }>("POST", `/keys/${made.id}/rotate`, {
    overlapHours: 0,
  });
  assert.deepEqual([rotated.status, rotated.body.previous.id], [201, made.id]);
  assert.equal((await shop.ask("GET", "/pets", { key: made.key })).status, 401);
  assert.equal((await owner.ask("DELETE", `/keys/${rotated.body.id}`)).status, 204);
  assert.equal((await shop.ask("GET", "/pets", { key: rotated.body.key })).status, 401);
  assert.ok(!JSON.stringify((await owner.ask("GET", "/keys")).body).includes(rotated.body.key));
});

test("another account's resources are a 404, and are neither seen nor changed", async () => {
  nextMinute();
  const { id, key } = await shop.newAccount();
  const stranger = await newMember(shop, { account: id, email: "stranger@shop.example", role: "owner" });
  const mine = await newCategory(shop, "Mine alone");
  const { body: keys } = await owner.ask<{ id: number }[]>("GET", "/keys");
  const { body: members } = await owner.ask<{ id: number }[]>("GET", "/members");
  const { body: sessions } = await owner.ask<{ id: number }[]>("GET", "/sessions");
  const foreign: [string, string, unknown?][] = [
    ["GET", `/categories/${mine.id}`],
    ["POST", `/keys/${keys[0]?.id}/rotate`, {}],
    ["DELETE", `/keys/${keys[0]?.id}`],
    ["PATCH", `/members/${members[0]?.id}`, { role: "member" }],
    ["POST", `/members/${members[0]?.id}/reset`],
    ["DELETE", `/members/${members[0]?.id}`],
    ["DELETE", `/sessions/${sessions[0]?.id}`],
  ];
  for (const [method, path, body] of foreign) {
    const reply = await stranger.ask<Failure>(method, path, body);
    assert.deepEqual([reply.status, reply.body.code], [404, "not_found"], `${method} ${path}`);
  }
  assert.equal((await shop.ask("GET", "/pets", { key })).status, 200);
  assert.equal((await owner.ask("GET", "/session")).status, 200);
  assert.equal((await stranger.ask<unknown[]>("GET", "/members")).body.length, 1);
  assert.equal((await stranger.ask<unknown[]>("GET", "/keys")).body.length, 1);
});

test("a member whom an owner or operator removes, resets or signs out loses access at once, and a new role holds at once", async () => {
  nextMinute();
  const invited = await owner.ask<Invited>("POST", "/members", { email: "guest@shop.example" });
  assert.deepEqual([invited.status, invited.body.member.role], [201, "member"]);
  const guest = openBrowser(shop);
  await guest.ask("POST", "/sign-in/link", { token: tokenIn(invited.body.link) });
  const path = `/members/${invited.body.member.id}`;

  await owner.ask("PATCH", path, { role: "owner" });
  assert.equal((await guest.ask<Standing>("GET", "/session")).body.member.role, "owner");
  assert.equal((await guest.ask("POST", "/keys", {})).status, 201);
  await owner.ask("PATCH", path, { role: "member" });
  assert.equal((await guest.ask("POST", "/keys", {})).status, 403);

  const reset = await owner.ask<Invited>("POST", `${path}/reset`);
  assert.equal((await guest.ask("GET", "/session")).status, 401);
  await guest.ask("POST", "/sign-in/link", { token: tokenIn(reset.body.link) });
  assert.equal((await guest.ask("GET", "/session")).status, 200);
  await shop.administration["members.remove"]({ account: shop.accountId, email: "guest@shop.example" });
  assert.equal((await guest.ask("GET", "/session")).status, 401);
});

test("a sign-in link of a removed member signs nobody in", async () => {
  const { body } = await owner.ask<Invited>("POST", "/members", { email: "gone@shop.example" });
  assert.equal((await owner.ask("DELETE", `/members/${body.member.id}`)).status, 204);
  assert.equal((await openBrowser(shop).ask("POST", "/sign-in/link", { token: tokenIn(body.link) })).status, 401);
});

test("people see their own sessions, end one or all others, and nobody else's", async () => {
  nextMinute();
  const email = "many@shop.example";
  const here = await newMember(shop, { account: shop.accountId, email, role: "member", password: "a long password" });
  const there = openBrowser(shop);
  await there.ask("POST", "/sign-in", { email, password: "a long password" }, { "user-agent": "There/1.0" });
  const { body } = await here.ask<{ id: number; current: boolean; userAgent: string }[]>("GET", "/sessions");
  assert.equal(body.length, 2);
  const other = body.find(({ current }) => !current);
  assert.equal(other?.userAgent, "There/1.0");
  assert.equal((await here.ask("DELETE", `/sessions/${other.id}`)).status, 204);
  assert.equal((await there.ask("GET", "/session")).status, 401);
  await there.ask("POST", "/sign-in", { email, password: "a long password" });
  assert.equal((await here.ask("DELETE", "/sessions")).status, 204);
  assert.deepEqual([(await there.ask("GET", "/session")).status, (await here.ask("GET", "/session")).status], [401, 200]);
});

test("deleting an account deletes its members", async () => {
  const { id } = await shop.newAccount();
  const person = await newMember(shop, { account: id, email: "last@shop.example", role: "owner" });
  await shop.administration["accounts.delete"]({ id });
  assert.equal((await person.ask("GET", "/session")).status, 401);
});
