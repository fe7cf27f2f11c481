import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import type { Failure, Order } from "./support/models.ts";
import { breakOff, openRaw, sendRaw, type RawAnswer } from "./support/raw.ts";
import { startService, type TestService } from "./support/service.ts";
import { made } from "./support/shop.ts";

let service: TestService;
before(async () => {
  // requests without a key count on the address, which has little room within a minute
  let now = Date.UTC(2026, 5, 1);
  service = await startService({ clock: () => (now += 60_000) });
});
after(() => service.close());

/** The header lines of a request with the service's key. */
function lines(...more: string[]): string {
  return ["Host: localhost", `X-API-Key: ${service.key}`, ...more, "", ""].join("\r\n");
}

/** Asserts that the response is an Error of the specification and has the headers of every response. */
function requireError({ status, headers, body }: RawAnswer, expected: number, code: string): void {
  const { message, details, ...error } = JSON.parse(body) as Failure;
  assert.deepEqual([status, error], [expected, { code, status: expected }], message);
  assert.equal((details ?? []).length > 0, expected === 400);
  for (const name of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) assert.ok(headers[name], name);
}

/** Sends a text and returns all bytes that arrive until the service closes the connection. */
async function untilEnd(text: string): Promise<string> {
  const connection = await openRaw(service.address);
  let received = "";
  connection.socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
  const ended = once(connection.socket, "close");
  await connection.write(Buffer.from(text, "latin1"));
  await ended;
  return received;
}

const order = '{"quantity":7}';
const post = "POST /v1/store/orders HTTP/1.1\r\n";
const json = "Content-Type: application/json";

test("the names of headers are written as they are documented, also in replays and refusals", async () => {
  const name = JSON.stringify({ name: "Dogs" });
  const close = "Connection: close";
  const creation = `POST /v1/categories HTTP/1.1\r\n${lines(close, "Idempotency-Key: once", json, `Content-Length: ${name.length}`)}${name}`;
  const first = headNames(await untilEnd(creation));
  for (const shown of ["Location", "ETag", "X-Request-Id", "X-RateLimit-Limit"]) assert.ok(first.includes(shown), shown);
  const again = headNames(await untilEnd(creation));
  assert.deepEqual(again.toSorted(), [...first, "Idempotent-Replayed"].toSorted());
  const others: [string, string][] = [
    [`GET /v1/events?limit=1 HTTP/1.1\r\n${lines(close)}`, "Link"],
    [`GET /v1/events/stream?wait=0 HTTP/1.1\r\n${lines(close)}`, "X-Accel-Buffering"],
    [`GET /v1/pets/1 HTTP/1.1\r\n${lines(close)}`, "Sunset"],
    [`GET /v1/pets HTTP/1.1\r\nHost: localhost\r\n${close}\r\n\r\n`, "WWW-Authenticate"],
    [`GET /openapi.json HTTP/1.1\r\n${lines(close)}`, "ETag"],
  ];
  for (const [request, shown] of others) {
    const names = headNames(await untilEnd(request));
    assert.ok(names.includes(shown), `${shown} of ${names.join(", ")}`);
    for (const each of names) assert.match(each, /^[A-Z]/);
  }
});

/** The names of an answer's headers as they are on the wire. */
function headNames(answer: string): string[] {
  const [, ...head] = answer.slice(0, answer.indexOf("\r\n\r\n")).split("\r\n");
  return head.map((line) => line.slice(0, line.indexOf(":")));
}

const notHttp: Record<string, () => string> = {
  "a TLS handshake": () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "plain text": () => "what is this\r\n\r\n",
  "HTTP/2's preface": () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "an unknown method": () => `BREW /v1/pets HTTP/1.1\r\n${lines()}`,
  "a method in lower case": () => `get /v1/pets HTTP/1.1\r\n${lines()}`,
  "a CONNECT request": () => `CONNECT localhost:80 HTTP/1.1\r\n${lines()}`,
  "lines that end in LF alone": () => `GET /v1/pets HTTP/1.1\r\n${lines()}`.replaceAll("\r\n", "\n"),
  "NUL in a header": () => `GET /v1/pets HTTP/1.1\r\n${lines("X: a\0b")}`,
  "a space before a header's colon": () => `GET /v1/pets HTTP/1.1\r\n${lines("X : a")}`,
  "both Content-Length and Transfer-Encoding": () => post + lines(json, "Content-Length: 4", "Transfer-Encoding: chunked") + "0\r\n\r\n",
  "two lengths": () => post + lines(json, "Content-Length: 14", "Content-Length: 15") + order,
  "a length below zero": () => post + lines(json, "Content-Length: -1") + order,
  "a length in hexadecimal": () => post + lines(json, "Content-Length: 0x0e") + order,
  "chunked before another coding": () => post + lines(json, "Transfer-Encoding: chunked, identity") + "0\r\n\r\n",
  "an unknown coding": () => post + lines(json, "Transfer-Encoding: xchunked") + "0\r\n\r\n",
};

for (const [what, request] of Object.entries(notHttp)) {
  test(`${what} gets an Error and the connection closes; the bytes after it are not read as a request`, async () => {
    const orders = await made<Order[]>(service, "GET", "/store/orders?limit=100");
    const smuggled = `${post}${lines(json, `Content-Length: ${order.length}`)}${order}`;
    const received = await untilEnd(request() + smuggled);
    const [head = "", body = "", ...rest] = received.split("\r\n\r\n");
    assert.equal(rest.length, 0, received);
    const headers = Object.fromEntries(
      head.split("\r\n").map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()).split(": ") as [string, string]),
    );
    requireError({ status: Number(head.split(" ")[1]), headers, body }, 400, "invalid_request");
    assert.deepEqual(await made(service, "GET", "/store/orders?limit=100"), orders);
  });
}

test("a chunk with an invalid size is refused and changes nothing", async () => {
  const orders = await made<Order[]>(service, "GET", "/store/orders?limit=100");
  for (const chunk of [
    "zz\r\n{}\r\n0\r\n\r\n",
    "-2\r\n{}\r\n0\r\n\r\n",
    "ffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    `2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  ]) {
    requireError(await sendRaw(service.address, post + lines(json, "Transfer-Encoding: chunked") + chunk), 400, "invalid_request");
  }
  assert.deepEqual(await made(service, "GET", "/store/orders?limit=100"), orders);
});

test("a request without a Host is refused, also with HTTP/1.0, where one with a Host is served", async () => {
  const key = `X-API-Key: ${service.key}\r\n\r\n`;
  requireError(await sendRaw(service.address, `GET /v1/pets HTTP/1.1\r\n${key}`), 400, "invalid_request");
  requireError(await sendRaw(service.address, `GET /v1/pets HTTP/1.0\r\n${key}`), 400, "invalid_request");
  assert.equal((await sendRaw(service.address, `GET /v1/pets HTTP/1.0\r\nHost: a\r\n${key}`)).status, 200);
});

test("a method that a path does not have returns 405 with Allow; on an unknown path it returns 404", async () => {
  for (const method of ["TRACE", "PROPFIND", "LOCK", "REPORT", "PURGE", "DELETE", "PUT"]) {
    const answer = await sendRaw(service.address, `${method} /v1/pets HTTP/1.1\r\n${lines()}`);
    requireError(answer, 405, "method_not_allowed");
    assert.equal(answer.headers["allow"], "GET, HEAD, OPTIONS, POST");
    requireError(await sendRaw(service.address, `${method} /v1/nowhere HTTP/1.1\r\n${lines()}`), 404, "not_found");
  }
});

test("a URL in absolute form is served whatever its host; a path outside the API returns 404", async () => {
  for (const origin of ["http://localhost", "http://evil.example:99", "HTTPS://a@b"]) {
    assert.equal((await sendRaw(service.address, `GET ${origin}/v1/pets?limit=1 HTTP/1.1\r\n${lines()}`)).status, 200);
  }
  for (const target of ["//v1/pets", "*", "ftp://localhost/v1/pets", "/v1", "/v1/", "/V1/pets", "/v1/pets/1/2", "/v1/../v1/pets"]) {
    assert.equal((await sendRaw(service.address, `GET ${target} HTTP/1.1\r\n${lines()}`)).status, 404, target);
  }
});

test("pipelined requests are answered in order, each once", async () => {
  const connection = await openRaw(service.address);
  const requests = Array.from({ length: 30 }, (_, index) => {
    const body = JSON.stringify({ quantity: index + 1 });
    return `${post}${lines(json, `Content-Length: ${body.length}`)}${body}`;
  });
  await connection.write(requests.join(""));
  const ids = new Set<number>();
  for (const [index] of requests.entries()) {
    const { status, body } = await connection.answer();
    const { id, quantity } = JSON.parse(body) as Order;
    assert.deepEqual([status, quantity], [201, index + 1]);
    ids.add(Number(id));
  }
  assert.equal(ids.size, requests.length);
  connection.close();
});

test("the body of a GET is not read as the next request", async () => {
  const connection = await openRaw(service.address);
  const inner = `${post}${lines(json, `Content-Length: ${order.length}`)}${order}`;
  await connection.write(
    `GET /v1/account HTTP/1.1\r\n${lines(`Content-Length: ${inner.length}`)}${inner}GET /v1/pets HTTP/1.1\r\n${lines()}`,
  );
  assert.match((await connection.answer()).body, /"plan"/);
  assert.match((await connection.answer()).body, /^\[/);
  connection.close();
});

test("a request that arrives byte by byte is served", async () => {
  const connection = await openRaw(service.address);
  connection.socket.setNoDelay(true);
  for (const byte of `${post}${lines(json, `Content-Length: ${order.length}`)}${order}`) await connection.write(byte);
  assert.equal((await connection.answer()).status, 201);
  connection.close();
});

test("a client that disconnects in the middle of its body changes nothing", async () => {
  const orders = await made<Order[]>(service, "GET", "/store/orders?limit=100");
  for (const sent of ["", "{", '{"quantity":7']) {
    await breakOff(service.address, service.app.server, post + lines(json, `Content-Length: ${order.length}`) + sent);
  }
  assert.deepEqual(await made(service, "GET", "/store/orders?limit=100"), orders);
});

test("headers, requests and idle connections have time-outs", () => {
  const { headersTimeout, requestTimeout, keepAliveTimeout } = service.app.server;
  for (const timeout of [headersTimeout, requestTimeout, keepAliveTimeout]) assert.ok(timeout > 0);
  assert.ok(headersTimeout <= requestTimeout);
});

test("an unknown Expect header and an Upgrade header are ignored", async () => {
  const created = await sendRaw(service.address, `${post}${lines(json, "Expect: miracles", `Content-Length: ${order.length}`)}${order}`);
  assert.equal(created.status, 201);
  const upgrade = await sendRaw(service.address, `GET /v1/pets HTTP/1.1\r\n${lines("Connection: Upgrade", "Upgrade: websocket")}`);
  assert.equal(upgrade.status, 200);
});

test("a request to the API needs a key and counts, however its path is encoded", async () => {
  for (const target of ["/%761/nope", "/%761/%", "/%761", "/v1/%", "/%76%31/pets"]) {
    const { status, headers } = await sendRaw(service.address, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.deepEqual([status, headers["x-ratelimit-limit"]], [401, "60"], target);
  }
  const preflight = await sendRaw(
    service.address,
    "OPTIONS /v1/% HTTP/1.1\r\nHost: a\r\nOrigin: b\r\nAccess-Control-Request-Method: GET\r\n\r\n",
  );
  assert.equal(preflight.status, 204);
});

test("one Idempotency-Key is one request, however the path is encoded", async () => {
  const sent = ["/v1/store/orders", "/v1/store/%6frders", "/%761/store/orders"].map((target) =>
    sendRaw(
      service.address,
      `POST ${target} HTTP/1.1\r\n${lines("Idempotency-Key: spelled", "Content-Type: application/json", `Content-Length: ${order.length}`)}${order}`,
    ),
  );
  const answers = (await Promise.all(sent))
    .filter(({ status }) => status === 201)
    .map(({ body }) => (JSON.parse(body) as { id: number }).id);
  assert.equal(new Set(answers).size, 1);
});

test("the QUERY method returns 405, or 404 on an unknown path", async () => {
  for (const more of [[], ["Content-Type: garbage;;"]]) {
    const answer = await sendRaw(service.address, `QUERY /v1/pets HTTP/1.1\r\n${lines(...more)}`);
    assert.deepEqual([answer.status, answer.headers["allow"]], [405, "GET, HEAD, OPTIONS, POST"]);
    assert.equal((await sendRaw(service.address, `QUERY /v1/nope HTTP/1.1\r\n${lines(...more)}`)).status, 404);
  }
});

test("two Host headers, and transfer codings other than chunked, are refused", async () => {
  requireError(await sendRaw(service.address, `GET /v1/pets HTTP/1.1\r\n${lines("Host: b")}`), 400, "invalid_request");
  const coded = `POST /v1/store/orders HTTP/1.1\r\n${lines("Content-Type: application/json", "Transfer-Encoding: gzip, chunked")}0\r\n\r\n`;
  requireError(await sendRaw(service.address, coded), 400, "invalid_request");
});
