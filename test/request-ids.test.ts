import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { temporaryFolder } from "./support/folder.ts";
import { addressOf, keyIn, spawnServer } from "./support/process.ts";
import { sendRaw } from "./support/raw.ts";
import { ask, startService, type Asked, type TestService } from "./support/service.ts";

let shop: TestService;
before(async () => {
  shop = await startService();
});
after(() => shop.close());

/** Every kind of answer. */
const requests: [title: string, method: string, path: string, asked?: Asked][] = [
  ["a success", "GET", "/v1/pets"],
  ["a 400", "GET", "/v1/pets?limit=0"],
  ["a 401", "GET", "/v1/pets", { key: "" }],
  ["a 404", "GET", "/v1/nothing"],
  ["a 405", "PUT", "/v1/pets"],
  ["a URL that cannot be routed", "GET", "/v1/pets/%zz"],
  ["a preflight", "OPTIONS", "/v1/pets", { headers: { origin: "https://a.example", "access-control-request-method": "GET" } }],
  ["the dashboard's calls", "GET", "/dashboard/v1/keys"],
  ["the description", "GET", "/openapi.json"],
  ["/healthz", "GET", "/healthz"],
  ["no page", "GET", "/nowhere"],
];

for (const [title, method, path, asked = {}] of requests) {
  test(`${title} answers with the caller's own X-Request-Id, and with a new one if that is invalid`, async () => {
    const idFor = async (id: string): Promise<string> => {
      const headers = { ...asked.headers, "x-request-id": id };
      const reply = await ask(shop.address + path, method, { key: shop.key, ...asked, headers });
      return reply.headers.get("x-request-id") ?? "";
    };
    for (const own of ["order-4711", "A.b_c-9", "x".repeat(128)]) assert.equal(await idFor(own), own);
    for (const wrong of ["x".repeat(129), "a b", "<script>", '{"level":60}']) assert.match(await idFor(wrong), /^[\w-]{8}-[0-9a-z]+$/);
  });
}

test("of two X-Request-Ids neither is taken", async () => {
  const answer = await sendRaw(shop.address, `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Request-Id: one\r\nX-Request-Id: two\r\n\r\n`);
  assert.match(answer.headers["x-request-id"] ?? "", /^[\w-]{8}-[0-9a-z]+$/);
});

test("a replay has the id of its own request", async () => {
  const send = (id: string) => shop.ask("POST", "/store/orders", { body: {}, headers: { "idempotency-key": "once", "x-request-id": id } });
  assert.equal((await send("first")).headers.get("x-request-id"), "first");
  const again = await send("second");
  assert.deepEqual([again.headers.get("idempotent-replayed"), again.headers.get("x-request-id")], ["true", "second"]);
});

test("the log has the caller's id and trace, and nothing of those that are not valid", async (t) => {
  const server = spawnServer(t, temporaryFolder(t));
  const address = await addressOf(server);
  const key = keyIn(server.out());
  const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const send = (headers: Record<string, string>) => ask(`${address}/v1/pets`, "GET", { key, headers });
  await send({ "x-request-id": "order-4711", traceparent: trace });
  await send({ "x-request-id": "order-4712", traceparent: "00-hush-hush-01" });
  const ours = (await send({ "x-request-id": "hush hush", traceparent: trace.toUpperCase() })).headers.get("x-request-id");
  const unread = await sendRaw(address, "hush\r\n\r\n");
  const traced: Record<string, unknown> = { "order-4711": trace, "order-4712": undefined, [ours ?? ""]: undefined };
  for (const [id, expected] of Object.entries(traced)) {
    const line = (await server.logged(({ requestId }) => requestId === id)) as { traceparent?: string };
    assert.equal(line.traceparent, expected, id);
  }
  assert.equal((await server.logged(({ requestId }) => requestId === unread.headers["x-request-id"])).status, 400);
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);
  assert.doesNotMatch(server.out(), /hush/);
});
