import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { systemClock, type Clock } from "./platform/clock.ts";
import type { Database } from "./platform/db/database.ts";
import { migrate } from "./platform/db/migrate.ts";
import { openSqlite } from "./platform/db/sqlite.ts";
import { lockFolder } from "./platform/lock.ts";
import type { Settings } from "./settings.ts";

/** Where the process that holds the data folder takes an operator's commands. */
export function socketPath(settings: Pick<Settings, "dataDir">): string {
  return join(settings.dataDir, "petstore.sock");
}

export type Storage = { db: Database; migrated: string[]; close: () => Promise<void> };

/**
 * Takes the data folder for this process and opens its database, brought up to date.
 *
 * @param who what the process is called when another one is refused the folder
 * @throws FolderHeldError after `waitMs`, during which the thread is blocked
 */
export async function openStorage(
  settings: Pick<Settings, "dataDir">,
  who: string,
  waitMs: number,
  clock: Clock = systemClock,
): Promise<Storage> {
  const lock = lockFolder(settings.dataDir, who, waitMs);
  let db: Database | undefined;
  try {
    const file = join(settings.dataDir, "petstore.db");
    closeSync(openSync(file, "a", 0o600)); // the database's other files take over this mode
    db = openSqlite(file);
    const migrated = await migrate(db, clock());
    const opened = db;
    return {
      db,
      migrated,
      close: async () => {
        await opened.close();
        lock.release();
      },
    };
  } catch (error) {
    await db?.close();
    lock.release();
    throw error;
  }
}
