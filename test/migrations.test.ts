import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import type { Database, Transaction } from "../src/platform/db/database.ts";
import { migrate, migrationsFor, type Migration } from "../src/platform/db/migrate.ts";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { temporaryFolder } from "./support/folder.ts";

function openEmpty(t: TestContext): Database {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  return db;
}

const first: Migration = { number: 1, name: "shelves", script: "CREATE TABLE shelves (id BIGINT PRIMARY KEY)" };
const second: Migration = { number: 2, name: "boxes", script: "CREATE TABLE boxes (id BIGINT PRIMARY KEY); INSERT INTO boxes VALUES (7)" };

const tables = async (db: Database) =>
  (
    await db.query<{ name: string }>(
      sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('shelves', 'boxes') ORDER BY name`,
    )
  ).map(({ name }) => name);

for (const engine of ["sqlite", "postgres"] as const) {
  test(`the project's migrations for ${engine} are numbered from 1 on, without a gap`, () => {
    const numbers = migrationsFor(engine).map(({ number }) => number);
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => i + 1),
    );
    assert.ok(numbers.length > 0);
  });
}

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

test("a database of an older version gets what is new, in order, and keeps what it has", async (t) => {
  const db = openEmpty(t);
  assert.deepEqual(await migrate(db, 1, [first]), ["shelves"]);
  await db.write((tx) => tx.query(sql`INSERT INTO shelves (id) VALUES (5)`));
  assert.deepEqual(await migrate(db, 2, [first, second]), ["boxes"]);
  assert.equal((await db.query(sql`SELECT id FROM shelves`)).length, 1);
});

test("a migration that fails leaves nothing of itself and all of those before it, and may be tried again", async (t) => {
  const db = openEmpty(t);
  const broken: Migration = { ...second, script: `${second.script}; INSERT INTO nowhere VALUES (1)` };
  await assert.rejects(migrate(db, 1, [first, broken]), /nowhere/);
  assert.deepEqual(await tables(db), ["shelves"]);
  assert.deepEqual(await migrate(db, 2, [first, second]), ["boxes"]);
  assert.deepEqual(await tables(db), ["boxes", "shelves"]);
});

test("identifiers go on from where data of the first version stands", async (t) => {
  const db = openEmpty(t);
  const given = (tx: Transaction, name: string) => tx.query<{ id: number }>(sql`SELECT nextval(${name}) AS id`);
  await migrate(db, 1, migrationsFor("sqlite").slice(0, 1));
  await db.write((tx) => given(tx, "pets"));
  await migrate(db, 2);
  const [row] = await db.write((tx) => given(tx, "pet_ids"));
  assert.equal(row?.id, 2);
});

test("data that a newer version wrote is refused with the migration that is unknown, and left as it is", async (t) => {
  const db = openEmpty(t);
  await migrate(db, 1, [first, second]);
  await assert.rejects(migrate(db, 2, [first]), /newer version \(migration 2 boxes is unknown here\)/);
  assert.deepEqual(await tables(db), ["boxes", "shelves"]);
});
