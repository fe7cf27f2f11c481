import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { findInside, foundMax, readMax } from "../src/store/pets/inside-names.store.ts";
import { newMember } from "./support/dashboard.ts";
import type { Pet } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory } from "./support/shop.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

type Found = { pets: Pet[]; read: number; next: number | null };

async function openShop(names: string[]) {
  const { id, key } = await service.newAccount();
  const category = await newCategory(service, "Dogs", key);
  for (let i = 0; i < names.length; i += 1_000) {
    const some = names.slice(i, i + 1_000).map((name) => ({ name, categoryId: category.id }));
    await made(service, "POST", "/pets/batch", some, key);
  }
  const member = await newMember(service, { account: id, email: `ann-${id}@shop.example`, role: "member" });
  const find = (query: Record<string, string>) => member.ask<Found>("GET", `/pets/inside?${new URLSearchParams(query).toString()}`);
  return { id, find };
}

test("a part of a word finds names, whatever their case, without those that a search of words finds", async () => {
  const { find } = await openShop(["Charlie", "Arlie", "Old Arlie", "MARLIEN", "Rex", "100% marl", "Karl-Arlo"]);
  const namesOf = async (q: string) => (await find({ q })).body.pets.map(({ name }) => name);
  assert.deepEqual(await namesOf("arlie"), ["Charlie", "MARLIEN"]);
  assert.deepEqual(await namesOf("ARL"), ["Charlie", "MARLIEN", "100% marl"]);
  assert.deepEqual(await namesOf("0% m"), ["100% marl"]);
  assert.deepEqual(await namesOf("_"), []);
  assert.deepEqual((await find({ q: "\u200b" })).body, { pets: [], read: 0, next: null });
});

test("only pets of the given status and category are found, and all are counted as read", async () => {
  const { find } = await openShop(["Charlie", "Marlies"]);
  const { pets } = (await find({ q: "arl" })).body;
  const [first] = pets;
  const idsOf = async (more: Record<string, string>) => {
    const { body } = await find({ q: "arl", ...more });
    return [body.pets.length, body.read];
  };
  assert.deepEqual(await idsOf({ status: "available", categoryId: String(first!.categoryId) }), [2, 2]);
  assert.deepEqual(await idsOf({ status: "sold" }), [0, 2]);
  assert.deepEqual(await idsOf({ categoryId: String(first!.categoryId + 1) }), [0, 2]);
  assert.equal((await find({ q: "arl", status: "lost" })).status, 400);
});

test("a text that is empty, too long or has a NUL character is refused", async () => {
  const { find } = await openShop(["Rex"]);
  for (const q of ["", "x".repeat(201), "a\0"]) assert.equal((await find({ q })).status, 400, JSON.stringify(q));
  assert.equal((await find({ q: "a", after: "x" })).status, 400);
});

test("a call stops at its bounds and says where, and the next one goes on there", async () => {
  const names = Array.from({ length: 120 }, (_, i) => (i % 2 ? "Charlie" : "Rex"));
  const { id, find } = await openShop(names);
  const found: number[] = [];
  let calls = 0;
  for (let next: number | null = 0; next !== null; calls++) {
    const { body }: { body: Found } = await find({ q: "harl", ...(next > 0 && { after: String(next) }) });
    assert.ok(body.pets.length <= foundMax);
    found.push(...body.pets.map((pet) => pet.id));
    next = body.next;
  }
  assert.deepEqual([found.length, new Set(found).size, calls], [60, 60, 2]);

  await service.db.write((tx) =>
    tx.query(sql`
      INSERT INTO pets (account_id, id, name, name_key, category_id, status, version)
      SELECT account_id, id + 1000000 + numbers.n * 1000, 'Rex', 'rex', category_id, status, version
      FROM pets CROSS JOIN (WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 170) SELECT n FROM counted) AS numbers
      WHERE account_id = ${id}`),
  );
  const far = await findInside(service.db, id, { q: "nowhere" });
  assert.deepEqual([far.pets, far.read], [[], readMax]);
  const rest = await findInside(service.db, id, { q: "nowhere", after: far.next ?? 0 });
  assert.deepEqual([rest.read, rest.next], [120 + 120 * 170 - readMax, null]);
});
