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

/** A database that nothing else uses, and what does away with it; the same one for the same name. */
export async function newDatabase(name: string = randomUUID()): Promise<{ url: string; drop: () => Promise<void> }> {
  const url = process.env[sharedServer];
  if (url === undefined) throw new Error("no PostgreSQL: run `node --test` with --test-global-setup=test/support/global-setup.ts");
  const database = `test_${createHash("sha256").update(name).digest("hex").slice(0, 24)}`;
  const exists = await administer(url, `SELECT FROM pg_database WHERE datname = '${database}'`);
  if (exists === 0) await administer(url, `CREATE DATABASE ${database}`);
  return {
    url: url.replace(/\/postgres$/, `/${database}`),
    drop: async () => void (await administer(url, `DROP DATABASE ${database} WITH (FORCE)`)),
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
