import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import pg from "pg";
import { migrate, migrationsFor, newMigration } from "../src/platform/db/migrate.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { migrateShared } from "../src/platform/nodes/node-releases.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { newDatabase } from "./support/postgres.ts";
import { secretsKey } from "./support/service.ts";
import { until } from "./support/until.ts";

const shown = "report of the month";
const longestMs = 1_000;

/** A database with the tables of this version, what migrates it, and a transaction of a report that has read three tables. */
async function openScene(t: TestContext) {
  const { url, drop } = await newDatabase(undefined, { migrated: true });
  const db = openPostgres(url, { onError: () => undefined });
  const [report, shop] = [new pg.Client({ connectionString: url, application_name: shown }), new pg.Client(url)];
  t.after(async () => {
    await Promise.all([db.close(), report.end(), shop.end()]);
    await drop();
  });
  await Promise.all([report.connect(), shop.connect()]);
  await report.query("BEGIN; SELECT 1 FROM orders, pets, accounts LIMIT 1");
  return { url, db, report, shop };
}

const applied = migrationsFor("postgres");
const number = (applied.at(-1)?.number ?? 0) + 1;
/** It locks, in this order, two tables that nothing holds and one that the report has read. */
const script = `
  ALTER TABLE categories ADD COLUMN tried TEXT;
  CREATE TABLE notes (account_id BIGINT REFERENCES accounts (id));
  ALTER TABLE orders ADD COLUMN tried TEXT;`;
const migrations = [...applied, newMigration(number, "tried", script)];

/** Reads and writes, one after the other, until it is stopped. Returns the longest statement (ms). */
function useTables(shop: pg.Client) {
  const run = { isOn: true, statements: 0 };
  const statements = ["SELECT 1 FROM orders LIMIT 1", "UPDATE accounts SET name = name", "SELECT 1 FROM categories LIMIT 1"];
  const working = (async () => {
    let longest = 0;
    for (; run.isOn; run.statements++) {
      const begunAt = performance.now();
      await shop.query(String(statements[run.statements % statements.length]));
      longest = Math.max(longest, performance.now() - begunAt);
    }
    return longest;
  })();
  return {
    run,
    async stop() {
      run.isOn = false;
      return working;
    },
  };
}

test("a migration waits for a report that holds its tables, names it, and nobody waits for a second behind the migration", async (t) => {
  const { db, report, shop } = await openScene(t);
  const lines: string[] = [];
  const use = useTables(shop);
  const migrating = migrate(db, 1, migrations, (line) => lines.push(line));
  await until(() => lines.length > 0);
  const { statements } = use.run;
  await until(() => use.run.statements > statements + 500);
  await report.query("COMMIT");
  assert.deepEqual(await migrating, ["tried"]);
  const longest = await use.stop();
  assert.ok(longest < longestMs, `a statement took ${longest} ms`);
  const held = new RegExp(
    `^Upgrading the database \\(0*${number} tried\\): waiting, because pid \\d+ \\(${shown}\\) has held the table orders since 20`,
  );
  assert.match(String(lines[0]), held);
  assert.equal(new Set(lines).size, lines.length);
});

test("a migration that does not get its locks within its time fails with one line that names the report, and changes nothing", async (t) => {
  const { db, shop } = await openScene(t);
  await assert.rejects(
    migrate(db, 1, migrations, undefined, { waitMs: 0 }),
    /^Error: pid \d+ \(report of the month\) has held the table orders .*this migration changed nothing$/,
  );
  assert.equal((await shop.query("SELECT FROM pg_class WHERE relname = 'notes'")).rowCount, 0);
});

test("a restore that replaces tables waits for a report that holds them, and nobody waits for a second behind it", async (t) => {
  const { url, report, shop } = await openScene(t);
  const folder = temporaryFolder(t);
  const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey, DATA_DIR: join(folder, "data") };
  const archive = join(folder, "shop.tar.gz");
  assert.equal((await runCommand(["backup", archive], env)).code, 0);
  const use = useTables(shop);
  const restoring = runCommand(["restore", archive, "--replace"], env);
  const asks =
    "SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
  await until(async () => (await report.query(asks)).rowCount !== 0);
  const { statements } = use.run;
  await until(() => use.run.statements > statements + 500);
  const longest = await use.stop();
  await report.query("COMMIT");
  assert.equal((await restoring).code, 0);
  assert.ok(longest < longestMs, `a statement took ${longest} ms`);
});

test("a node that is too old and starts while a migration waits stops it before it changes anything", async (t) => {
  const { db, report, shop } = await openScene(t);
  const lines: string[] = [];
  const migrating = migrateShared(db, 1, migrations, (line) => lines.push(line));
  await until(() => lines.length > 0);
  await shop.query("INSERT INTO nodes (id, lease_until, seen, release) VALUES ('late/1', 9007199254740991, 0, '0.9.0')");
  await report.query("COMMIT");
  await assert.rejects(
    migrating,
    /^Error: a node of release 0\.9\.0 serves this database, and cannot run beside .*: late\/1.*: stop them all, and start again$/,
  );
  assert.equal((await shop.query("SELECT FROM pg_class WHERE relname = 'notes'")).rowCount, 0);
});
