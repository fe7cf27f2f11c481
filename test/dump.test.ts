import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { sumTable, type Dump } from "../src/backup/dump.ts";
import { openPostgresDump } from "../src/backup/postgres-dump.ts";
import { loadIntoPostgres } from "../src/backup/postgres-dump.ts";
import { openSqliteDump } from "../src/backup/sqlite-dump.ts";
import { loadIntoSqlite } from "../src/backup/sqlite-dump.ts";
import { migrate } from "../src/platform/db/migrate.ts";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { temporaryFolder } from "./support/folder.ts";
import { newDatabase } from "./support/postgres.ts";
import { startService } from "./support/service.ts";

async function database(t: TestContext): Promise<string> {
  const { url, drop } = await newDatabase();
  t.after(drop);
  return url;
}

async function sums(dump: Dump): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const table of dump.tables) {
    const { rows, sha256 } = await sumTable(dump, table);
    found[table.name] = `${rows} ${sha256}`;
  }
  await dump.close();
  return found;
}

test("a dump loaded into either engine gives the same tables, rows, checksums and sequences, there and back", async (t) => {
  const service = await startService({ env: { DATABASE_URL: "" } });
  t.after(() => service.close());
  await service.ask("POST", "/categories", { body: { name: "Dogs 🐕 \u0081", description: 'a "quoted" \\ line\n\u0001' } });
  for (let i = 0; i < 30; i++) await service.ask("POST", "/pets", { body: { name: `Rex ${i} Ä`, categoryId: 1 } });
  await service.ask("PUT", "/store/inventory/1", { body: { quantity: 100 } });
  for (let i = 0; i < 5; i++)
    await service.ask("POST", "/store/orders", { body: { petId: 1, quantity: 2 }, headers: { "Idempotency-Key": `"k${i}"` } });
  await service.ask("DELETE", "/pets/30");

  const source = openSqliteDump(join(service.dataDir, "petstore.db"));
  const [url, file, again] = [await database(t), join(temporaryFolder(t), "copy.db"), await database(t)];
  const loaded = await loadIntoPostgres(url, source);
  const { sequences } = source;
  const tables = source.tables.map(({ name, columns, key }) => ({ name, columns, key }));
  const expected = await sums(source);
  assert.deepEqual(Object.fromEntries([...loaded].map(([name, { rows, sha256 }]) => [name, `${rows} ${sha256}`])), expected);
  assert.match(expected["pets"] ?? "", /^29 /);
  assert.match(expected["orders"] ?? "", /^5 /);

  const inPostgres = await openPostgresDump(url);
  await loadIntoSqlite(file, inPostgres);
  const inSqlite = openSqliteDump(file);
  await loadIntoPostgres(again, inSqlite);
  for (const copy of [inPostgres, inSqlite, await openPostgresDump(again)]) {
    assert.deepEqual(copy.sequences, sequences);
    assert.deepEqual(copy.tables, tables);
    assert.deepEqual(await sums(copy), expected);
  }
  await assert.rejects(loadIntoPostgres(url, openSqliteDump(file)), /the database is not empty: it has the table accepted_states/);
});

test("an embedded database loaded from a dump has the planner's statistics of any other", async (t) => {
  const [from, to] = [join(temporaryFolder(t), "from.db"), join(temporaryFolder(t), "to.db")];
  const db = openSqlite(from);
  await migrate(db, 1);
  await db.close();
  const source = openSqliteDump(from);
  await loadIntoSqlite(to, source);
  await source.close();
  const [before, after] = [from, to].map((file) => {
    const connection = new DatabaseSync(file, { readOnly: true });
    const rows = connection.prepare("SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx").all();
    connection.close();
    return rows.map((row) => Object.values(row).join(" "));
  });
  assert.ok(before!.length > 0);
  assert.deepEqual(after, before);
});

test("a page of rows with long texts has few rows", async (t) => {
  const file = join(temporaryFolder(t), "long.db");
  const db = openSqlite(file);
  await migrate(db, 1);
  const long = "x".repeat(1_000_000);
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (1, ${"Shop"}, ${"pro"}, 1)`);
    for (let id = 1; id <= 40; id++)
      await tx.query(sql`INSERT INTO idempotency (account_id, target, key, body_hash, status, headers, body, created_at)
        VALUES (1, ${"x"}, ${`k${id}`}, ${"h"}, 200, ${"{}"}, ${long}, 1)`);
  });
  await db.close();
  const url = await database(t);
  const source = openSqliteDump(file);
  await loadIntoPostgres(url, source);
  for (const dump of [source, await openPostgresDump(url)]) {
    const table = dump.tables.find(({ name }) => name === "idempotency")!;
    const pages = await Array.fromAsync(dump.rows(table), (page) => page.length);
    assert.equal(
      pages.reduce((sum, rows) => sum + rows, 0),
      40,
    );
    assert.ok(Math.max(...pages) <= 16, pages.join(" "));
    await dump.close();
  }
});
