import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, startService, type TestService } from "./support/service.ts";

let shop: TestService;
before(async () => {
  shop = await startService();
});
after(() => shop.close());

const origin = "https://shop.example";
const listed = (value: string | null): string[] => (value ?? "").split(",").map((item) => item.trim().toLowerCase());

function preflight(path: string, method: string, headers: Record<string, string> = {}) {
  return shop.ask("OPTIONS", path, { key: "", headers: { origin, "access-control-request-method": method, ...headers } });
}

test("a preflight returns 204 without a key, for every path and method, with the limit headers", async () => {
  for (const path of ["/pets", "/pets/1", "/store/inventory/1/adjustments", "/nothing", ""]) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const { status, body, headers } = await preflight(path, method);
      assert.deepEqual([status, body, headers.get("access-control-allow-origin")], [204, "", "*"], path);
      assert.ok(listed(headers.get("access-control-allow-methods")).includes(method.toLowerCase()));
      for (const name of ["limit", "remaining", "reset"]) assert.match(headers.get(`x-ratelimit-${name}`) ?? "", /^\d+$/);
    }
  }
});

test("a preflight allows every header that the API reads", async () => {
  const asked = "authorization,x-api-key,content-type,if-match,if-none-match,idempotency-key,prefer,x-request-id,traceparent";
  const { headers } = await preflight("/pets", "POST", { "access-control-request-headers": asked });
  const allowed = listed(headers.get("access-control-allow-headers"));
  for (const name of asked.split(",")) assert.ok(allowed.includes(name), name);
});

test("preflights are not counted, however many they are", async () => {
  const remaining = async () => (await preflight("/pets", "GET")).headers.get("x-ratelimit-remaining");
  const first = await remaining();
  for (let i = 0; i < 70; i++) assert.equal(await remaining(), first);
});

test("any origin may read every response, refusals too, and credentials are not allowed", async () => {
  const answers = [
    await shop.ask("GET", "/pets", { headers: { origin } }),
    await shop.ask("GET", "/pets", { key: "", headers: { origin } }),
    await shop.ask("GET", "/nothing", { headers: { origin } }),
    await shop.ask("GET", "/%zz", { headers: { origin } }),
    await shop.ask("GET", "/pets"),
    await ask(`${shop.address}/openapi.json`, "GET", { headers: { origin } }),
  ];
  for (const { headers } of answers) {
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.equal(headers.get("access-control-allow-credentials"), null);
  }
});

test("the headers that a client needs are exposed", async () => {
  const { headers } = await shop.ask("GET", "/pets", { headers: { origin } });
  const exposed = listed(headers.get("access-control-expose-headers"));
  const limits = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit", "ratelimit-policy"];
  for (const name of [...limits, "retry-after", "sunset", "deprecation", "link", "etag", "location", "x-request-id"]) {
    assert.ok(exposed.includes(name), name);
  }
});

test("/v1 accepts only keys, never cookies", async () => {
  const reply = await shop.ask("GET", "/pets", { key: "", headers: { cookie: `session=${shop.key}; __Host-session=${shop.key}` } });
  assert.equal(reply.status, 401);
  assert.equal((await shop.ask("GET", "/pets")).headers.get("set-cookie"), null);
});
