import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { newMember, openBrowser } from "./support/dashboard.ts";
import { assertRefusal, headOf } from "./support/json-requests.ts";
import type { Failure, Pet } from "./support/models.ts";
import { breakOff, openRaw, sendRaw } from "./support/raw.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory } from "./support/shop.ts";

const mebibyte = 1_048_576;
const bytesMax = 65_536;
let shop: TestService;
let categoryId: number;
before(async () => {
  shop = await startService();
  ({ id: categoryId } = await newCategory(shop, "Dogs"));
});
after(() => shop.close());

const pet = (name = "Rex") => JSON.stringify({ name, categoryId });
/** A valid body of exactly so many bytes. */
const padded = (bytes: number) => pet().padEnd(bytes);

const head = (line: string, ...headers: string[]): string => headOf(shop.key, line, ...headers);

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

test("a body of 64 KiB is accepted, and one byte more returns 413", async () => {
  assert.equal((await shop.ask("POST", "/pets", { body: padded(bytesMax) })).status, 201);
  const { status, body } = await shop.ask<Failure>("POST", "/pets", { body: padded(bytesMax + 1) });
  assert.deepEqual([status, body.code, body.message], [413, "payload_too_large", "The body is larger than 64 KiB."]);
});

test("a batch of 1 MiB is accepted, and one byte more returns 413", async () => {
  const batch = `[${pet()}]`;
  assert.equal((await shop.ask("POST", "/pets/batch", { body: batch.padEnd(mebibyte) })).status, 201);
  assert.equal((await shop.ask("POST", "/pets/batch", { body: batch.padEnd(mebibyte + 1) })).status, 413);
});

test("a body in thousands of tiny chunks returns 400, and in larger chunks it is accepted", async () => {
  const body = padded(20_000);
  const inChunksOf = (bytes: number) => body.replaceAll(new RegExp(`.{1,${bytes}}`, "g"), chunk);
  const lines = head("POST /v1/pets", "transfer-encoding: chunked");
  assertRefusal(await sendRaw(shop.address, `${lines}${inChunksOf(1)}0\r\n\r\n`), 400, "invalid_request");
  assert.equal((await sendRaw(shop.address, `${lines}${inChunksOf(100)}0\r\n\r\n`)).status, 201);
});

test("after a body in too many chunks no later request of its connection is executed, and those of other connections are", async () => {
  const newest = (await shop.ask<Pet[]>("GET", "/pets?sort=-id&limit=1")).body;
  const one = head("POST /v1/pets", `content-length: ${pet().length}`) + pet();
  for (let i = 0; i < 10; i++) {
    const connection = await openRaw(shop.address);
    await connection.write(`${head("POST /v1/pets", "transfer-encoding: chunked")}${chunk(" ").repeat(3_000)}0\r\n\r\n${one}`);
    assert.equal((await connection.answer()).status, 400);
    await assert.rejects(connection.answer());
    connection.close();
  }
  assert.deepEqual((await shop.ask("GET", "/pets?sort=-id&limit=1")).body, newest);
  for (let i = 0; i < 10; i++) assert.equal((await sendRaw(shop.address, one)).status, 201);
});

test("a request that is refused before its body comes, or that needs no key, may have fewer chunks", async () => {
  const many = `${chunk(" ").repeat(500)}0\r\n\r\n`;
  const ask = async (line: string, ...headers: string[]): Promise<[status: number, isOpen: boolean]> => {
    const connection = await openRaw(shop.address);
    const lines = ["host: a", "content-type: application/json", "transfer-encoding: chunked", ...headers];
    await connection.write(`${line} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${many}GET /v1/pets HTTP/1.1\r\nhost: a\r\n\r\n`);
    const { status } = await connection.answer();
    const isOpen = await connection.answer().then(
      () => true,
      () => false,
    );
    connection.close();
    return [status, isOpen];
  };
  assert.deepEqual(await ask("POST /v1/pets"), [401, false]);
  assert.deepEqual(await ask("POST /dashboard/v1/sign-in", `origin: ${shop.address}`), [400, false]);
  assert.deepEqual(await ask("POST /v1/pets", `authorization: Bearer ${shop.key}`), [400, true]);
});

test("a deployment in thousands of tiny chunks returns 400 too, which the client can read while it still sends", async () => {
  const { body: project } = await shop.ask<{ id: number }>("POST", "/projects", { body: { name: "Chunks", slug: "chunks" } });
  const line = head(`POST /v1/projects/${project.id}/deployments`, "transfer-encoding: chunked");
  const connection = await openRaw(shop.address);
  connection.socket.on("error", (error) => assert.fail(error));
  const ended = once(connection.socket, "end");
  void connection.write(`${line.replace("application/json", "application/gzip")}${chunk("x").repeat(500_000)}`).catch(() => undefined);
  assertRefusal(await connection.answer(), 400, "invalid_request");
  await ended;
  connection.close();
});

for (const [line, status] of [
  ["POST /v1/pets", 401],
  ["GET /v1/nothing", 401],
  ["GET /healthz", 200],
  ["GET /openapi.json", 200],
] as const) {
  test(`${line} ends the connection of a client that sends tiny chunks without end, whatever it answers`, async () => {
    const connection = await openRaw(shop.address);
    await connection.write(`${line} HTTP/1.1\r\nhost: ${new URL(shop.address).host}\r\ntransfer-encoding: chunked\r\n\r\n`);
    assert.equal((await connection.answer({ head: true })).status, status);
    const closed = new Promise((resolve) => void connection.socket.once("close", resolve));
    const chunksMax = 11_000_000; // their bytes are those that larger chunks may have
    const tiny = chunk("x").repeat(1_000);
    let chunks = 0;
    const isTaken = () =>
      connection.write(tiny).then(
        () => true,
        () => false,
      );
    while (chunks < chunksMax && (await isTaken())) chunks += 1_000;
    assert.ok(chunks < chunksMax);
    await closed;
  });
}

test("a batch of 1,000 pets with the longest possible names is accepted", async () => {
  const body = JSON.stringify(Array.from({ length: 1_000 }, () => ({ name: "🐕".repeat(200), categoryId, status: "available" })));
  assert.equal((await shop.ask("POST", "/pets/batch", { body })).status, 201);
});

test("a body with a password may have 4 KiB, and one byte more returns 413", async () => {
  const stranger = openBrowser(shop);
  const member = await newMember(shop, { account: shop.accountId, email: "ada@example.com", role: "owner" });
  for (const [browser, method, path] of [
    [stranger, "POST", "/sign-in"],
    [stranger, "POST", "/sign-in/link"],
    [member, "PUT", "/password"],
    [member, "POST", "/confirm"],
  ] as const) {
    assert.equal((await browser.ask(method, path, "{}".padEnd(4_096))).status, 400, path);
    assert.equal((await browser.ask(method, path, "{}".padEnd(4_097))).status, 413, path);
  }
});

test("the same limit applies to a chunked body, which has no Content-Length", async () => {
  for (const [bytes, status] of [
    [bytesMax, 201],
    [bytesMax + 1, 413],
  ] as const) {
    const body = padded(bytes);
    const chunks = [body.slice(0, 20_000), body.slice(20_000, 40_000), body.slice(40_000)].map(chunk).join("");
    const answer = await sendRaw(shop.address, `${head("POST /v1/pets", "transfer-encoding: chunked")}${chunks}0\r\n\r\n`);
    assert.equal(answer.status, status, answer.body);
  }
});

test("a chunked body that is too large returns 413 before a wrong content type returns 415", async () => {
  const plain = head("POST /v1/pets", "transfer-encoding: chunked").replace("application/json", "text/plain");
  assertRefusal(await sendRaw(shop.address, `${plain}${chunk(" ".repeat(bytesMax + 1))}0\r\n\r\n`), 413, "payload_too_large");
  assertRefusal(await sendRaw(shop.address, `${plain}${chunk(pet())}0\r\n\r\n`), 415, "unsupported_media_type");
});

for (const [how, header] of [
  ["sends a Content-Length", `content-length: ${8 * mebibyte}`],
  ["sends in chunks", "transfer-encoding: chunked"],
] as const) {
  test(`a client that ${how} reads its 413 while it still sends, and can use the connection again`, async () => {
    const connection = await openRaw(shop.address);
    const block = "x".repeat(mebibyte);
    const part = header.includes("chunked") ? chunk(block) : block;
    await connection.write(head("POST /v1/pets", header));
    for (let i = 0; i < 4; i++) await connection.write(part);
    assertRefusal(await connection.answer(), 413, "payload_too_large");
    for (let i = 0; i < 4; i++) await connection.write(part);
    if (header.includes("chunked")) await connection.write("0\r\n\r\n");
    await connection.write(head("GET /v1/categories"));
    assert.equal((await connection.answer()).status, 200);
    connection.close();
  });
}

test("a client that still sends can read every refusal: no key, unknown path, unknown method", async () => {
  const body = "x".repeat(4 * mebibyte);
  const requests: [number, string, string][] = [
    [401, "unauthorized", head("POST /v1/pets").replace("Bearer psk_", "Bearer xxx_")],
    [404, "not_found", head("POST /v1/nothing")],
    [405, "method_not_allowed", head("PUT /v1/pets")],
  ];
  for (const [status, code, request] of requests) {
    const connection = await openRaw(shop.address);
    await connection.write(request.replace("\r\n\r\n", `\r\ncontent-length: ${body.length}\r\n\r\n`));
    await connection.write(body.slice(0, 2 * mebibyte));
    assertRefusal(await connection.answer(), status, code);
    await connection.write(body.slice(2 * mebibyte));
    await connection.write(head("GET /v1/categories"));
    assert.equal((await connection.answer()).status, 200, code);
    connection.close();
  }
});

test("Expect: 100-continue gets a 100, or a refusal before the body is sent", async () => {
  const taken = await openRaw(shop.address);
  await taken.write(head("POST /v1/pets", "expect: 100-continue", `content-length: ${pet().length}`));
  assert.equal((await taken.answer()).status, 100);
  await taken.write(pet());
  assert.equal((await taken.answer()).status, 201);
  taken.close();

  const large = head("POST /v1/pets", "expect: 100-continue", `content-length: ${bytesMax + 1}`);
  assertRefusal(await sendRaw(shop.address, large), 413, "payload_too_large");
  const keyless = head("POST /v1/pets", "expect: 100-continue", "content-length: 10").replace(/authorization: [^\r]*\r\n/, "");
  assertRefusal(await sendRaw(shop.address, keyless), 401, "unauthorized");
});

test("content types other than the operation's return 415, and so do other charsets and encodings", async () => {
  const refused = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/merge-patch+json",
    "application/jsonp",
    "json",
    "application/json;charset=latin1",
  ];
  for (const type of refused) {
    const { status, body } = await shop.ask<Failure>("POST", "/pets", { body: pet(), headers: { "content-type": type } });
    assert.deepEqual([status, body.code], [415, "unsupported_media_type"], type);
  }
  for (const type of [
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/json; charset=utf8",
    "application/json; v=1",
  ]) {
    assert.equal((await shop.ask("POST", "/pets", { body: pet(), headers: { "content-type": type } })).status, 201, type);
  }
  const zipped = await shop.ask("POST", "/pets", { body: gzipSync(pet()), headers: { "content-encoding": "gzip" } });
  assert.equal(zipped.status, 415);
});

test("a body without a content type returns 415, and a missing body 400", async () => {
  const untyped = head("POST /v1/pets", `content-length: ${pet().length}`).replace("content-type: application/json\r\n", "");
  assertRefusal(await sendRaw(shop.address, untyped + pet()), 415, "unsupported_media_type");
  const without = head("POST /v1/pets", "content-length: 0").replace("content-type: application/json\r\n", "");
  assertRefusal(await sendRaw(shop.address, without), 400, "invalid_request");
  assertRefusal(await sendRaw(shop.address, head("POST /v1/pets", "content-length: 0")), 400, "invalid_request");
});

test("a body that is not JSON in UTF-8 returns 400, never 500", async () => {
  const wrong = [
    "",
    "{",
    "nul",
    '{"name":}',
    "{'name': 1}",
    '{"a":1}{',
    "\u0000",
    '"\ud800',
    "[".repeat(60_000),
    `${"[".repeat(30_000)}${"]".repeat(30_000)}`,
  ];
  for (const body of wrong) {
    const { status, body: error } = await shop.ask<Failure>("POST", "/pets", { body });
    assert.deepEqual([status, error.code], [400, "invalid_request"], body.slice(0, 20));
  }
  for (const bytes of [
    [0xff, 0xfe],
    [0x22, 0xc3, 0x28, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
  ]) {
    assert.equal((await shop.ask("POST", "/pets", { body: Uint8Array.from(bytes) })).status, 400);
  }
  for (const body of ["null", "1", '"text"', "true", "[]", "[{}]"]) {
    assert.equal((await shop.ask("POST", "/pets", { body })).status, 400, body);
  }
});

test("a byte order mark before the JSON is ignored", async () => {
  const { status, body } = await shop.ask<Pet>("POST", "/pets", { body: `\uFEFF${pet("Mark")}` });
  assert.deepEqual([status, body.name], [201, "Mark"]);
});

test("a body that ends early changes nothing, and the next request is served", async () => {
  await breakOff(shop.address, shop.app.server, head("POST /v1/pets", "content-length: 1000") + pet("Half"));
  assert.deepEqual((await shop.ask("GET", "/pets?q=half")).body, []);
});

test("a body of a GET or DELETE is ignored", async () => {
  const body = "anything";
  const connection = await openRaw(shop.address);
  await connection.write(head("GET /v1/categories", `content-length: ${body.length}`) + body);
  assert.equal((await connection.answer()).status, 200);
  await connection.write(head("DELETE /v1/pets/999999", `content-length: ${body.length}`) + body);
  assert.equal((await connection.answer()).status, 404);
  connection.close();
});

test("HEAD returns the Content-Length of GET and no body", async () => {
  const connection = await openRaw(shop.address);
  await connection.write(head("HEAD /v1/categories"));
  const { status, headers } = await connection.answer({ head: true });
  assert.deepEqual([status, Number(headers["content-length"]) > 2], [200, true]);
  await connection.write(head("GET /v1/categories"));
  assert.equal((await connection.answer()).headers["content-length"], headers["content-length"]);
  connection.close();
});
