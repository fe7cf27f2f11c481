import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import type { Failure, Pet } from "./support/models.ts";
import { openRaw, sendRaw, type RawAnswer } from "./support/raw.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

let service: TestService;
before(async () => {
  // requests without a key count on the address, which has little room within a minute
  let now = Date.UTC(2026, 5, 1);
  service = await startService({ clock: () => (now += 60_000) });
  await newPet(service, (await newCategory(service, "Dogs")).id);
});
after(() => service.close());

/** A request with the service's key. */
const request = (target: string, ...more: string[]): string =>
  ["GET ", target, " HTTP/1.1\r\n", ["Host: localhost", `X-API-Key: ${service.key}`, ...more, "", ""].join("\r\n")].join("");

/** The specification's Error, with the headers of every answer, and no more of the connection. */
function requireTooLarge({ status, headers, body }: RawAnswer): void {
  const { message, ...error } = JSON.parse(body) as Failure;
  assert.deepEqual([status, error], [431, { code: "headers_too_large", status: 431 }]);
  assert.match(message, /16 KiB or 256 headers/);
  assert.equal(headers["content-type"], "application/json; charset=utf-8");
  assert.match(headers["connection"] ?? "", /^close$/i);
  assert.match(headers["x-request-id"] ?? "", /^[\w-]{8,}$/);
  for (const name of ["limit", "remaining", "reset"]) assert.match(headers[`x-ratelimit-${name}`] ?? "", /^\d+$/);
}

const headers = (count: number): string[] => Array.from({ length: count }, (_, i) => `x-${i}: a`);
/** Requests that are too large: the text after the path, and the header lines. */
const tooLarge: [title: string, target: string, more: string[]][] = [
  ["a query of 70 KB", `?q=${"a".repeat(70_000)}`, []],
  ["a path of 17 KiB", `/${"a".repeat(17_408)}`, []],
  ["one header of 100 KB", "", [`x: ${"a".repeat(100_000)}`]],
  ["a megabyte of headers", "", headers(80_000)],
  ["257 short headers", "", headers(255)],
  ["2,500 short headers", "", headers(2_500)],
];

for (const realm of ["/v1/pets", "/dashboard/v1/keys", "/v1/nothing"]) {
  for (const [title, target, more] of tooLarge) {
    test(`${title} at ${realm} return 431 headers_too_large, and the connection closes`, async () => {
      const connection = await openRaw(service.address);
      const closed = once(connection.socket, "close");
      await connection.write(request(realm + target, ...more));
      requireTooLarge(await connection.answer());
      connection.socket.end();
      await closed;
    });
  }
}

test("a request line with headers below 16 KiB, and 256 headers, are served", async () => {
  assert.equal((await sendRaw(service.address, request("/v1/pets", `x: ${"a".repeat(16_000)}`))).status, 200);
  assert.equal((await sendRaw(service.address, request("/v1/pets", ...headers(254)))).status, 200);
});

test("headers over the bound are never dropped silently: the key may be the last one", async () => {
  const text = ["GET /v1/pets HTTP/1.1", "Host: localhost", ...headers(300), `X-API-Key: ${service.key}`, "", ""].join("\r\n");
  requireTooLarge(await sendRaw(service.address, text));
});

test("a page is refused like the API", async () => {
  const answer = await sendRaw(service.address, request("/healthz", ...headers(300)));
  assert.deepEqual([answer.status, (JSON.parse(answer.body) as Failure).code], [431, "headers_too_large"]);
  assert.equal((await sendRaw(service.address, request("/nowhere", ...headers(300)))).status, 431);
});

test("a client that sends its headers in many packets reads its one 431 while it still sends", async () => {
  const connection = await openRaw(service.address);
  let received = "";
  connection.socket.setNoDelay(true);
  connection.socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
  const closed = once(connection.socket, "close");
  const packet = `x: ${"a".repeat(1_000)}\r\n`.repeat(16);
  await connection.write("GET /v1/pets HTTP/1.1\r\nHost: localhost\r\n");
  for (let i = 0; i < 100; i++) await connection.write(packet);
  await connection.write("\r\n");
  connection.socket.end();
  await closed;
  assert.equal(received.split("HTTP/1.1 431").length, 2, received);
});

test("a refused request uses up none of the key's quota", async () => {
  const { key } = await service.newAccount("free");
  const ask = () => service.ask<Pet[]>("GET", "/pets", { key });
  const first = Number((await ask()).headers.get("ratelimit")?.match(/"day";r=(\d+)/)?.[1]);
  await sendRaw(service.address, `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n${headers(300).join("\r\n")}\r\n\r\n`);
  assert.equal(Number((await ask()).headers.get("ratelimit")?.match(/"day";r=(\d+)/)?.[1]), first - 1);
  assert.equal((await made<Pet[]>(service, "GET", "/pets")).length, 1);
});

test("no answer of any operation has a header twice, except Set-Cookie and Link; a stream of events is not stored", async () => {
  const { paths } = JSON.parse(readFileSync("openapi.json", "utf8")) as { paths: Record<string, Record<string, object>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
  );
  const reads = operations.filter(([method]) => method === "GET");
  for (const [method, path] of [...reads, ...operations.filter(([one]) => one !== "GET")]) {
    const target = `${service.address}/v1${path.replaceAll(/\{\w+\}/g, "1")}`;
    const sent = requestHttp(target, { method, headers: { "x-api-key": service.key } }).end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    const given = answer.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    const repeated = given.filter((name, i) => given.indexOf(name) !== i && !["set-cookie", "link"].includes(name));
    assert.deepEqual(repeated, [], `${method} ${path}`);
    if (path === "/events/stream") assert.deepEqual([answer.statusCode, answer.headers["cache-control"]], [200, "no-store"]);
    answer.destroy();
  }
});
