import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Database } from "../../src/platform/db/database.ts";
import { openPostgres } from "../../src/platform/db/postgres.ts";
import { openSqlite } from "../../src/platform/db/sqlite.ts";
import { temporaryFolder } from "./folder.ts";
import { newDatabase } from "./postgres.ts";

/** Opens an embedded database without tables, and removes it after the test. */
export function openEmpty(t: TestContext): Database {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  return db;
}

/** The same on either engine. */
export async function openEmptyOn(engine: Database["engine"], t: TestContext): Promise<Database> {
  if (engine === "sqlite") return openEmpty(t);
  const { url, drop } = await newDatabase();
  const db = openPostgres(url, { onError: () => undefined });
  t.after(async () => {
    await db.close();
    await drop();
  });
  return db;
}

/** Opens the database of a service that is not running: a file, or a `postgres:` address. */
export function openAt(place: string): Database {
  return place.startsWith("postgres:") ? openPostgres(place, { onError: () => undefined }) : openSqlite(place);
}
