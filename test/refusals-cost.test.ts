import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cpuMicros, growthOf } from "./support/cpu.ts";
import { openBrowser } from "./support/dashboard.ts";
import type { Failure } from "./support/models.ts";
import { openRaw } from "./support/raw.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory } from "./support/shop.ts";

const time = { now: Date.UTC(2030, 0, 1) };
let shop: TestService;
let categoryId: number;
before(async () => {
  shop = await startService({ clock: () => time.now, env: { TRUSTED_PROXIES: "127.0.0.1" } });
  ({ id: categoryId } = await newCategory(shop, "Dogs"));
});
after(() => shop.close());

async function refused(path: string, body: string): Promise<Failure> {
  const answer = await shop.ask<Failure>("POST", path, { body });
  assert.equal(answer.status, 400, answer.body.message);
  return answer.body;
}

test("a name of any length and make is refused in linear time", async () => {
  for (const end of ["\\u0000", "\\ud800", ""]) {
    for (const character of ["a", " ", "🐕"]) {
      const of = (length: number) => () => refused("/categories", `{"name":"${character.repeat(length / 4)}b${end}${"c".repeat(300)}"}`);
      const growth = await growthOf(of, 15_000);
      assert.ok(growth <= 5, `${character} and ${end}: ${growth}`);
    }
  }
});

const hostileBatches: Record<string, string> = {
  "empty animals": `[${"{},".repeat(349_000)}{}]`,
  "animals, too many of them": `[${'{"name":"Rex","categoryId":1},'.repeat(34_000)}{}]`,
  "unknown fields": `[${`{${Array.from({ length: 90 }, (_, i) => `"field${i}":1`).join()}},`.repeat(900)}{}]`,
  "fields of one animal": `[{${Array.from({ length: 60_000 }, (_, i) => `"field${i}":1`).join()}}]`,
  "arrays in arrays": `${"[".repeat(500_000)}${"]".repeat(500_000)}`,
  "objects in objects": `${'{"a":'.repeat(170_000)}1${"}".repeat(170_000)}`,
  "numbers at the end of int64": `[${"9223372036854775807,".repeat(50_000)}1]`,
  "names of spaces": `[${`{"name":"${" ".repeat(1_000)}\\u0000","categoryId":1},`.repeat(999)}{}]`,
  "an unknown field with a long name": `[{"${"a".repeat(1_000_000)}":1}]`,
};

test("a refused batch of 1 MiB costs no more than an accepted one, and its refusal names at most 20 problems", async () => {
  const taken = JSON.stringify(Array.from({ length: 1_000 }, () => ({ name: "🐕".repeat(200), categoryId })));
  const cost = await cpuMicros(() => shop.ask("POST", "/pets/batch", { body: taken }));
  for (const [what, body] of Object.entries(hostileBatches)) {
    assert.ok(body.length <= 1_048_576, what);
    const { details = [], message } = await refused("/pets/batch", body);
    assert.ok(details.length <= 20 && message.length < 400, what);
    const hostile = await cpuMicros(() => refused("/pets/batch", body));
    assert.ok(hostile <= cost, `${what}: ${hostile} µs, and ${cost} µs for one that is taken`);
  }
});

test("a caller who has tried to sign in too often is refused before the body is read", async () => {
  const from = { "x-forwarded-for": "192.0.2.1" };
  for (const path of ["/sign-in", "/sign-in/link"]) {
    time.now += 5 * 60_000;
    for (let i = 0; i < 60; i++) assert.equal((await openBrowser(shop).ask("POST", path, "{}", from)).status, 400);
    const connection = await openRaw(shop.address);
    const lines = [`POST /dashboard/v1${path} HTTP/1.1`, `Host: ${new URL(shop.address).host}`, `Origin: ${shop.address}`];
    await connection.write([...lines, "X-Forwarded-For: 192.0.2.1", "Content-Length: 4096", "", ""].join("\r\n"));
    const { status, headers, body } = await connection.answer();
    assert.deepEqual([status, (JSON.parse(body) as Failure).code, headers["retry-after"]], [429, "rate_limit_exceeded", "300"]);
    connection.close();
    assert.equal((await openBrowser(shop).ask("POST", path, "{}", { "x-forwarded-for": "192.0.2.2" })).status, 400);
  }
});
