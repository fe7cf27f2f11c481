import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { Problem } from "../problem.ts";
import type { Database } from "./database.ts";
import { fdatasyncInPool } from "./sqlite-log.ts";
import { openSqlite, type SqliteOptions } from "./sqlite.ts";

/** A database with one table, whose disk a test may hold up or fail. */
async function openShelves(t: TestContext, options: Pick<SqliteOptions, "timer"> = {}) {
  const disk = { flush: fdatasyncInPool };
  const failures: unknown[] = [];
  const file = join(temporaryFolder(t), "test.db");
  const hooks = { flush: (descriptor: number) => disk.flush(descriptor), onFlushFailed: (error: unknown) => failures.push(error) };
  const db = openSqlite(file, { ...hooks, ...options });
  t.after(() => db.close());
  await db.write((tx) => tx.script("CREATE TABLE shelves (id INTEGER PRIMARY KEY, label TEXT)"));
  return { db, disk, file, failures };
}

const add = (db: Database, label = "shelf") => db.write((tx) => tx.query(sql`INSERT INTO shelves (label) VALUES (${label})`));
const count = async (db: Database) => (await db.query(sql`SELECT id FROM shelves`)).length;
const isUnavailable = (error: unknown) => error instanceof Problem && error.code === "unavailable";

test("a write resolves, and queries see it, once it is on the disk; writes that arrive meanwhile share a commit", async (t) => {
  const { db, disk } = await openShelves(t);
  let flushes = 0;
  const reached = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const go = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  disk.flush = async (descriptor) => {
    const turn = flushes++;
    reached[turn]?.resolve();
    await go[turn]?.promise;
    await fdatasyncInPool(descriptor);
  };
  let answered = 0;
  const written = () => void answered++;
  const first = add(db).then(written);
  await reached[0]!.promise;
  const others = [add(db).then(written), add(db).then(written)];
  assert.deepEqual([answered, await count(db)], [0, 0]);
  go[0]!.resolve();
  await first;
  assert.deepEqual([answered, await count(db)], [1, 1]);
  await reached[1]!.promise;
  assert.deepEqual([answered, await count(db)], [1, 1]);
  go[1]!.resolve();
  await Promise.all(others);
  assert.deepEqual([answered, await count(db), flushes], [3, 3, 2]);
});

test("one page is read in each turn of the event loop, and an account that has read much does not delay one that has not", async (t) => {
  const { db } = await openShelves(t);
  const order: string[] = [];
  const read = (account: number, pages: number) =>
    Promise.all(
      Array.from({ length: pages }, () => {
        const reader = db.as({ caller: account });
        return reader.scan(async () => void order.push(`account ${account} ${await count(reader)}`));
      }),
    );
  const busy = read(1, 50);
  while (order.length < 10) await new Promise((resolve) => setImmediate(() => resolve(order.push("turn"))));
  await Promise.all([read(2, 2), busy]);
  assert.ok(order.indexOf("account 2 0") - 10 <= 3, "the other account waits for the page that has its turn");
  const pages = order.slice(0, 10).join();
  assert.doesNotMatch(pages, /account 1 0,account 1 0/, "two pages follow each other without a turn between them");
});

test("a group of writes ends after 50 ms of work, and other work has a turn every 10 ms, between bodies and within one", async (t) => {
  const clock = { ms: 0 };
  const timer = { now: () => clock.ms, cpu: () => clock.ms };
  const { db, disk } = await openShelves(t, { timer });
  const [turns, commits]: number[][] = [[], []];
  const bodies = { turn: 0, commit: 0 };
  disk.flush = (descriptor) => {
    commits!.push(bodies.commit);
    bodies.commit = 0;
    return fdatasyncInPool(descriptor);
  };
  let next = setImmediate(function note() {
    turns!.push(bodies.turn);
    bodies.turn = 0;
    next = setImmediate(note);
  });
  t.after(() => clearImmediate(next));
  const step = (): void => {
    clock.ms += 4;
    bodies.turn += 1;
    bodies.commit += 1;
  };
  await Promise.all(
    Array.from({ length: 60 }, () =>
      db.write((tx) => {
        step();
        return tx.query(sql`INSERT INTO shelves (label) VALUES ('small')`);
      }),
    ),
  );
  assert.deepEqual(commits, [13, 13, 13, 13, 8]);
  assert.ok(Math.max(...turns!) <= 4, "3 in a group, and 1 at the end of the group before");
  turns!.length = 0;
  bodies.turn = 0;
  await db.write(async (tx) => {
    for (let i = 0; i < 50; i++) {
      step();
      await tx.query(sql`INSERT INTO shelves (label) VALUES ('large')`);
    }
  });
  assert.equal(Math.max(...turns!), 3);
});

test("a write of an account whose last one was long begins a commit of its own: the short ones before it are answered first", async (t) => {
  const clock = { ms: 0 };
  const { db } = await openShelves(t, { timer: { now: () => clock.ms, cpu: () => clock.ms } });
  const order: string[] = [];
  const write = (account: number, ms: number) =>
    db.as({ caller: account }).write((tx) => {
      clock.ms += ms;
      order.push(`account ${account} runs`);
      return tx.query(sql`INSERT INTO shelves (label) VALUES ('any')`);
    });
  const answered = (account: number, ms: number) => write(account, ms).then(() => order.push(`account ${account} is answered`));
  await write(1, 40);
  order.length = 0;
  await Promise.all([answered(1, 40), answered(2, 1), answered(3, 1)]);
  assert.deepEqual(order, [
    "account 2 runs",
    "account 3 runs",
    "account 2 is answered",
    "account 3 is answered",
    "account 1 runs",
    "account 1 is answered",
  ]);
});

test("once the disk has failed to flush a write, every call is unavailable, the owner is called once, and closing leaves the log unchanged", async (t) => {
  const { db, disk, file, failures } = await openShelves(t);
  disk.flush = () => Promise.reject(new Error("EIO"));
  await Promise.all([assert.rejects(add(db), isUnavailable), assert.rejects(add(db), isUnavailable)]);
  disk.flush = fdatasyncInPool;
  await assert.rejects(add(db), isUnavailable);
  await assert.rejects(count(db), isUnavailable);
  assert.deepEqual(
    failures.map((error) => (error as Error).message),
    ["EIO"],
  );
  const { size } = statSync(`${file}-wal`);
  await db.close();
  assert.equal(statSync(`${file}-wal`).size, size);
});

test("a write that does not fit on the disk is refused, and the database continues to work", async (t) => {
  const { db, failures } = await openShelves(t);
  await db.write((tx) => tx.script("PRAGMA max_page_count = 20"));
  await assert.rejects(add(db, "x".repeat(200_000)), isUnavailable);
  await add(db);
  assert.deepEqual([await count(db), failures], [1, []]);
});

test("the log stays short under constant writes and queries", async (t) => {
  const { db, file } = await openShelves(t);
  const label = "x".repeat(100_000);
  for (let written = 0; written < 400; written++) {
    await Promise.all([add(db, label), count(db)]);
    await count(db);
  }
  assert.equal(await count(db), 400);
  assert.ok(statSync(`${file}-wal`).size < 10_000_000, "of 40 MB");
});

test("a statement that has run before returns the columns that a migration adds", async (t) => {
  const { db } = await openShelves(t);
  await add(db, "upper");
  const read = () => Promise.all([db.query(sql`SELECT * FROM shelves`), db.write((tx) => tx.query(sql`SELECT * FROM shelves`))]);
  const before = { id: 1, label: "upper" };
  assert.deepEqual(await read(), [[before], [before]]);
  await db.write((tx) => tx.script("ALTER TABLE shelves ADD COLUMN width INTEGER NOT NULL DEFAULT 80"));
  const after = { ...before, width: 80 };
  assert.deepEqual(await read(), [[after], [after]]);
});

test("a write that may take long is answered when the log that it wrote has been copied into the file", async (t) => {
  const { db, file } = await openShelves(t);
  const labels = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT hex(randomblob(1000)) FROM n`;
  await db.write((tx) => tx.query(sql`INSERT INTO shelves (label) ${labels}`), { statementMs: 600_000 });
  const other = new DatabaseSync(file, { readOnly: true });
  t.after(() => other.close());
  const { log, checkpointed } = other.prepare("PRAGMA wal_checkpoint(NOOP)").get() as Record<string, number>;
  assert.ok(log! > 1_000);
  assert.equal(checkpointed, log);
});
