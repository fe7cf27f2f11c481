import assert from "node:assert/strict";
import { test } from "node:test";
import sql, { raw } from "sql-template-tag";
import { plans } from "../src/callers/accounts/accounts.ts";
import type { Database, Transaction } from "../src/platform/db/database.ts";
import { migrate, migrationsFor, newMigration } from "../src/platform/db/migrate.ts";
import { readEventBytes } from "../src/platform/event-storage.ts";
import { addRecords, readStorage, removeRecords } from "../src/platform/storage-quotas.ts";
import { freeFilesOf } from "../src/publishing/projects/deployments.store.ts";
import { openEmpty, openEmptyOn } from "./support/databases.ts";

const first = newMigration(1, "shelves", "CREATE TABLE shelves (id BIGINT PRIMARY KEY)");
const second = newMigration(2, "boxes", "CREATE TABLE boxes (id BIGINT PRIMARY KEY); INSERT INTO boxes VALUES (7)");
const third = newMigration(3, "lids", "CREATE TABLE lids (id BIGINT PRIMARY KEY)");

const tables = async (db: Database) =>
  (
    await db.query<{ name: string }>(
      sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('shelves', 'boxes') ORDER BY name`,
    )
  ).map(({ name }) => name);

test("the project's migrations are numbered from 1 on, without a gap, and an engine has each number once", () => {
  const [sqlite, postgres] = (["sqlite", "postgres"] as const).map((engine) => migrationsFor(engine).map(({ number }) => number));
  assert.ok(sqlite && postgres);
  for (const numbers of [sqlite, postgres]) assert.equal(new Set(numbers).size, numbers.length);
  const all = [...new Set([...sqlite, ...postgres])].toSorted((a, b) => a - b);
  assert.deepEqual(
    all,
    all.map((_, i) => i + 1),
  );
});

test("a new database gets every migration once, and a second start none", async (t) => {
  const db = openEmpty(t);
  const names = migrationsFor("sqlite").map(({ name }) => name);
  assert.deepEqual(await migrate(db, 1_000), names);
  assert.deepEqual(await migrate(db, 2_000), []);
  const rows = await db.query(sql`SELECT name, applied_at FROM migrations ORDER BY number`);
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    names.map((name) => ({ name, applied_at: 1_000 })),
  );
});

test("a database of an older version gets the new migrations, in order, and keeps its data", async (t) => {
  const db = openEmpty(t);
  assert.deepEqual(await migrate(db, 1, [first]), ["shelves"]);
  await db.write((tx) => tx.query(sql`INSERT INTO shelves (id) VALUES (5)`));
  assert.deepEqual(await migrate(db, 2, [first, second]), ["boxes"]);
  assert.equal((await db.query(sql`SELECT id FROM shelves`)).length, 1);
});

test("a migration that fails leaves nothing of itself and all of those before it, and may be tried again", async (t) => {
  const db = openEmpty(t);
  const broken = newMigration(2, "boxes", `${second.script}; INSERT INTO nowhere VALUES (1)`);
  await assert.rejects(migrate(db, 1, [first, broken]), /nowhere/);
  assert.deepEqual(await tables(db), ["shelves"]);
  assert.deepEqual(await migrate(db, 2, [first, second]), ["boxes"]);
  assert.deepEqual(await tables(db), ["boxes", "shelves"]);
});

test("identifiers continue after those of data of the first version", async (t) => {
  const db = openEmpty(t);
  const given = (tx: Transaction, name: string) => tx.query<{ id: number }>(sql`SELECT nextval(${name}) AS id`);
  await migrate(db, 1, migrationsFor("sqlite").slice(0, 1));
  await db.write((tx) => given(tx, "pets"));
  await migrate(db, 2);
  const [row] = await db.write((tx) => given(tx, "pet_ids"));
  assert.equal(row?.id, 2);
});

test("keys of names from before their bound are cut to it, and shorter ones stay", async (t) => {
  const db = openEmpty(t);
  const bound = migrationsFor("sqlite").find(({ name }) => name === "name_keys");
  assert.ok(bound);
  await migrate(
    db,
    1,
    migrationsFor("sqlite").filter(({ number }) => number < bound.number),
  );
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (1, 'Shop', 'free', 0)`);
    await tx.query(sql`INSERT INTO categories (account_id, id, name, name_key, version) VALUES (1, 1, 'Dogs', 'dogs', 1)`);
    for (const [id, key] of ["rex", "🐕".repeat(200), "🐕".repeat(201)].entries()) {
      await tx.query(sql`
        INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) VALUES (1, ${id}, '', ${key}, 1, 'sold', 1)`);
    }
  });
  await migrate(db, 2);
  const keys = (await db.query<{ name_key: string }>(sql`SELECT name_key FROM pets ORDER BY id`)).map((row) => row.name_key);
  assert.deepEqual(keys, ["rex", "🐕".repeat(200), "🐕".repeat(200)]);
});

const history = (db: Database) =>
  db.query<{ number: number; name: string; hash: string | null }>(sql`SELECT number, name, hash FROM migrations ORDER BY number`);

const strangers: { title: string; wrote: Parameters<typeof newMigration>[]; reason: RegExp }[] = [
  {
    title: "of a newer version",
    wrote: [
      [1, "shelves", first.script],
      [2, "boxes", second.script],
      [3, "lids", third.script],
      [4, "keys", "SELECT 1"],
    ],
    reason: /^the data was written by a newer version of the program \(migration 0004 keys is unknown here, where 0003 is the last\)$/,
  },
  {
    title: "with another name at a number",
    wrote: [
      [1, "shelves", first.script],
      [2, "crates", second.script],
    ],
    reason:
      /^migration 0002 crates in the data is not the one of this program, whose migration of this number is boxes: another program wrote/,
  },
  {
    title: "with other SQL at a name",
    wrote: [
      [1, "shelves", first.script],
      [2, "boxes", `${second.script};`],
    ],
    reason:
      /^migration 0002 boxes in the data is not the one of this program, whose migration of this name has other SQL: another program wrote/,
  },
  {
    title: "with a gap",
    wrote: [
      [1, "shelves", first.script],
      [3, "lids", third.script],
    ],
    reason:
      /^migration 0002 boxes is missing in the data, which has 0003 lids: no release of this program wrote the data; start the program that did/,
  },
  {
    title: "with another name, and written by a newer version too",
    wrote: [
      [1, "shelves", first.script],
      [2, "crates", second.script],
      [9, "newest", "SELECT 1"],
    ],
    reason: /^migration 0002 crates in the data is not the one of this program/,
  },
];

for (const engine of ["sqlite", "postgres"] as const) {
  for (const { title, wrote, reason } of strangers) {
    test(`data ${title} is refused by the name of the migration, in one line, and left as it is: ${engine}`, async (t) => {
      const db = await openEmptyOn(engine, t);
      const migrations = wrote.map((one) => newMigration(...one));
      await migrate(db, 1, migrations);
      const before = await history(db);
      await assert.rejects(
        migrate(db, 2, [first, second, third]),
        (error: Error) => reason.test(error.message) && !error.message.includes("\n"),
      );
      assert.deepEqual(await history(db), before);
      assert.deepEqual(await migrate(db, 3, migrations), []);
    });
  }

  test(`rows of release 1.1.0, which stored no hash, get it from the migrations of the same number and name: ${engine}`, async (t) => {
    const db = await openEmptyOn(engine, t);
    await db.write(async (tx) => {
      await tx.script("CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)");
      await tx.script(first.script);
      await tx.query(sql`INSERT INTO migrations (number, name, applied_at) VALUES (1, 'shelves', 1)`);
    });
    const renamed = newMigration(1, "racks", first.script);
    await assert.rejects(migrate(db, 2, [renamed]), /0001 shelves in the data is not the one of this program/);
    assert.deepEqual(await migrate(db, 2, [first, second]), ["boxes"]);
    assert.deepEqual(
      (await history(db)).map(({ hash }) => hash),
      [first.hash, second.hash],
    );
    await db.write((tx) => tx.query(sql`INSERT INTO migrations (number, name, applied_at) VALUES (3, 'lids', 3)`)); // as 1.1.0 does
    assert.deepEqual(await migrate(db, 4, [first, second, third]), []);
    assert.deepEqual((await history(db)).at(-1)?.hash, third.hash);
  });
}

test("the hash of a migration does not depend on the line endings of the checkout", () => {
  assert.equal(newMigration(1, "a", "SELECT 1;\r\nSELECT 2;\r\n").hash, newMigration(1, "a", "SELECT 1;\nSELECT 2;\n").hash);
  assert.notEqual(newMigration(1, "a", "SELECT 1; SELECT 2;\n").hash, newMigration(1, "a", "SELECT 1;\nSELECT 2;\n").hash);
});

for (const engine of ["sqlite", "postgres"] as const) {
  test(`accounts of an earlier version start with the records they have; if these are above the plan's limit, they are the limit: ${engine}`, async (t) => {
    const db = await openEmptyOn(engine, t);
    const counted = migrationsFor(engine).findIndex(({ name }) => name === "storage_quotas");
    await migrate(db, 1, migrationsFor(engine).slice(0, counted));
    await db.write(async (tx) => {
      for (const [id, plan] of [...plans, "free"].entries()) {
        await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${id}, 'Shop', ${plan}, 1)`);
      }
      await tx.script(`
        INSERT INTO categories (account_id, id, name, name_key, version) VALUES (0, 1, 'A', 'a', 1), (1, 1, 'A', 'a', 1), (4, 1, 'A', 'a', 1);
        INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) VALUES (1, 1, 'B', 'b', 1, 'available', 1);
        INSERT INTO inventory (account_id, pet_id, quantity, held, status, version) VALUES (1, 1, 5, 0, 'available', 1);
        INSERT INTO orders (account_id, id, quantity, held, complete, version) VALUES (1, 1, 1, 0, FALSE, 1), (1, 2, 1, 0, TRUE, 1);
        INSERT INTO orders (account_id, id, quantity, held, complete, version)
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25010) SELECT 4, i, 1, 0, i > 25004, 1 FROM n`);
    });
    await migrate(db, 2);
    const use = async (id: number) => (await readStorage(db, id)).records;
    assert.deepEqual(await use(0), { limit: 25_000, used: 1, remaining: 24_999 });
    assert.deepEqual(await use(1), { limit: 250_000, used: 3, remaining: 249_997 });
    for (const id of [2, 3]) assert.deepEqual(await use(id), { limit: 5_000_000, used: 0, remaining: 5_000_000 });
    assert.deepEqual(await use(4), { limit: 25_005, used: 25_005, remaining: 0 });
    const add = (id: number, count: number) => db.write((tx) => addRecords(tx, id, count));
    await add(0, 24_999);
    for (const id of [0, 4]) await assert.rejects(add(id, 1), { code: "storage_limit_reached" });
    await db.write((tx) => removeRecords(tx, 4, 1));
    await add(4, 1);
    await assert.rejects(add(4, 1), { code: "storage_limit_reached" });
  });
}

for (const engine of ["sqlite", "postgres"] as const) {
  test(`accounts of an earlier version begin with the bytes they have published, each content once: ${engine}`, async (t) => {
    const db = await openEmptyOn(engine, t);
    const counted = migrationsFor(engine).findIndex(({ name }) => name === "storage_quotas");
    await migrate(db, 1, migrationsFor(engine).slice(0, counted));
    const large = 600 * 1_048_576;
    const sites: [account: number, id: number, status: string, sizes: Record<string, number>][] = [
      [1, 1, "ready", { a: 100, b: 20 }],
      [1, 2, "ready", { a: 100, c: 3 }],
      [2, 3, "ready", { a: 100, large }],
      [3, 4, "queued", { a: 100, d: 7 }],
    ];
    await db.write(async (tx) => {
      for (const [account, id, status, sizes] of sites) {
        await tx.query(
          sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${account}, 'Shop', 'free', 1) ON CONFLICT DO NOTHING`,
        );
        await tx.query(sql`INSERT INTO projects (account_id, id, name, slug, version, created_at)
          VALUES (${account}, ${id}, 'Shop', ${`shop-${id}`}, 1, 1)`);
        const manifest = Object.entries(sizes).map(([hash, size]) => [`${hash}.html`, { hash, size, type: "text/html", encodings: {} }]);
        await tx.query(sql`INSERT INTO deployments (account_id, id, project_id, status, files, bytes, manifest, version, created_at)
          VALUES (${account}, ${id}, ${id}, ${status}, 2, 1, ${status === "ready" ? JSON.stringify(manifest) : null}, 1, 1)`);
        for (const hash of Object.keys(sizes))
          await tx.query(sql`INSERT INTO files (account_id, deployment_id, hash) VALUES (${account}, ${id}, ${hash})`);
      }
    });
    await migrate(db, 2);
    const use = async (id: number) => (await readStorage(db, id)).publishedBytes;
    const limit = 500 * 1_048_576;
    assert.deepEqual(await use(1), { limit, used: 123, remaining: limit - 123 });
    assert.deepEqual(await use(2), { limit: large + 100, used: large + 100, remaining: 0 });
    assert.deepEqual(await use(3), { limit, used: 0, remaining: limit });
    await db.write((tx) => freeFilesOf(tx, 1, 2));
    assert.equal((await use(1)).used, 120);
    await db.write((tx) => freeFilesOf(tx, 1, 1));
    assert.equal((await use(1)).used, 0);
  });
}

for (const engine of ["sqlite", "postgres"] as const) {
  test(`accounts of an earlier version begin with the bytes of the events that they hold, and keep them even above their limit: ${engine}`, async (t) => {
    const db = await openEmptyOn(engine, t);
    const counted = migrationsFor(engine).findIndex(({ name }) => name === "event_storage");
    await migrate(db, 1, migrationsFor(engine).slice(0, counted));
    const dayMs = 86_400_000;
    const events: [account: number, position: number, type: string, at: number, text: string][] = [
      [1, 1, "key.created", 0, "é"],
      [1, 3, "key.created", dayMs, "ab"],
      [1, 4, "key.created", dayMs + 1, "abc"],
      [1, 5, "pet.created", dayMs, "abcd"],
      [1, 6, "key.revoked", dayMs, "abcde"],
      [2, 1, "pet.created", 0, "abcdef"],
    ];
    await db.write(async (tx) => {
      for (const [i, plan] of ["pro", "free", "enterprise"].entries())
        await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${i + 1}, 'Shop', ${plan}, 1)`);
      for (const [account, position, type, at, text] of events)
        await tx.query(sql`INSERT INTO events (account_id, position, type, at, resource, actor, text, hash)
          VALUES (${account}, ${position}, ${type}, ${at}, 'pet/1', 'system', ${text}, '')`);
      await tx.query(sql`INSERT INTO event_starts (account_id, position, previous_hash) VALUES (1, 5, '')`);
    });
    await migrate(db, 2);
    const use = async (id: number) => (await readEventBytes(db, [id]))(id);
    const mib = 1_048_576;
    assert.deepEqual(await use(1), { log: 2 * 256 + 9, audit: 3 * 256 + 7, limit: 1_024 * mib });
    assert.deepEqual(await use(2), { log: 256 + 6, audit: 0, limit: 256 * mib });
    assert.deepEqual(await use(3), { log: 0, audit: 0, limit: 5 * 1_024 * mib });
    assert.deepEqual(await db.query(sql`SELECT day, bytes, last_position FROM audit_storage WHERE account_id = 1 ORDER BY day`), [
      { day: 0, bytes: 256 + 2, last_position: 1 },
      { day: 1, bytes: 2 * 256 + 5, last_position: 4 },
    ]);
    await db.write((tx) => tx.query(sql`UPDATE event_storage SET bytes_max = 100`));
    assert.equal((await use(1)).limit, 5 * 256 + 16);
  });
}

test("the migration to tables in the order of their keys keeps all rows, indexes and triggers, and announces its steps", async (t) => {
  const db = openEmpty(t);
  const upTo = (last: number) => migrationsFor("sqlite").filter(({ number }) => number <= last);
  await migrate(db, 1, upTo(57));
  await db.write((tx) =>
    tx.script(`
      INSERT INTO accounts (id, name, plan, created_at) VALUES (1, 'Shop', 'pro', 0), (2, 'Other', 'pro', 0);
      INSERT INTO storage_quotas (account_id, kind, stripe, used, used_max) VALUES (1, 'published_bytes', 0, 30, 100);
      INSERT INTO categories (account_id, id, name, name_key, version) VALUES (1, 1, 'Dogs', 'dogs', 1), (2, 2, 'Dogs', 'dogs', 1);
      INSERT INTO pets (account_id, id, name, name_key, category_id, status, version, is_split)
      VALUES (2, 4, 'Rex', 'rex', 2, 'sold', 7, TRUE), (1, 3, '"Big" Rex', '"big" rex', 1, 'available', 2, TRUE), (1, 5, 'Old Tom', 'old tom', 1, 'pending', 1, FALSE);
      INSERT INTO inventory (account_id, pet_id, quantity, held, status, version) VALUES (1, 3, 5, 2, 'available', 9);
      INSERT INTO orders (account_id, id, pet_id, quantity, held, ship_date, complete, version)
      VALUES (2, 8, NULL, 1, 0, NULL, FALSE, 1), (1, 9, 3, 2, 2, 1700000000000, FALSE, 4);
      INSERT INTO profiles (account_id, pet_id, description, price_amount, price_currency, version) VALUES (1, 3, 'Kind.', 100, 'EUR', 3);
      INSERT INTO photos (account_id, id, pet_id, place, alt) VALUES (1, 6, 3, 1, 'Rex');
      INSERT INTO photo_files (account_id, photo_id, type, width, height, hash, bytes) VALUES (1, 6, 'webp', 10, 10, 'abc', 30);`),
  );
  const copied = ["pets", "pet_words", "inventory", "orders", "profiles", "photos", "photo_files", "unused_files", "storage_quotas"];
  const rows = async () => {
    const read = copied.map(async (table) => [
      table,
      (await db.query(sql`SELECT * FROM ${raw(table)}`)).map(({ json: _json, ...row }) => JSON.stringify(row)).toSorted(),
    ]);
    return Object.fromEntries(await Promise.all(read)) as Record<string, string[]>;
  };
  const made = () =>
    db.query<{ name: string; sql: string }>(sql`
    SELECT name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL ORDER BY name`);
  const [rowsBefore, madeBefore] = [await rows(), await made()];
  const steps: string[] = [];
  await migrate(db, 2, upTo(58), (line) => steps.push(line));
  assert.deepEqual(await rows(), rowsBefore);
  assert.deepEqual(await made(), madeBefore);
  assert.match(steps[0]!, /^Upgrading the database \(0058 rows_in_order\), step 1 of \d: the orders$/);
  assert.deepEqual(await db.query(sql`PRAGMA foreign_key_check`), []);

  const json = await db.query<{ json: string }>(sql`SELECT json FROM pets WHERE account_id = 1 ORDER BY id`);
  assert.equal(json[0]!.json, JSON.stringify({ id: 3, name: '"Big" Rex', categoryId: 1, status: "available" }));
  await db.write((tx) => tx.query(sql`DELETE FROM pets WHERE account_id = 1 AND id = 3`));
  const after = await rows();
  assert.deepEqual([after["inventory"], after["profiles"], after["photo_files"]], [[], [], []], "what belongs to a pet goes with it");
  assert.deepEqual(after["unused_files"], [JSON.stringify({ hash: "abc" })]);
});
