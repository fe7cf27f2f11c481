import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Failure } from "./support/models.ts";
import { sendRaw } from "./support/raw.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

/** 45 seconds before the minute's end, and an hour and 45 seconds before the day's. */
const start = Date.UTC(2027, 0, 1, 22, 59, 15);
const [minuteEnd, dayEnd] = [Date.UTC(2027, 0, 1, 23) / 1000, Date.UTC(2027, 0, 2) / 1000];
let now = start;
let shop: TestService;
let etag: string;
before(async () => {
  shop = await startService({ clock: () => now, env: { TRUSTED_PROXIES: "127.0.0.1" } });
  const { id } = await newPet(shop, (await newCategory(shop, "Dogs")).id);
  etag = (await shop.ask("GET", `/pets?id=${id}`)).headers.get("etag") ?? "";
});
after(() => shop.close());

type Shown = Headers | Record<string, string>;
const header = (headers: Shown, name: string): string | null => (headers instanceof Headers ? headers.get(name) : (headers[name] ?? null));

function assertLimits(headers: Shown, what: string): void {
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    assert.match(header(headers, name) ?? "", /^\d+$/, `${what}: ${name}`);
  }
  assert.match(header(headers, "ratelimit") ?? "", /^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/, what);
  assert.match(header(headers, "ratelimit-policy") ?? "", /^"minute";q=\d+;w=60, "day";q=\d+;w=86400$/, what);
  assert.ok(header(headers, "x-request-id"), `${what}: x-request-id`);
}

test("every kind of response has the three headers", async () => {
  const kinds: [number, string, string, { body?: unknown; headers?: Record<string, string>; key?: string }][] = [
    [200, "GET", "/pets", {}],
    [200, "HEAD", "/pets", {}],
    [201, "POST", "/store/orders", { body: {} }],
    [204, "OPTIONS", "/pets", { key: "", headers: { origin: "https://example.com", "access-control-request-method": "GET" } }],
    [204, "OPTIONS", "/pets", {}],
    [304, "GET", "/pets?id=1", { headers: { "if-none-match": etag } }],
    [400, "GET", "/pets?limit=x", {}],
    [400, "GET", "/%zz", {}],
    [401, "GET", "/%zz", { key: "" }],
    [401, "GET", "/pets", { key: "" }],
    [401, "GET", "/nothing", { key: "" }],
    [404, "GET", "/nothing", {}],
    [404, "GET", "/pets/999", {}],
    [404, "GET", "/pets/", {}],
    [404, "GET", "", {}],
    [405, "PUT", "/pets", {}],
    [406, "GET", "/pets", { headers: { accept: "text/html" } }],
    [412, "DELETE", "/pets/1", { headers: { "if-match": '"x"' } }],
    [413, "POST", "/pets", { body: " ".repeat(1_048_577) }],
    [415, "POST", "/pets", { body: "a", headers: { "content-type": "text/plain" } }],
    [422, "POST", "/store/orders", { body: { petId: 999 } }],
  ];
  for (const [status, method, path, asked] of kinds) {
    const reply = await shop.ask(method, path, asked);
    assert.equal(reply.status, status, `${method} ${path}`);
    assertLimits(reply.headers, `${method} ${path}`);
  }
});

test("bytes that are not HTTP, and headers that are too large, get an Error with the three headers", async () => {
  const wrong: [number, string][] = [
    [400, "BREW /v1/pets HTTP/1.1\r\nhost: a\r\n\r\n"],
    [400, "GET /v1/pets HTTP/1.1\r\nno colon\r\n\r\n"],
    [400, "\u0016\u0003\u0001 not TLS\r\n\r\n"],
    [400, "POST /v1/pets HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n"],
    [400, "POST /v1/pets HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n"],
    [431, `GET /v1/pets HTTP/1.1\r\nhost: a\r\nx: ${"x".repeat(20_000)}\r\n\r\n`],
  ];
  for (const [status, request] of wrong) {
    const answer = await sendRaw(shop.address, request);
    assert.equal(answer.status, status, request.slice(0, 60));
    assertLimits(answer.headers, request.slice(0, 60));
    const error = JSON.parse(answer.body) as Failure;
    assert.deepEqual([error.code, error.status], [status === 431 ? "headers_too_large" : "invalid_request", status]);
  }
});

test("requests without a Host, of HTTP/1.0, in absolute form, or with an unknown expectation have the three headers too", async () => {
  const lines: [number, string][] = [
    [400, "GET /v1/pets HTTP/1.0\r\n"],
    [200, "GET /v1/pets HTTP/1.0\r\nhost: a\r\n"],
    [200, "GET http://example.com/v1/pets HTTP/1.1\r\nhost: example.com\r\n"],
    [200, "GET /v1/pets HTTP/1.1\r\nhost: a\r\nexpect: miracles\r\n"],
    [200, "GET /v1/pets HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n"],
    [400, "GET /v1/pets HTTP/1.1\r\n"],
  ];
  for (const [status, line] of lines) {
    const answer = await sendRaw(shop.address, `${line}authorization: Bearer ${shop.key}\r\n\r\n`);
    assert.equal(answer.status, status, line);
    assertLimits(answer.headers, line);
  }
});

test("each plan has the specification's limits, and enterprise those that its operator sets", async () => {
  const figures = { free: [60, 1_000], pro: [300, 10_000], business: [1_000, 100_000], enterprise: [1_000, 100_000] };
  for (const [plan, [minute, day]] of Object.entries(figures)) {
    const { key } = await shop.newAccount(plan, {});
    const { headers } = await shop.ask("GET", "/pets", { key });
    assert.equal(headers.get("ratelimit-policy"), `"minute";q=${minute};w=60, "day";q=${day};w=86400`, plan);
  }
  const { key } = await shop.newAccount("enterprise", { perMinute: 7, perDay: 70 });
  assert.equal((await shop.ask("GET", "/pets", { key })).headers.get("ratelimit-policy"), '"minute";q=7;w=60, "day";q=70;w=86400');
});

test("the headers describe the window with fewer requests left, X-RateLimit-Reset in Unix seconds", async () => {
  const { key } = await shop.newAccount("enterprise", { perMinute: 3, perDay: 4 });
  const shown = async () => {
    const { headers, status } = await shop.ask("GET", "/pets", { key });
    return [status, ...["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`)))];
  };
  assert.deepEqual(await shown(), [200, 3, 2, minuteEnd]);
  assert.deepEqual(await shown(), [200, 3, 1, minuteEnd]);
  assert.deepEqual(await shown(), [200, 3, 0, minuteEnd]);
  now += 60_000;
  assert.deepEqual(await shown(), [200, 4, 0, dayEnd], "the day, which has fewer left");
  now = start;
});

test("a refused request gets 429 with Retry-After in whole seconds, rounded up, and uses up neither window", async () => {
  const { key } = await shop.newAccount("enterprise", { perMinute: 2, perDay: 3 });
  now = start + 500;
  for (let i = 0; i < 2; i++) await shop.ask("GET", "/pets", { key });
  for (let i = 0; i < 3; i++) {
    const { status, body, headers } = await shop.ask<Failure>("GET", "/pets", { key });
    assert.deepEqual([status, body.code, headers.get("retry-after")], [429, "rate_limit_exceeded", "45"]);
    assert.equal(headers.get("x-ratelimit-strikes-remaining"), String(19 - i));
    assertLimits(headers, "429");
  }
  now = start + 60_000;
  assert.equal((await shop.ask("GET", "/pets", { key })).status, 200, "the refused ones left the day's third request");
  const { status, headers } = await shop.ask("GET", "/pets", { key });
  assert.deepEqual([status, headers.get("retry-after")], [429, String(dayEnd - now / 1000)]);
  now = start;
});

test("of many concurrent requests, exactly as many pass as are left, however many keys send them", async () => {
  const { id, key } = await shop.newAccount("free");
  const { key: second } = await shop.administration["keys.create"]({ account: id });
  await shop.ask("GET", "/pets", { key });
  const replies = await Promise.all(Array.from({ length: 80 }, (_, i) => shop.ask("GET", "/pets", { key: i % 2 ? key : second })));
  const left = replies.filter(({ status }) => status === 200).map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
  assert.deepEqual(
    left.toSorted((a, b) => a - b),
    Array.from({ length: 59 }, (_, i) => i),
  );
});

test("HEAD and refusals count as requests; a preflight does not", async () => {
  const { key } = await shop.newAccount("free");
  const remaining = async (method: string, path: string, headers = {}) =>
    Number((await shop.ask(method, path, { key, headers })).headers.get("x-ratelimit-remaining"));
  assert.equal(await remaining("GET", "/pets"), 59);
  assert.equal(await remaining("HEAD", "/pets"), 58);
  assert.equal(await remaining("GET", "/nothing"), 57);
  assert.equal(await remaining("GET", "/pets?x=1"), 56);
  await shop.ask("OPTIONS", "/pets", { key, headers: { origin: "https://example.com", "access-control-request-method": "GET" } });
  assert.equal(await remaining("GET", "/pets"), 55);
});

test("a request without a valid key counts on its address, which does not affect valid keys", async () => {
  const from = (address: string, key = "") => shop.ask<Failure>("GET", "/pets", { key, headers: { "x-forwarded-for": address } });
  for (let i = 0; i < 60; i++) assert.equal((await from("203.0.113.7")).headers.get("x-ratelimit-remaining"), String(59 - i));
  const refused = await from("203.0.113.7");
  assert.deepEqual([refused.status, refused.body.code, refused.headers.get("retry-after")], [429, "rate_limit_exceeded", "45"]);
  assert.equal((await from("203.0.113.7", shop.key)).status, 200);
  assert.equal((await from("203.0.113.8")).status, 401);
});

test("an IPv6 address counts by its /64", async () => {
  const remaining = async (address: string) =>
    Number((await shop.ask("GET", "/pets", { key: "", headers: { "x-forwarded-for": address } })).headers.get("x-ratelimit-remaining"));
  assert.equal(await remaining("2001:db8:1:1::1"), 59);
  assert.equal(await remaining("2001:db8:1:1:ffff::2"), 58);
  assert.equal(await remaining("2001:db8:1:2::1"), 59);
});

test("X-Forwarded-For is believed from trusted proxies only", async (t) => {
  const alone = await startService({ clock: () => start });
  t.after(() => alone.close());
  const remaining = async (address: string) =>
    (await alone.ask("GET", "/pets", { key: "", headers: { "x-forwarded-for": address } })).headers.get("x-ratelimit-remaining");
  assert.deepEqual([await remaining("203.0.113.1"), await remaining("203.0.113.2")], ["59", "58"]);
});

test("a key that keeps sending after a 429 is banned for 5 minutes, and the account's other keys are not", async () => {
  const { id, key } = await shop.newAccount("enterprise", { perMinute: 1, perDay: 1_000 });
  const { key: other } = await shop.administration["keys.create"]({ account: id });
  const code = async (which: string) => (await shop.ask<Failure>("GET", "/pets", { key: which })).body.code;
  await shop.ask("GET", "/pets", { key });
  for (let i = 0; i < 20; i++) assert.equal(await code(key), "rate_limit_exceeded");
  const banned = await shop.ask<Failure>("GET", "/pets", { key });
  assert.deepEqual([banned.status, banned.body.code, banned.headers.get("retry-after")], [429, "key_banned", "300"]);
  now = start + 60_000;
  const later = await shop.ask<Failure>("GET", "/pets", { key });
  const figures = ["x-ratelimit-remaining", "retry-after"].map((name) => later.headers.get(name));
  assert.deepEqual([later.body.code, ...figures], ["key_banned", "0", "240"], "though the new minute has room");
  assert.equal((await shop.ask("GET", "/pets", { key: other })).status, 200);
  now = start + 300_000;
  assert.equal((await shop.ask("GET", "/pets", { key })).status, 200);
  now = start;
});

test("requests outside the API need no key and are not counted", async () => {
  for (const path of ["/healthz", "/readyz", "/openapi.json"]) {
    const response = await fetch(shop.address + path);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("x-ratelimit-limit"), null);
    await response.arrayBuffer();
  }
});

test("a write refused by the limits changes nothing", async () => {
  const { key } = await shop.newAccount("enterprise", { perMinute: 2, perDay: 1_000 });
  await made(shop, "POST", "/categories", { name: "One" }, key);
  await made(shop, "POST", "/categories", { name: "Two" }, key);
  assert.equal((await shop.ask("POST", "/categories", { key, body: { name: "Three" } })).status, 429);
  now = start + 60_000;
  assert.equal((await shop.ask<unknown[]>("GET", "/categories", { key })).body.length, 2);
  now = start;
});
