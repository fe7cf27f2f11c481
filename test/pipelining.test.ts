import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefusal, headOf } from "./support/json-requests.ts";
import type { Pet } from "./support/models.ts";
import { openRaw } from "./support/raw.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory } from "./support/shop.ts";

let shop: TestService;
let categoryId: number;
before(async () => {
  shop = await startService();
  ({ id: categoryId } = await newCategory(shop, "Dogs"));
});
after(() => shop.close());

const pet = (name: string) => JSON.stringify({ name, categoryId });
const head = (line: string, ...headers: string[]): string => headOf(shop.key, line, ...headers);

test("pipelined requests are answered in order", async () => {
  const connection = await openRaw(shop.address);
  const posts = ["One", "Two", "Three"].map((name) => head("POST /v1/pets", `content-length: ${pet(name).length}`) + pet(name));
  await connection.write(posts.join(""));
  for (const name of ["One", "Two", "Three"]) assert.equal((JSON.parse((await connection.answer()).body) as Pet).name, name);
  connection.close();
});

test("the first 32 pipelined requests are executed, and the connection closes after their responses", async () => {
  const connection = await openRaw(shop.address);
  const names = Array.from({ length: 2_000 }, (_, i) => `Piped ${String(i).padStart(4, "0")}`);
  void connection.write(names.map((name) => head("POST /v1/pets", `content-length: ${pet(name).length}`) + pet(name)).join(""));
  for (const name of names.slice(0, 32)) assert.equal((JSON.parse((await connection.answer()).body) as Pet).name, name);
  await assert.rejects(connection.answer(), /ended before an answer's headers: $/);
  assert.equal((await shop.ask<Pet[]>("GET", "/pets?q=piped&limit=100")).body.length, 32);
});

test("requests before one that is not HTTP, or has a broken body, get their own responses first", async () => {
  for (const broken of ["this is not HTTP\r\n\r\n", `${head("POST /v1/pets", "transfer-encoding: chunked")}no size\r\n`]) {
    const connection = await openRaw(shop.address);
    const posts = ["First", "Second"].map((name) => head("POST /v1/pets", `content-length: ${pet(name).length}`) + pet(name));
    await connection.write(posts.join("") + broken);
    for (const name of ["First", "Second"]) {
      const { status, body } = await connection.answer();
      assert.deepEqual([status, (JSON.parse(body) as Pet).name], [201, name]);
    }
    assertRefusal(await connection.answer(), 400, "invalid_request");
    await assert.rejects(connection.answer(), /ended before an answer's headers: $/);
  }
});

test("a connection may send any number of requests that are not pipelined, even after other connections were closed for theirs", async () => {
  const connection = await openRaw(shop.address);
  for (let i = 0; i < 100; i++) {
    await connection.write(head("GET /v1/pets?limit=1").repeat(4));
    for (let answer = 0; answer < 4; answer++) assert.equal((await connection.answer()).status, 200);
  }
  connection.close();
});

test("a request for an upgrade gets its response, and then the connection closes", async () => {
  const connection = await openRaw(shop.address);
  await connection.write(head("GET /v1/pets", "connection: upgrade", "upgrade: h2c") + head("GET /v1/pets"));
  const { status, headers } = await connection.answer();
  assert.deepEqual([status, headers["connection"]], [200, "close"]);
  await assert.rejects(connection.answer(), /ended before an answer's headers: $/);
});
