import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/platform/db/migrate.ts";
import { openSqlite } from "../../src/platform/db/sqlite.ts";
import { createEmpty } from "../../src/platform/files.ts";

/** Where the migrated file is that a whole run shares (`global-setup.ts`). */
const sharedFile = "PETSTORE_TEST_SQLITE";

/** Migrates an embedded database, which services of this run copy. Returns what removes it. */
export async function makeMigratedFile(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-migrated-"));
  const file = join(folder, "petstore.db");
  createEmpty(file);
  const db = openSqlite(file);
  await migrate(db, Date.now());
  await db.close();
  process.env[sharedFile] = file;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Copies the migrated file into a folder in which no service has been. Without one, the service migrates its own. */
export function copyMigratedFile(dataDir: string): void {
  const file = process.env[sharedFile];
  if (file === undefined || (existsSync(dataDir) && readdirSync(dataDir).length > 0)) return;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  copyFileSync(file, join(dataDir, "petstore.db"));
}
