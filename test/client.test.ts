import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { nextCursor, openClient, pages, retryAfterMs } from "../client/http.ts";

type Answerer = (request: IncomingMessage, response: ServerResponse, nth: number) => void;

/** A client of a server that answers as the test says; the client's waits take no time and are noted, in ms. */
async function clientOf(t: TestContext, answer: Answerer) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response, requests.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const waits: number[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const wait = async (ms: number) => void waits.push(ms);
  const client = openClient({ url, key: "k", wait, now: () => Date.UTC(2030, 0, 1), random: () => 1 });
  return { client, requests, waits };
}

function reply(response: ServerResponse, status: number, body: unknown = {}, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

test("after a 429 the client waits as long as Retry-After says, and no shorter", async (t) => {
  const { client, waits } = await clientOf(t, (_, response, nth) => reply(response, nth === 1 ? 429 : 200, {}, { "retry-after": "42" }));
  assert.equal((await client.request("GET", "/pets")).status, 200);
  assert.deepEqual(waits, [42_000]);
});

test("a 429 that asks for longer than 15 minutes, or comes a sixth time, is given back", async (t) => {
  const long = await clientOf(t, (_, response) => reply(response, 429, {}, { "retry-after": "901" }));
  assert.equal((await long.client.request("GET", "/pets")).status, 429);
  assert.equal(long.requests.length, 1);
  const often = await clientOf(t, (_, response) => reply(response, 429, {}, { "retry-after": "1" }));
  assert.equal((await often.client.request("GET", "/pets")).status, 429);
  assert.equal(often.requests.length, 6);
});

test("where the connection breaks, tries come ever later and end", async (t) => {
  const { client, requests, waits } = await clientOf(t, (request) => request.socket.destroy());
  await assert.rejects(client.request("GET", "/pets"), { code: "unavailable", message: /cannot be reached/ });
  assert.equal(requests.length, 6);
  assert.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000]);
});

test("a POST is sent again only under an Idempotency-Key", async (t) => {
  const { client, requests } = await clientOf(t, (request, response, nth) => (nth < 3 ? request.socket.destroy() : reply(response, 201)));
  await assert.rejects(client.request("POST", "/pets", { body: {} }), { code: "unavailable" });
  assert.equal(requests.length, 1);
  const answer = await client.request("POST", "/pets", { body: {}, headers: { "idempotency-key": "a" } });
  assert.equal(answer.status, 201);
});

test("while an earlier try with the same key still runs, or on a 503, the client comes back", async (t) => {
  const answers = [409, 503, 201];
  const { client, requests } = await clientOf(t, (_, response, nth) =>
    reply(response, answers[nth - 1] ?? 500, { code: "idempotency_key_in_use" }),
  );
  const answer = await client.request("POST", "/pets", { body: {}, headers: { "idempotency-key": "a" } });
  assert.deepEqual([answer.status, requests.length], [201, 3]);
});

test("the pages of a list follow the link's cursor, and never to another host", async (t) => {
  const { client, requests } = await clientOf(t, (_, response, nth) =>
    reply(response, 200, [nth], nth < 3 ? { link: `<https://elsewhere.example/v1/pets?cursor=c${nth}&limit=100>; rel="next"` } : {}),
  );
  assert.deepEqual(await Array.fromAsync(pages(client, "/pets", { id: ["1", "2"] })), [[1], [2], [3]]);
  assert.deepEqual(requests, [
    "GET /v1/pets?id=1&id=2&limit=100",
    "GET /v1/pets?id=1&id=2&limit=100&cursor=c1",
    "GET /v1/pets?id=1&id=2&limit=100&cursor=c2",
  ]);
});

test("a list that gives the same cursor again is broken off", async (t) => {
  const { client } = await clientOf(t, (_, response) => reply(response, 200, [], { link: '</v1/pets?cursor=c>; rel="next"' }));
  await assert.rejects(Array.fromAsync(pages(client, "/pets")), { message: /does not come to an end/ });
});

test("a redirect is not followed: the key stays with the server that was named", async (t) => {
  const { client, requests } = await clientOf(t, (_, response) => reply(response, 302, {}, { location: "/elsewhere" }));
  assert.equal((await client.request("GET", "/pets")).status, 302);
  assert.equal(requests.length, 1);
});

test("an address with a user name, or of another protocol, is refused; a final /v1 is not doubled", () => {
  const open = (url: string) => openClient({ url, key: "k", wait: async () => {}, now: () => 0 });
  for (const url of ["http://a:b@localhost", "ftp://localhost", "localhost:8080", ""])
    assert.throws(() => open(url), { code: "invalid_request" });
  assert.equal(open("http://localhost:8080/v1/").url, "http://localhost:8080");
});

test("Retry-After is read as seconds and as a date, and Link among others (RFC 9110, RFC 8288)", () => {
  const now = Date.UTC(2030, 0, 1);
  const after = (value: string) => retryAfterMs(new Headers({ "retry-after": value }), now);
  assert.deepEqual([after("7"), after("Tue, 01 Jan 2030 00:00:09 GMT"), after("soon")], [7_000, 9_000, undefined]);
  const cursor = (link: string) => nextCursor(new Headers({ link }), "http://localhost");
  assert.equal(cursor('</a?cursor=x>; rel="prev", </a?cursor=a,b>; title="t"; rel="next"'), "a,b");
  assert.equal(cursor('</a?cursor=x>; rel="successor-version"'), undefined);
});
