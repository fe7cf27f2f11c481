import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import sql from "sql-template-tag";
import { checkRows, openFaults } from "../src/backup/check-database.ts";
import { loadIntoPostgres } from "../src/backup/postgres-dump.ts";
import { openPostgresDump } from "../src/backup/postgres-dump.ts";
import { openSqliteDump } from "../src/backup/sqlite-dump.ts";
import { loadIntoSqlite } from "../src/backup/sqlite-dump.ts";
import type { Database, Transaction } from "../src/platform/db/database.ts";
import { migrate, migrationsFor } from "../src/platform/db/migrate.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { insertion } from "../src/platform/db/statement.ts";
import { setStorageLimits } from "../src/platform/storage-quotas.ts";
import { countPets } from "../src/store/inventory/catalogue-counts.store.ts";
import { findPets } from "../src/store/pets/pet-ids.store.ts";
import { searchPets } from "../src/store/pets/pet-search.store.ts";
import { completeWords } from "../src/store/pets/pet-words.store.ts";
import { deletePet, insertPets, lockPet, lockPetWithEntry, updatePet } from "../src/store/pets/pets.store.ts";
import { nameKeyOf } from "../src/store/pets/pets.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Pet } from "./support/models.ts";
import { newDatabase } from "./support/postgres.ts";
import { startService, testOnce } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

const names = [
  "Rex",
  "Max the Second",
  "Rex Reto rexy",
  "Anna-Lena (vom Berg)",
  '50 % "off" \\ \u0001',
  "old A\u030a",
  "a\tb\u2028c",
  "x ".repeat(50),
];

const parts = ["a", "ab", "abc", "b", "ba", "é", "🐕", "abcdefgh"];
const separators = [" ", " ", "-", ".", '"', "'", "[", "]", "(", "\\", "\t", "\u2028", "\u1680", "\u0085"];
/** Of words that share their beginnings. */
const generatedName = fc
  .array(fc.constantFrom(...parts, ...separators), { maxLength: 60 })
  .map((pieces) => pieces.join("").slice(0, 200).toWellFormed());

test("a search follows a pet that is renamed, moved, sold and deleted", async (t) => {
  const shop = await startService();
  t.after(() => shop.close());
  const [dogs, cats] = [await newCategory(shop, "Dogs"), await newCategory(shop, "Cats")];
  const pet = await made<Pet>(shop, "POST", "/pets", { name: "Old Bella", categoryId: dogs.id });
  const found = async (query: string) => (await shop.ask<Pet[]>("GET", `/pets?${query}`)).body.map(({ id }) => id);
  assert.deepEqual(await found("q=bel"), [pet.id]);
  assert.deepEqual((await shop.ask("GET", `/pets?id=${pet.id}&q=bel`)).body, [pet]);
  await shop.ask("PATCH", `/pets/${pet.id}`, { body: { name: "Old Luna" } });
  assert.deepEqual([await found("q=bel"), await found("q=LUN")], [[], [pet.id]]);
  await shop.ask("PATCH", `/pets/${pet.id}`, { body: { status: "sold", categoryId: cats.id } });
  assert.deepEqual(await found(`q=lun&status=available&categoryId=${dogs.id}`), []);
  assert.deepEqual(await found(`q=lun&status=sold&categoryId=${cats.id}`), [pet.id]);
  await shop.ask("PUT", `/store/inventory/${pet.id}`, { body: { quantity: 2 } });
  assert.deepEqual(await found("q=lun&status=available"), [pet.id], "its status follows its stock");
  await shop.ask("DELETE", `/pets/${pet.id}`);
  assert.deepEqual(await found("q=lun"), []);
});

test("a search of characters that nobody sees finds nothing and counts nothing, and an empty one finds all", async (t) => {
  const shop = await startService();
  t.after(() => shop.close());
  const dogs = await newCategory(shop, "Dogs");
  await newPet(shop, dogs.id, { name: "Rex" });
  const found = async (query: string) => (await shop.ask<Pet[]>("GET", `/pets?${query}`)).body.map(({ name }) => name);
  for (const query of ["q=%E2%80%8B", "q=%C2%AD%E2%81%A0&status=available", "q=%E2%80%8B&id=1", "q=%E2%80%8B&sort=-name"])
    assert.deepEqual(await found(query), [], query);
  assert.equal((await countPets(shop.db, shop.accountId, { q: "\u200B" })).count, 0);
  assert.deepEqual([await found("q="), await found("q=%E2%80%8Bre")], [["Rex"], ["Rex"]]);
});

test("a batch is answered when a search finds its pets by each of their words, and all or none of it is there", async (t) => {
  const shop = await startService();
  t.after(() => shop.close());
  const dogs = await newCategory(shop, "Dogs");
  const batch = Array.from({ length: 60 }, (_, i) => ({
    name: Array.from({ length: 25 }, (_word, at) => `${i}w${at}`).join(" "),
    categoryId: dogs.id,
  }));
  assert.equal((await shop.ask("POST", "/pets/batch", { body: [...batch, { name: "Rex", categoryId: 999 }] })).status, 422);
  assert.deepEqual((await shop.ask("GET", "/pets")).body, []);
  const { body: pets } = await shop.ask<Pet[]>("POST", "/pets/batch", { body: batch });
  assert.deepEqual(await shop.db.query(sql`SELECT 1 FROM pet_words WHERE shared < 0`), []);
  assert.deepEqual((await shop.ask("GET", "/pets?q=59W24")).body, [pets[59]]);
});

for (const engine of ["sqlite", "postgres"] as const) {
  testOnce(`on ${engine}, names from before are searched as new ones are, and verify finds words that are missing or wrong`, async (t) => {
    const { db, checked } = await openEmpty(t, engine);
    const generated = fc.sample(generatedName, { numRuns: 200, seed: 1 });
    for (const [account, before] of [
      [1, 38], // without words
      [2, 42], // split character by character
      [3, Infinity],
    ] as const) {
      await migrate(
        db,
        0,
        migrationsFor(engine).filter(({ number }) => number < before),
      );
      await fill(db, account, [...names, ...generated]);
    }
    const before = await wordsOf(db, 1);
    assert.deepEqual(await wordsOf(db, 2), before);
    assert.deepEqual(await wordsOf(db, 3), before);
    assert.ok(before.includes("2 second 0") && before.includes("3 rexy 3") && before.includes("4 lena 0") && before.includes("7 c 0"));
    assert.ok(!before.some((word) => word.startsWith("1 ") || word.startsWith("8 ")), "one word, and the same word again, need no row");
    assert.deepEqual(await checked(), []);
    const whole = (await db.query<{ pet_id: number }>(sql`SELECT pet_id FROM pet_words WHERE account_id = 1`)).length;
    assert.ok(whole > 8);
    for (const change of [
      sql`DELETE FROM pet_words WHERE account_id = 1 AND pet_id = 2`,
      sql`UPDATE pet_words SET status = 'sold' WHERE account_id = 1 AND pet_id = 3`,
      sql`UPDATE pet_words SET word = 'other' WHERE account_id = 2 AND word = 'second'`,
    ]) {
      await db.write((tx) => tx.query(change));
    }
    const faults = await checked();
    for (const said of [/pet 2 of account 1 by the later words/, /pet 3 of account 1 by a word/, /pet 2 of account 2 by a word/])
      assert.ok(
        faults.some((fault) => said.test(fault)),
        `${said.source} in ${faults.join("; ")}`,
      );
  });
}

for (const engine of ["sqlite", "postgres"] as const) {
  testOnce(`on ${engine}, a batch of names with many words writes few of them itself, and every search finds all`, async (t) => {
    const { db, checked } = await openEmpty(t, engine);
    await migrate(db, 0);
    for (const account of [1, 2]) await fill(db, account, []);
    await db.write((tx) => setStorageLimits(tx, 1, { records: 1_000, publishedBytes: 0 }));
    const dear = Array.from({ length: 200 }, (_, i) =>
      Array.from({ length: 28 }, (_word, at) => `${i}w${at}`).join(i % 2 === 0 ? " " : "-"),
    );
    const batch = () =>
      db.write((tx) =>
        insertPets(
          tx,
          1,
          dear.map((name) => ({ name, categoryId: 1 })),
        ),
      );
    const pets = await batch();
    await db.write((tx) => insertAtOnce(tx, 2, dear, pets[0]!.id));
    const whole = await wordsOf(db, 2);
    const written = await wordsOf(db, 1);
    assert.ok(whole.length > 2_000 && written.length < 1_200, `${written.length} of ${whole.length} rows`);
    assert.deepEqual(await checked(), []);

    const [renamed, deleted, moved, last] = [pets[50]!, pets[51]!, pets[52]!, pets[79]!];
    await db.write(async (tx) => {
      for (const [pet, changed] of [
        [renamed, { name: "Sir Rex" }],
        [moved, { status: "sold" as const }],
      ] as const)
        await updatePet(tx, 1, (await lockPet(tx, 1, pet.id))!, { ...pet, ...changed });
    });
    await db.write(async (tx) => deletePet(tx, 1, (await lockPetWithEntry(tx, 1, deleted.id))!));
    const found = await searchPets(db, 1, { q: "79w20" }, undefined, 10);
    assert.deepEqual(found, [{ pet: last, word: "79w20" }]);
    const others = (words: string[]) => words.filter((word) => ![renamed, deleted].some(({ id }) => word.startsWith(`${id} `)));
    assert.deepEqual(others(await wordsOf(db, 1)), others(whole));
    assert.deepEqual(
      (await wordsOf(db, 1)).filter((word) => word.startsWith(`${renamed.id} `)),
      [`${renamed.id} rex 0`],
    );
    assert.deepEqual(await searchPets(db, 1, { q: "52w20", status: ["sold"] }, undefined, 10), [
      { pet: { ...moved, status: "sold" }, word: "52w20" },
    ]);
    assert.deepEqual(await checked(), []);

    const again = await batch();
    const query = { q: "79w20", id: [again[79]!.id] };
    assert.deepEqual(
      (await findPets(db, 1, query, undefined, 10)).map(({ word }) => word),
      ["79w20"],
      "by id too",
    );
    await batch();
    assert.equal((await countPets(db, 1, { q: "79w20" })).count, 3, "and counted");
    await batch();
    await assert.rejects(completeWords(db, 1, 0), { code: "unavailable" }, "no request waits without end");
    await db.write((tx) => tx.query(sql`DELETE FROM pet_words WHERE shared = -1`));
    assert.match((await checked()).join("; "), /will never find pet \d+ of account 1/);
  });
}

testOnce("other work gets turns while a transaction inserts names of many words", async (t) => {
  const { db } = await openEmpty(t, "sqlite");
  await migrate(db, 0, migrationsFor("sqlite"));
  await fill(db, 1, []);
  const dear = Array.from({ length: 33 }, (_, i) => `w${i}`).join(" ");
  const pets = insertion("pets", "pet_ids", {
    account_id: "BIGINT",
    name: "TEXT",
    name_key: "TEXT",
    category_id: "BIGINT",
    status: "TEXT",
    version: "BIGINT",
  });
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  await db.write(async (tx) => {
    setImmediate(count);
    await tx.insert(
      pets,
      Array.from({ length: 1_000 }, () => [1, dear, dear, 1, "available", 1]),
    );
    isOver = true;
  });
  assert.ok(turns > 3, `${turns} turns`);
});

testOnce("a copy on the same or the other engine builds the same words again", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "from.db");
  const db = openSqlite(file);
  await migrate(db, 0);
  await fill(db, 1, names);
  const words = await wordsOf(db, 1);
  await fill(db, 2, names);
  await db.write((tx) =>
    tx.query(sql`INSERT INTO pets (account_id, id, name, name_key, category_id, status, version, is_split)
    SELECT account_id, 100, name, name_key, 1, status, 1, FALSE FROM pets WHERE account_id = 2 AND id = 2`),
  );
  await db.close();
  const dump = openSqliteDump(file);
  assert.ok(dump.tables.every(({ name }) => name !== "pet_words"));
  const { url, drop } = await newDatabase();
  t.after(drop);
  await loadIntoSqlite(join(folder, "to.db"), dump);
  await loadIntoPostgres(url, dump);
  await dump.close();
  for (const copy of [openSqlite(join(folder, "to.db")), openPostgres(url, { onError: () => undefined })]) {
    assert.deepEqual(await wordsOf(copy, 1), words);
    assert.deepEqual(
      (await wordsOf(copy, 2)).filter((word) => word.startsWith("100 ")),
      ["100  -1"],
      "words that were to be written later still are",
    );
    await completeWords(copy, 2);
    assert.deepEqual(
      (await wordsOf(copy, 2)).filter((word) => word.startsWith("100 ")),
      ["100 second 0", "100 the 0"],
    );
    await copy.close();
  }
});

async function openEmpty(t: TestContext, engine: Database["engine"]): Promise<{ db: Database; checked: () => Promise<string[]> }> {
  if (engine === "sqlite") {
    const file = join(temporaryFolder(t), "test.db");
    const db = openSqlite(file);
    t.after(() => db.close());
    return { db, checked: async () => faultsIn(openSqliteDump(file)) };
  }
  const { url, drop } = await newDatabase();
  const db = openPostgres(url, { onError: () => undefined });
  t.after(async () => {
    await db.close();
    await drop();
  });
  return { db, checked: async () => faultsIn(await openPostgresDump(url)) };
}

type OpenDump = Awaited<ReturnType<typeof openSqliteDump | typeof openPostgresDump>>;

async function faultsIn(dump: OpenDump): Promise<string[]> {
  const faults = openFaults();
  await checkRows({ ...dump, sequences: {}, tables: dump.tables.filter(({ name }) => name === "pets") }, undefined, faults);
  await dump.close();
  return faults.lines.filter((line) => line.startsWith("the search"));
}

async function fill(db: Database, account: number, created: string[]): Promise<void> {
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${account}, 'Shop', 'pro', 0)`);
    await tx.query(sql`INSERT INTO categories (account_id, id, name, name_key, version) VALUES (${account}, 1, 'Dogs', 'dogs', 1)`);
    await insertAtOnce(tx, account, created, 1);
  });
}

/** Inserts pets one by one, as an earlier release does. */
async function insertAtOnce(tx: Transaction, account: number, created: string[], firstId: number): Promise<void> {
  for (const [at, name] of created.entries())
    await tx.query(sql`INSERT INTO pets (account_id, id, name, name_key, category_id, status, version)
      VALUES (${account}, ${firstId + at}, ${name}, ${nameKeyOf(name.trim())}, 1, 'available', 1)`);
}

async function wordsOf(db: Database, account: number): Promise<string[]> {
  const rows = await db.query<{ pet_id: number; word: string; shared: number }>(
    sql`SELECT pet_id, word, shared FROM pet_words WHERE account_id = ${account} ORDER BY pet_id, word`,
  );
  return rows.map(({ pet_id: id, word, shared }) => `${id} ${word} ${shared}`);
}
