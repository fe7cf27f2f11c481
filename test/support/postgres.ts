import { createHash, randomUUID } from "node:crypto";
import pg from "pg";

/** What tests lose in a power cut nobody misses, and they are faster for it. */
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

/**
 * Opens a database that nothing else uses: the same one for the same name. `drop` deletes it, and fails if transactions
 * have deadlocked in it: a deadlock means that two of them lock rows in different orders, and costs their clients a second.
 *
 * @param mayDeadlock for tests that cause a deadlock on purpose
 */
export async function newDatabase(
  name: string = randomUUID(),
  { mayDeadlock = false }: { mayDeadlock?: boolean } = {},
): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = process.env[sharedServer];
  if (server === undefined) throw new Error("no PostgreSQL: run `node --test` with --test-global-setup=test/support/global-setup.ts");
  const database = `test_${createHash("sha256").update(name).digest("hex").slice(0, 24)}`;
  const exists = await administer(server, `SELECT FROM pg_database WHERE datname = '${database}'`);
  if (exists === 0) await administer(server, `CREATE DATABASE ${database}`);
  return {
    url: server.replace(/\/postgres$/, `/${database}`),
    drop: async () => {
      const deadlocks = await administer(server, `SELECT FROM pg_stat_database WHERE datname = '${database}' AND deadlocks > 0`);
      await administer(server, `DROP DATABASE ${database} WITH (FORCE)`);
      if (deadlocks > 0 && !mayDeadlock) throw new Error("transactions have deadlocked: they lock rows in different orders");
    },
  };
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
