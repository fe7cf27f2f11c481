import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import pg from "pg";
import { migrationsFor } from "../src/platform/db/migrate.ts";
import { strongLocksOf } from "../src/platform/db/migration-effects.ts";
import { newDatabase } from "./support/postgres.ts";

/** The last migration of release 1.2.0. Those of a release never change. */
const lastReleased = 56;
const rows = 500;

/** Tables that stay small however large a shop is, so that a migration may read them while it locks them. `accounts` has one row for each shop. */
const smallTables = new Set(["accounts", "own_certificates", "own_challenges", "acme_accounts", "acme_usage", "nodes", "migrations"]);

const databaseAt = async (t: TestContext, last: number) => {
  const { url, drop } = await newDatabase();
  const client = new pg.Client(url);
  t.after(async () => {
    await client.end();
    await drop();
  });
  await client.connect();
  for (const { number, script } of migrationsFor("postgres")) if (number <= last) await client.query(script);
  return client;
};

type Held = { name: string; mode: string; read: number };

const tablesWithReads = `SELECT relid AS oid, relname AS name, seq_tup_read + COALESCE(idx_tup_fetch, 0) + n_tup_upd + n_tup_del AS read
  FROM pg_stat_xact_user_tables WHERE schemaname = 'public'`;
const strongLocks = `SELECT relation AS oid, upper(regexp_replace(mode, '([a-z])([A-Z])', '\\1 \\2', 'g')) AS mode
  FROM pg_locks WHERE pid = pg_backend_pid() AND granted AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'AccessExclusiveLock')`;

/** The tables that were there before a script and on which it holds strong locks, each with the rows of it that it has read or changed. */
async function heldBy(client: pg.Client, script: string): Promise<Held[]> {
  const tables = async () => {
    const { rows: found } = await client.query<{ oid: number; name: string; read: string }>(tablesWithReads);
    return new Map(found.map(({ oid, name, read }) => [oid, { name, read: Number(read) }]));
  };
  await client.query("BEGIN");
  const before = await tables();
  await client.query(script);
  const after = await tables();
  const { rows: locks } = await client.query<{ oid: number; mode: string }>(strongLocks);
  return locks.flatMap(({ oid, mode }) => {
    const table = before.get(oid);
    return table ? [{ name: table.name, mode: mode.replace(/ LOCK$/, ""), read: (after.get(oid)?.read ?? 0) - table.read }] : [];
  });
}

const strengths = ["SHARE", "SHARE ROW EXCLUSIVE", "ACCESS EXCLUSIVE"];

/** The strongest of the locks of each table. */
function strongest(held: Pick<Held, "name" | "mode">[]): Record<string, string> {
  const sorted = held.toSorted((a, b) => strengths.indexOf(a.mode) - strengths.indexOf(b.mode));
  return Object.fromEntries(sorted.map(({ name, mode }) => [name, mode]));
}

/** Gives every table rows, without regard to what its constraints ask. */
async function fill(client: pg.Client): Promise<void> {
  await client.query("SET session_replication_role = replica");
  const { rows: checks } = await client.query<{ drop: string }>(
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop FROM pg_constraint
     WHERE contype = 'c' AND conrelid <> 0 AND connamespace = 'public'::regnamespace`,
  );
  for (const { drop } of checks) await client.query(drop);
  const { rows: inserts } = await client.query<{ insert: string }>(
    `SELECT format('INSERT INTO %I (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM generate_series(1, ${rows}) AS n ON CONFLICT DO NOTHING', table_name,
       string_agg(format('%I', column_name), ', '),
       string_agg(CASE data_type WHEN 'text' THEN '''x'' || n' WHEN 'boolean' THEN 'FALSE' WHEN 'bytea' THEN '''x''' ELSE 'n' END, ', ')) AS insert
     FROM information_schema.columns JOIN pg_tables ON tablename = table_name AND schemaname = table_schema
     WHERE table_schema = 'public' AND is_generated = 'NEVER' GROUP BY table_name`,
  );
  for (const { insert } of inserts) await client.query(insert);
}

function longHeld(held: Held[]): string[] {
  const read = held.filter((one) => one.read >= rows / 2).map(({ name }) => name);
  return [...new Set(read)].filter((name) => !smallTables.has(name));
}

test("what a migration locks on PostgreSQL is known from its text", async (t) => {
  const client = await databaseAt(t, 0);
  for (const { number, name, script } of migrationsFor("postgres")) {
    const held = await heldBy(client, script);
    await client.query("COMMIT");
    assert.deepEqual(strongest(held), Object.fromEntries(strongLocksOf(script)), `${number} ${name}`);
  }
});

test("no migration after 1.2.0 reads or writes a table on PostgreSQL while it holds a lock of it that others wait for", async (t) => {
  const client = await databaseAt(t, lastReleased);
  await fill(client);
  for (const { number, name, script } of migrationsFor("postgres")) {
    if (number <= lastReleased) continue;
    const held = await heldBy(client, script);
    await client.query("COMMIT");
    assert.deepEqual(
      longHeld(held),
      [],
      `${number} ${name}: make indexes CONCURRENTLY, add constraints NOT VALID, change rows in portions`,
    );
  }
  for (const [script, found] of [
    ["CREATE INDEX tried ON orders (version)", ["orders"]],
    ["ALTER TABLE pets ALTER COLUMN version TYPE TEXT", ["pets"]],
    ["ALTER TABLE orders ADD CONSTRAINT tried CHECK (version > -1)", ["orders"]],
    ["ALTER TABLE orders ADD CONSTRAINT tried CHECK (version > -1) NOT VALID", []],
    ["ALTER TABLE pets ADD COLUMN tried TEXT; UPDATE pets SET tried = name", ["pets"]],
    ["ALTER TABLE pets ADD COLUMN tried BIGINT GENERATED ALWAYS AS (id) STORED", ["pets"]],
    ["ALTER TABLE pets ADD COLUMN tried TEXT; CREATE TABLE tried (id BIGINT REFERENCES accounts (id))", []],
    ["UPDATE pets SET version = 1", []],
  ] as const) {
    const held = await heldBy(client, script);
    await client.query("ROLLBACK");
    assert.deepEqual(longHeld(held), found, script);
    assert.deepEqual(strongest(held), Object.fromEntries(strongLocksOf(script)), script);
  }
});

test("each statement of the source that takes a strong lock on PostgreSQL runs where it waits for it in short tries", () => {
  const strong =
    /\b(ALTER TABLE|LOCK TABLE|TRUNCATE TABLE|DROP (TABLE|INDEX|TRIGGER)|REINDEX|CREATE (UNIQUE )?INDEX|VACUUM FULL)\b|pg_advisory_lock\(/;
  const root = new URL("../", import.meta.url);
  // upgrade-check makes its table in memory
  const files = globSync("src/**/*.ts", { cwd: root }).filter(
    (path) => !/sqlite|\.test\.ts$|check-events|migration-effects|upgrade-check/.test(path),
  );
  const found = files.filter((path) => {
    const lines = readFileSync(new URL(path, root), "utf8").split("\n");
    return lines.some((line) => !/^\s*(\/\/|\*|\/\*)/.test(line) && strong.test(line));
  });
  // Each runs its statements in `withLockRetries`, a migration by `migrate`, the others by `locking`.
  const retried = ["src/backup/move.ts", "src/backup/postgres-dump.ts", "src/backup/restore-postgres.ts"];
  assert.deepEqual(found.toSorted(), [...retried, "src/platform/db/lock-waits.ts", "src/platform/db/migrate.ts"]);
});
