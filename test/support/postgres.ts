import { createHash, randomUUID } from "node:crypto";
import pg from "pg";
import { migrate } from "../../src/platform/db/migrate.ts";
import { openPostgres } from "../../src/platform/db/postgres.ts";
import { until } from "./until.ts";

/** Tests need no durable data, and are faster without. */
export const flags = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "autovacuum=off",
  "wal_level=minimal",
  "max_wal_senders=0",
];
/** Where the server is that a whole run shares (`global-setup.ts`). */
export const sharedServer = "PETSTORE_TEST_POSTGRES";

/** The migrated database that others are copied from, and how errors say that it is missing. */
const template = "migrated";
const missingDatabase = "3D000";
const duplicateDatabase = "42P04";

/**
 * Opens a database that nothing else uses: the same one for the same name. `drop` deletes it, and fails if transactions
 * have deadlocked in it: a deadlock means that two of them lock rows in different orders, and costs their clients a second.
 *
 * @param mayDeadlock for tests that cause a deadlock on purpose
 * @param migrated makes a new one with the tables of this version, which takes a tenth of the time that its service would need for them
 */
export async function newDatabase(
  name: string = randomUUID(),
  { mayDeadlock = false, migrated = false }: { mayDeadlock?: boolean; migrated?: boolean } = {},
): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = process.env[sharedServer];
  if (server === undefined) throw new Error("no PostgreSQL: run `node --test` with --test-global-setup=test/support/global-setup.ts");
  const database = `test_${createHash("sha256").update(name).digest("hex").slice(0, 24)}`;
  await createDatabase(server, database, migrated);
  return {
    url: server.replace(/\/postgres$/, `/${database}`),
    drop: async () => {
      const deadlocks = await administer(server, `SELECT FROM pg_stat_database WHERE datname = '${database}' AND deadlocks > 0`);
      await administer(server, `DROP DATABASE ${database} WITH (FORCE)`);
      if (deadlocks > 0 && !mayDeadlock) throw new Error("transactions have deadlocked: they lock rows in different orders");
    },
  };
}

/** Creates a database that does not exist yet, by copying files. The first migrated one of a run makes what it is copied from. */
async function createDatabase(server: string, database: string, migrated: boolean): Promise<void> {
  try {
    await administer(server, `CREATE DATABASE ${database} TEMPLATE ${migrated ? template : "template1"} STRATEGY file_copy`);
  } catch (error) {
    const { code } = error as pg.DatabaseError;
    if (code === duplicateDatabase) return;
    if (code !== missingDatabase || !migrated) throw error;
    await makeTemplate(server);
    await createDatabase(server, database, migrated);
  }
}

/** Migrates the database that others are copied from. Files that need it at once make it one after the other. */
async function makeTemplate(server: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock(1)");
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [template]);
    if (rowCount === 1) return;
    await client.query("DROP DATABASE IF EXISTS migrating WITH (FORCE)");
    await client.query("CREATE DATABASE migrating");
    const db = openPostgres(server.replace(/\/postgres$/, "/migrating"), { onError: () => undefined });
    await migrate(db, Date.now());
    await db.close();
    await until(async () => (await client.query("SELECT FROM pg_stat_activity WHERE datname = 'migrating'")).rowCount === 0);
    await client.query(`ALTER DATABASE migrating RENAME TO ${template}`);
  } finally {
    await client.end();
  }
}

/** All that a table holds, as JSON. */
export async function rowsOf(url: string, table: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return JSON.stringify((await client.query(`SELECT * FROM ${pg.escapeIdentifier(table)}`)).rows);
  } finally {
    await client.end();
  }
}

/** Blocks writes to a table, and reads too where the mode says so, until the returned function is called. */
export async function lockTable(
  url: string,
  table: string,
  mode: "EXCLUSIVE" | "ACCESS EXCLUSIVE" = "EXCLUSIVE",
): Promise<() => Promise<void>> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${pg.escapeIdentifier(table)} IN ${mode} MODE`);
  return () => client.end();
}

/** Runs one statement as the superuser, and gives the number of its rows. */
export async function administer(url: string, text: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}

/** The first column of a query's rows. */
export async function columnOf<T>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<T[]>({ text, rowMode: "array" })).rows.map(([value]) => value as T);
  } finally {
    await client.end();
  }
}

/** The rows of a query. */
export async function readRows<R extends pg.QueryResultRow>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}
