import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { openClient, type PetStore } from "../client/client.ts";
import { typesOf } from "../client/generate.ts";
import { limitLeft, retryAfterMs } from "../client/limits.ts";
import { nextCursor, pages, rows } from "../client/pages.ts";
import { refusal } from "../client/refusals.ts";

type Answerer = (request: IncomingMessage, response: ServerResponse, nth: number) => unknown;

/** A client of a server that answers as the test says; the client's waits move its clock at once and are noted, in ms. */
async function clientOf(t: TestContext, answer: Answerer) {
  const requests: string[] = [];
  const keys: (string | undefined)[] = [];
  const sentAt: number[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    keys.push(request.headers["idempotency-key"] as string | undefined);
    sentAt.push(now - start);
    void answer(request, response, requests.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const start = Date.UTC(2030, 0, 1);
  let now = start;
  const waits: number[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const wait = async (ms: number) => {
    waits.push(ms);
    now += ms;
  };
  const client = openClient({ url, key: "k", wait, now: () => now, random: () => 1 });
  const get = async () => (await client.GET("/pets")).response.status;
  return { client, get, requests, keys, sentAt, waits };
}

const made = { id: 1, name: "Rex", categoryId: 1, status: "available" };
const order = { petId: 1 };

function reply(response: ServerResponse, status: number, body: unknown = {}, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

test("after a 429 the client waits as long as Retry-After says, and no shorter", async (t) => {
  const { get, waits } = await clientOf(t, (_, response, nth) => reply(response, nth === 1 ? 429 : 200, [], { "retry-after": "42" }));
  assert.equal(await get(), 200);
  assert.deepEqual(waits, [42_000]);
});

test("while one request waits for Retry-After, the same client sends no other", async (t) => {
  const { get, sentAt } = await clientOf(t, (_, response, nth) =>
    nth === 2 ? reply(response, 429, {}, { "retry-after": "42" }) : reply(response, 200, [], { ratelimit: '"minute";r=1000;t=60' }),
  );
  assert.equal(await get(), 200);
  assert.deepEqual(
    await Promise.all(Array.from({ length: 40 }, get)),
    Array.from({ length: 40 }, () => 200),
  );
  // Requests in flight when the refusal came had been sent before it; all others waited.
  const early = sentAt.filter((ms) => ms === 0).length;
  assert.ok(early <= 1 + 16, `${early} were sent at once`);
  assert.ok(sentAt.every((ms) => ms === 0 || ms >= 42_000));
});

test("when an answer says that nothing is left, the next request waits for the new window without being refused first", async (t) => {
  const { get, sentAt } = await clientOf(t, (_, response, nth) =>
    reply(response, 200, [], { ratelimit: nth === 1 ? '"minute";r=0;t=17, "day";r=500;t=9000' : '"minute";r=9;t=60' }),
  );
  await Promise.all([get(), get(), get()]);
  assert.deepEqual(sentAt, [0, 17_000, 17_000]);
});

test("a 429 that asks for longer than 15 minutes, or comes a sixth time, is returned to the caller, and nothing more is sent meanwhile", async (t) => {
  const long = await clientOf(t, (_, response) => reply(response, 429, {}, { "retry-after": "901" }));
  assert.equal(await long.get(), 429);
  await assert.rejects(long.get(), { code: "rate_limit_exceeded", message: /limit is reached, for 16 more minutes/ });
  assert.equal(long.requests.length, 1);
  const often = await clientOf(t, (_, response) => reply(response, 429, {}, { "retry-after": "1" }));
  assert.equal(await often.get(), 429);
  assert.equal(often.requests.length, 6);
});

test("if the connection breaks, the client retries after growing pauses, and then gives up", async (t) => {
  const { get, requests, waits } = await clientOf(t, (request) => request.socket.destroy());
  await assert.rejects(get(), { code: "unavailable", message: /cannot be reached/ });
  assert.equal(requests.length, 6);
  assert.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000]);
});

test("a request whose answer breaks off is sent again", async (t) => {
  const { get } = await clientOf(t, (_, response, nth) => {
    if (nth > 1) return reply(response, 200, []);
    response.writeHead(200, { "content-length": "100" }).write("[", () => response.destroy());
  });
  assert.equal(await get(), 200);
});

test("every POST carries an Idempotency-Key, the same on each try and another for each call; the caller's own is kept", async (t) => {
  const { client, keys } = await clientOf(t, (request, response, nth) => (nth < 3 ? request.socket.destroy() : reply(response, 201, made)));
  assert.equal((await client.POST("/store/orders", { body: order })).response.status, 201);
  await client.POST("/store/orders", { body: order });
  await client.POST("/store/orders", { body: order, params: { header: { "Idempotency-Key": "mine" } } });
  await client.GET("/pets");
  const [first, second, third, other, mine, none] = keys;
  assert.match(first ?? "", /^[0-9a-f-]{36}$/);
  assert.deepEqual([second, third, mine, none], [first, first, "mine", undefined]);
  assert.notEqual(other, first);
});

test("while an earlier try with the same key still runs, or on a 503, the client sends the same body again", async (t) => {
  const answers = [409, 503, 201];
  const bodies: string[] = [];
  const { client } = await clientOf(t, async (request, response, nth) => {
    bodies.push(await text(request));
    reply(response, answers[nth - 1] ?? 500, { code: "idempotency_key_in_use" });
  });
  const { response } = await client.POST("/store/orders", { body: order });
  assert.equal(response.status, 201);
  assert.deepEqual(
    bodies,
    Array.from({ length: 3 }, () => JSON.stringify(order)),
  );
});

test("a PATCH that may have taken effect is not repeated; one that was refused by a limit, or has an Idempotency-Key, is", async (t) => {
  const patch = (client: PetStore, headers: Record<string, string> = {}) =>
    client.PATCH("/pets/{petId}", { params: { path: { petId: 1 } }, body: { name: "Rex" }, headers });
  const broken = await clientOf(t, (request) => request.socket.destroy());
  await assert.rejects(patch(broken.client), { code: "unavailable" });
  const busy = await clientOf(t, (_, response) => reply(response, 503));
  assert.equal((await patch(busy.client)).response.status, 503);
  assert.deepEqual([broken.requests.length, busy.requests.length, busy.waits], [1, 1, []]);
  for (const [status, headers] of [
    [429, {}],
    [503, { "idempotency-key": "mine" }],
  ] as const) {
    const again = await clientOf(t, (_, response, nth) => reply(response, nth === 1 ? status : 200, made));
    assert.equal((await patch(again.client, headers)).response.status, 200);
    assert.equal(again.requests.length, 2);
  }
});

test("an error has the code, the status and the request id of its answer", async (t) => {
  const { client } = await clientOf(t, (_, response) =>
    reply(response, 409, { code: "insufficient_stock", message: "Too few.", status: 409 }, { "x-request-id": "r1" }),
  );
  const error = refusal(await client.POST("/store/orders", { body: order }));
  assert.deepEqual(
    [error.name, error.code, error.message, error.status, error.requestId],
    ["PetStoreError", "insufficient_stock", "Too few.", 409, "r1"],
  );
});

test("the client waits as a 503's Retry-After says; a 503 that asks for over a minute is returned to the caller", async (t) => {
  const short = await clientOf(t, (_, response, nth) => reply(response, nth === 1 ? 503 : 200, [], { "retry-after": "30" }));
  assert.deepEqual([await short.get(), short.waits], [200, [30_000]]);
  const long = await clientOf(t, (_, response) => reply(response, 503, {}, { "retry-after": "61" }));
  assert.deepEqual([await long.get(), long.waits], [503, []]);
});

test("a call that its caller ends while it waits for its next try ends at once", async (t) => {
  const server = createServer((_, response) => reply(response, 503)).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const ended = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let isOver = false;
  const wait = async (): Promise<void> => {
    ended.abort();
    await new Promise(setImmediate);
    isOver = true;
  };
  await assert.rejects(openClient({ url, key: "k", wait }).GET("/pets", { signal: ended.signal }), { name: "AbortError" });
  assert.equal(isOver, false);
});

test("a call that its caller ends is not sent, nor sent again", async (t) => {
  const ended = new AbortController();
  const { client, requests } = await clientOf(t, () => ended.abort());
  await assert.rejects(client.GET("/pets", { signal: ended.signal }), { name: "AbortError" });
  await assert.rejects(client.GET("/pets", { signal: ended.signal }), { name: "AbortError" });
  assert.equal(requests.length, 1);
});

test("the pages of a list follow the link's cursor, and never to another host", async (t) => {
  const { client, requests } = await clientOf(t, (_, response, nth) =>
    reply(
      response,
      200,
      [{ ...made, id: nth }],
      nth < 3 ? { link: `<https://elsewhere.example/v1/pets?cursor=c${nth}&limit=100>; rel="next"` } : {},
    ),
  );
  const found = await Array.fromAsync(pages(client, "/pets", { id: [1, 2] }), (page) => page.map(({ id }) => id));
  assert.deepEqual(found, [[1], [2], [3]]);
  assert.deepEqual(requests, [
    "GET /v1/pets?limit=100&id=1&id=2",
    "GET /v1/pets?limit=100&id=1&id=2&cursor=c1",
    "GET /v1/pets?limit=100&id=1&id=2&cursor=c2",
  ]);
});

test("the rows of a list come one by one, and a page only when it is needed", async (t) => {
  const { client, requests } = await clientOf(t, (_, response, nth) =>
    reply(response, 200, [{ ...made, id: nth }], { link: `</v1/pets?cursor=c${nth}>; rel="next"` }),
  );
  const seen: number[] = [];
  for await (const { id } of rows(client, "/pets")) if (seen.push(id) === 2) break;
  assert.deepEqual([seen, requests.length], [[1, 2], 2]);
});

test("the client stops reading a list that returns the same cursor again", async (t) => {
  const { client } = await clientOf(t, (_, response) => reply(response, 200, [], { link: '</v1/pets?cursor=c>; rel="next"' }));
  await assert.rejects(Array.fromAsync(pages(client, "/pets")), { message: /does not end/ });
});

test("a redirect is not followed: the key stays with the server that was named", async (t) => {
  const { get, requests } = await clientOf(t, (_, response) => reply(response, 302, {}, { location: "/elsewhere" }));
  assert.equal(await get(), 302);
  assert.equal(requests.length, 1);
});

test("an address with a user name, or of another protocol, is refused; a final /v1 is not doubled", () => {
  const open = (url: string) => openClient({ url, key: "k" });
  for (const url of ["http://a:b@localhost", "ftp://localhost", "localhost:8080", ""])
    assert.throws(() => open(url), { code: "invalid_request" });
  assert.equal(open("http://localhost:8080/v1/").url, "http://localhost:8080");
});

test("of the windows that RateLimit names, the one with the fewest requests left counts, and of those used up the one that resets last", () => {
  const left = (ratelimit: string) => limitLeft(new Headers({ ratelimit }));
  assert.deepEqual(left('"minute";r=3;t=20, "day";r=940;t=5000'), { requests: 3, resetMs: 20_000 });
  assert.deepEqual(left('"minute";r=0;t=20, "day";r=0;t=5000'), { requests: 0, resetMs: 5_000_000 });
  assert.equal(left("soon"), undefined);
});

test("types are made of everything in a description, or not at all", () => {
  const described = (schema: object) => typesOf({ paths: {}, components: { schemas: { Thing: schema } } });
  assert.match(described({ type: "string", enum: ["a", null], nullable: true }), /Thing: "a" \| null;/);
  assert.match(described({ anyOf: [{ type: "string" }, { type: "integer" }] }), /Thing: string \| number;/);
  assert.match(described({ type: "string", "x-extensible-enum": ["a", "b"] }), /Thing: "a" \| "b";/);
  assert.throws(() => described({ oneOf: [{ type: "string" }] }), /oneOf/);
  assert.throws(() => described({ type: "array" }), /no type for a schema of type array/);
});

test("Retry-After is read as seconds and as a date, and Link among others (RFC 9110, RFC 8288)", () => {
  const now = Date.UTC(2030, 0, 1);
  const after = (value: string) => retryAfterMs(new Headers({ "retry-after": value }), now);
  assert.deepEqual([after("7"), after("Tue, 01 Jan 2030 00:00:09 GMT"), after("soon")], [7_000, 9_000, undefined]);
  const cursor = (link: string) => nextCursor(new Headers({ link }), "http://localhost");
  assert.equal(cursor('</a?cursor=x>; rel="prev", </a?cursor=a,b>; title="t"; rel="next"'), "a,b");
  assert.equal(cursor('</a?cursor=x>; rel="successor-version"'), undefined);
});
