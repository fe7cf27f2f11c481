import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import type { Transaction } from "./database.ts";
import { fdatasyncInPool } from "./sqlite-log.ts";
import { openSqlite } from "./sqlite.ts";
import { keyStatement } from "./statement.ts";

type Shelf = { id: number; label: string; text: string };
const byKey = keyStatement("shelves", "SELECT id, label FROM shelves WHERE account_id = ? AND id = ?", ([id, label]: [number, string]) => ({
  id,
  label,
  text: JSON.stringify({ id, label }),
}));

/** A database with ten shelves of account 1, which are in memory, and a disk that a test may hold up. */
async function openShelves(t: TestContext) {
  const disk = { flush: fdatasyncInPool };
  const file = join(temporaryFolder(t), "test.db");
  const db = openSqlite(file, { flush: (descriptor) => disk.flush(descriptor) });
  t.after(() => db.close());
  await db.write((tx) =>
    tx.script(`
      CREATE TABLE accounts (id INTEGER PRIMARY KEY);
      CREATE TABLE shelves (account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, id BIGINT NOT NULL, label TEXT NOT NULL,
        PRIMARY KEY (account_id, id));
      CREATE TABLE labels (label TEXT NOT NULL);
      CREATE TRIGGER relabelled AFTER INSERT ON labels BEGIN UPDATE shelves SET label = NEW.label WHERE id < 3; END;
      INSERT INTO accounts VALUES (1);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) INSERT INTO shelves SELECT 1, i, 'old' FROM n`),
  );
  const ids = Array.from({ length: 10 }, (_, i) => i + 1);
  const read = (id: number) => db.find(byKey, [1, id]) as Shelf | undefined;
  const shown = () => ids.flatMap((id) => JSON.parse(read(id)?.text ?? "[]") as { id: number; label: string } | []);
  const stored = () => db.query<{ id: number; label: string }>(sql`SELECT id, label FROM shelves WHERE account_id = 1 ORDER BY id`);
  shown();
  return { db, disk, file, read, shown, stored };
}

const changes: Record<string, (tx: Transaction) => unknown> = {
  "an UPDATE of one row": (tx) => tx.query(sql`UPDATE shelves SET label = 'new' WHERE account_id = 1 AND id = 4`),
  "an UPDATE of all rows": (tx) => tx.query(sql`UPDATE shelves SET label = 'new'`),
  "an upsert": (tx) =>
    tx.query(sql`INSERT INTO shelves VALUES (1, 5, 'new') ON CONFLICT (account_id, id) DO UPDATE SET label = excluded.label`),
  "a trigger": (tx) => tx.query(sql`INSERT INTO labels VALUES ('new')`),
  "a DELETE": (tx) => tx.query(sql`DELETE FROM shelves WHERE account_id = 1 AND id = 7`),
  "a DELETE of all rows": (tx) => tx.query(sql`DELETE FROM shelves`),
  "a foreign key": (tx) => tx.query(sql`DELETE FROM accounts`),
  "a script": (tx) => tx.script("UPDATE shelves SET label = 'new' WHERE id > 5"),
  "a script that recreates the table": (tx) =>
    tx.script(
      `DROP TRIGGER relabelled; CREATE TABLE others AS SELECT account_id, id, 'new' AS label FROM shelves; DROP TABLE shelves; ALTER TABLE others RENAME TO shelves`,
    ),
  "a new key for a row": (tx) => tx.query(sql`UPDATE shelves SET id = 11 WHERE id = 3`),
};

for (const [name, change] of Object.entries(changes)) {
  test(`a row in memory is the one of the table after ${name}, and after further changes`, async (t) => {
    const { db, shown, stored } = await openShelves(t);
    await db.write(async (tx) => void (await change(tx)));
    const after = await stored();
    assert.deepEqual(
      shown(),
      after.filter(({ id }) => id <= 10),
    );
    await db.write((tx) => tx.query(sql`UPDATE shelves SET label = 'newer' WHERE id <= 10`));
    assert.deepEqual(
      shown(),
      after.filter(({ id }) => id <= 10).map(({ id }) => ({ id, label: "newer" })),
    );
  });

  test(`rows in memory stay as they are if ${name} is rolled back`, async (t) => {
    const { db, shown, stored } = await openShelves(t);
    const before = shown();
    await assert.rejects(db.write(async (tx) => Promise.reject(new Error(String(await change(tx))))));
    assert.deepEqual([shown(), await stored()], [before, before]);
    await db.write((tx) => tx.query(sql`UPDATE shelves SET label = 'newer'`));
    assert.deepEqual(
      shown(),
      before.map(({ id }) => ({ id, label: "newer" })),
    );
  });
}

test("a row that was read stays in memory while nothing changes it", async (t) => {
  const { db, read } = await openShelves(t);
  await db.write((tx) => tx.query(sql`UPDATE shelves SET label = 'new' WHERE id = 2`));
  const [first, second] = [read(1), read(2)];
  await db.write((tx) => tx.query(sql`UPDATE shelves SET label = 'newer' WHERE id = 2`));
  assert.equal(read(1), first);
  assert.notEqual(read(2), second);
  assert.throws(() => (first!.text = "changed"), TypeError);
});

test("while a commit is on its way to the disk reads show the rows as they were, and then as they are", async (t) => {
  const { db, disk, shown, stored, read } = await openShelves(t);
  const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  disk.flush = async (descriptor) => {
    reached.resolve();
    await go.promise;
    await fdatasyncInPool(descriptor);
  };
  const written = db.write((tx) => tx.query(sql`UPDATE shelves SET label = 'new' WHERE id < 6`));
  await reached.promise;
  const before = await stored();
  assert.equal(before[0]?.label, "old");
  assert.deepEqual(shown(), before);
  go.resolve();
  await written;
  assert.equal(read(1)?.label, "new");
  assert.deepEqual(shown(), await stored());
});

test("a table whose first row is read while a commit is being flushed is read again after it", async (t) => {
  const { db, disk, read } = await openShelves(t);
  await db.write((tx) => tx.script("SELECT 1")); // nothing is watched any more
  const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  disk.flush = async (descriptor) => {
    reached.resolve();
    await go.promise;
    await fdatasyncInPool(descriptor);
  };
  const written = db.write((tx) => tx.query(sql`UPDATE shelves SET label = 'new'`));
  await reached.promise;
  assert.equal(read(1)?.label, "old");
  go.resolve();
  await written;
  assert.equal(read(1)?.label, "new");
});

test("what another process writes is seen as soon as queries see it", async (t) => {
  const { db, file, shown, stored } = await openShelves(t);
  const other = new DatabaseSync(file);
  t.after(() => other.close());
  for (const label of ["by another", "by another again"]) {
    other.exec(`UPDATE shelves SET label = '${label}' WHERE id > 2`);
    assert.deepEqual(shown(), await stored());
    await db.write((tx) => tx.query(sql`UPDATE shelves SET label = 'by this one' WHERE id = 1`));
    assert.deepEqual(shown(), await stored());
    assert.equal(shown()[4]?.label, label);
  }
});

test("more changes than are noted one by one are seen too", async (t) => {
  const { db, read } = await openShelves(t);
  const more = sql`WITH RECURSIVE n (i) AS (SELECT 11 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO shelves SELECT 1, i, 'old' FROM n`;
  await db.write((tx) => tx.query(more));
  assert.equal(read(20_000)?.label, "old");
  await db.write((tx) => tx.query(sql`UPDATE shelves SET label = 'new'`));
  assert.deepEqual(
    [1, 10_500, 20_000].map((id) => read(id)?.label),
    ["new", "new", "new"],
  );
});

test("keys that are too large for the memory, and long texts, are read from the table", async (t) => {
  const { db } = await openShelves(t);
  const [far, long] = [2 ** 40, 11];
  await db.write((tx) => tx.query(sql`INSERT INTO shelves VALUES (1, ${far}, 'far'), (1, ${long}, ${"a".repeat(200)})`));
  for (const [id, label] of [
    [far, "far"],
    [long, "a".repeat(200)],
  ] as const) {
    const read = () => db.find(byKey, [1, id]) as Shelf | undefined;
    assert.deepEqual([read()?.label, read()?.label], [label, label]);
    assert.notEqual(read(), read());
  }
});

test("no statement replaces rows, which would fire no trigger", () => {
  const places = globSync(["src/**/*.ts", "migrations/*.sql"], { cwd: join(import.meta.dirname, "../../..") });
  const replacing = places.filter((path) =>
    /\bREPLACE\s+INTO\s+(?!newest\b)\w/i.test(readFileSync(join(import.meta.dirname, "../../..", path), "utf8")),
  );
  assert.deepEqual(
    replacing.filter((path) => !path.endsWith("sqlite-row-cache.test.ts")),
    [],
  );
});
