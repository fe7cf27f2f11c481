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
import { keyStatement, statement } from "./statement.ts";

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
  const listing = (columns: string) => ({
    statement: statement<[number]>(`SELECT ${columns} FROM shelves WHERE account_id = ? ORDER BY id`),
    values: [1],
  });
  const [idsOnly, whole] = [listing("id"), listing("id, label")];
  const listed = () =>
    (db.findAll(byKey, 1, { ids: () => idsOnly, rows: () => whole }) as Shelf[]).map(({ text }) => JSON.parse(text) as object);
  shown();
  return { db, disk, file, read, shown, stored, listed };
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
  test(`a row in memory equals the one in the table after ${name}, and after further changes`, async (t) => {
    const { db, shown, stored, listed } = await openShelves(t);
    await db.write(async (tx) => void (await change(tx)));
    const after = await stored();
    for (let i = 0; i < 3; i++) assert.deepEqual(listed(), after);
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
    const { db, shown, stored, listed } = await openShelves(t);
    const before = shown();
    await assert.rejects(db.write(async (tx) => Promise.reject(new Error(String(await change(tx))))));
    assert.deepEqual([shown(), await stored(), listed()], [before, before, before]);
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

test("a list looks for its rows in memory again and again while it finds them, and ever more seldom while it does not", async (t) => {
  const { db, read } = await openShelves(t);
  const looks: boolean[] = [];
  const list = (ids: number[]) => {
    looks.push(false);
    const values = [JSON.stringify(ids)];
    const found = (columns: string) =>
      statement<[number]>(`SELECT ${columns} FROM shelves WHERE account_id = 1 AND id IN (SELECT value FROM json_each(?)) ORDER BY id`);
    const idsOf = () => ((looks[looks.length - 1] = true), { statement: found("id"), values });
    const shown = db.findAll(byKey, 1, { ids: idsOf, rows: () => ({ statement: found("id, label"), values }) }) as Shelf[];
    assert.deepEqual(
      shown.map(({ id }) => id),
      ids,
    );
    return shown;
  };
  assert.equal(list([3])[0], read(3), "the very row that is in memory");
  list([1, 2]);
  assert.deepEqual(looks.splice(0), [true, true]);
  await db.write((tx) =>
    tx.query(sql`INSERT INTO shelves SELECT 1, shelves.id + 10 * n.value, 'new' FROM shelves, json_each('[1, 2, 3, 4, 5, 6]') AS n`),
  );
  for (let id = 11; id <= 70; id++) list([id]);
  const missed = [0, 2, 6, 14, 30]; // after each, one list more than twice as many is read whole
  assert.deepEqual(
    looks.splice(0).flatMap((looked, place) => (looked ? [place] : [])),
    missed,
  );
  for (let i = 0; i < 2 * 32; i++) list([1]);
  assert.deepEqual(
    looks.slice(-9),
    Array.from({ length: 9 }, () => true),
    "it has found its row the last time",
  );
});

test("reads show the old rows while a commit is being flushed, and the new ones after it", async (t) => {
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

test("a change by another process is seen as soon as queries see it", async (t) => {
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

test("rows with large keys or long texts are not kept, but read from the table", async (t) => {
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

test("rows of several accounts stay apart, and beyond 100,000 rows the oldest of the first account are dropped", async (t) => {
  const { db } = await openShelves(t);
  await db.write((tx) =>
    tx.script(`INSERT INTO accounts VALUES (2);
      WITH RECURSIVE n (i) AS (SELECT 11 UNION ALL SELECT i + 1 FROM n WHERE i < 100001) INSERT INTO shelves SELECT 1, i, 'of 1' FROM n;
      INSERT INTO shelves VALUES (2, 1, 'of 2'), (2, 2, 'of 2')`),
  );
  const read = (account: number, id: number) => db.find(byKey, [account, id]) as Shelf;
  const first = read(1, 11);
  const other = read(2, 1);
  for (let id = 12; id <= 100_001; id++) read(1, id);
  assert.deepEqual([read(1, 11), read(2, 1)], [first, other]);
  assert.deepEqual([first.label, other.label, read(1, 1).label], ["of 1", "of 2", "old"]);
  for (let id = 2; id <= 10; id++) read(1, id); // the last of these is one too many
  read(2, 2);
  assert.equal(read(2, 1), other);
  assert.notEqual(read(1, 11), first);
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
