import assert from "node:assert/strict";
import { once } from "node:events";
import { closeSync, cpSync, openSync, readFileSync, readSync, statSync, writeSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { random, runs } from "./support/fault-runs.ts";
import { type Faulty, openFaultyShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Category, Pet } from "./support/models.ts";
import { createAccount } from "./support/process.ts";
import { until } from "./support/until.ts";

const paths = [
  "/pets?limit=100",
  "/pets?limit=20",
  "/pets/1",
  "/pets?id=2",
  "/pets?sort=name",
  "/events?limit=100",
  "/categories",
  "/store/orders",
];
const replayed = { "idempotency-key": "once" };

/** A stopped shop whose data is all in `petstore.db`. */
async function fill(t: TestContext) {
  const dataDir = join(temporaryFolder(t), "data");
  const shop = await openFaultyShop(t, dataDir, { key: await createAccount(dataDir) });
  const { id } = (await shop.send<Category>("POST", "/categories", { name: "Dogs" })).body;
  for (let i = 0; i < 60; i++)
    assert.equal((await shop.send<Pet>("POST", "/pets", { name: `Rex “${i}” "the" \\dog`, categoryId: id })).status, 201);
  assert.equal((await shop.send("POST", "/store/orders", {}, replayed)).status, 201);
  await shop.stop();
  return { dataDir, key: shop.key };
}

/** Flips a bit of a byte in a file. */
function flip(file: string, at: number, bit: number): void {
  const descriptor = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  readSync(descriptor, byte, 0, 1, at);
  byte[0]! ^= 1 << bit;
  writeSync(descriptor, byte, 0, 1, at);
  closeSync(descriptor);
}

/** The places of a text in a file. */
function placesOf(file: string, text: string): number[] {
  const bytes = readFileSync(file);
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
}

/** Returns the status of an answer, which must be JSON. */
async function statusOf({ address, key }: Faulty, path: string, method = "GET"): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, ...(method === "POST" && { ...replayed, "content-type": "application/json" }) };
  const sent = request(`${address}/v1${path}`, { method, headers });
  sent.end(method === "POST" ? "{}" : undefined);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk;
  assert.doesNotThrow(() => JSON.parse(text), `${path}: ${text.slice(0, 2_000)}`);
  return answer.statusCode!;
}

test("flipped bits in petstore.db: every answer is JSON, or a refusal with 5xx, and what cannot be parsed is reported", async (t) => {
  const { dataDir, key } = await fill(t);
  for (let round = 0; round < runs(3, 30); round++) {
    const folder = join(temporaryFolder(t), "data");
    cpSync(dataDir, folder, { recursive: true });
    const file = join(folder, "petstore.db");
    const [texts, { size }] = [placesOf(file, '{"'), statSync(file)];
    const shop = await openFaultyShop(t, folder, { key });
    for (let flips = 0; flips < 40; flips++) {
      const inText = texts[random(0, texts.length)]! + random(0, 150);
      flip(file, flips % 4 === 0 ? random(4_096, size - 4_096) : Math.min(inText, size - 1), random(0, 8));
    }
    for (const path of paths) {
      const status = await statusOf(shop, path);
      assert.ok([200, 404, 500, 503].includes(status), `${path}: ${status}`);
    }
    await statusOf(shop, "/store/orders", "POST");
    shop.server.kill("SIGKILL");
    await shop.server.ended;
  }
});

test("a flipped bit in the text of an animal, of an event and of a kept answer: 503, and the fault is reported", async (t) => {
  const { dataDir, key } = await fill(t);
  for (const [text, path, method] of [
    ['{"id":1,"name"', "/pets/1", "GET"],
    ['{"id":7,"name"', "/pets?limit=20", "GET"],
    ['"type":"pet.created"', "/events", "GET"],
    ['"complete":false', "/store/orders", "POST"],
  ] as const) {
    const folder = join(temporaryFolder(t), "data");
    cpSync(dataDir, folder, { recursive: true });
    const file = join(folder, "petstore.db");
    const shop = await openFaultyShop(t, folder, { key });
    for (const at of placesOf(file, text)) flip(file, at, 4);
    assert.equal(await statusOf(shop, path, method), 503, path);
    await until(async () => (await shop.fault("database_damage")) === 1);
    assert.match((await shop.ready()).body.reason ?? "", /^the database is damaged: .* is damaged$/);
    await shop.stop();
  }
});
