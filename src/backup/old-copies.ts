import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { SecretsCheck } from "./check-database.ts";
import { databaseName } from "./manifest.ts";

/** The most folders to search. */
const foldersMax = 1_000;

export type KeySearch = {
  dataDir: string;
  /** Whether the service uses the database in the data folder itself. */
  isServed: boolean;
  keyIds: readonly string[];
  columns: SecretsCheck["columns"];
  /** Returns the ids of the keys in a folder's own key file. */
  keysIn: (folder: string) => readonly string[];
};

/**
 * Finds databases that the service does not use and whose secrets need one of these keys: copies from before upgrades, states that a restore or
 * an operator has set aside, the source of a move. Looks in the data folder, in the folders in it, and in `DATA_DIR.replaced-…`. Ignores keys
 * that are in a copy's own folder.
 *
 * @returns their paths, with the ids of the keys
 */
export function copiesThatNeed({ dataDir, isServed, keyIds, columns, keysIn }: KeySearch): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const folder of foldersBeside(dataDir)) {
    const own = folder === dataDir ? [] : keysIn(folder);
    for (const name of namesIn(folder).filter((one) => one.endsWith(".db"))) {
      if (isServed && folder === dataDir && name === databaseName) continue;
      const path = join(folder, name);
      const needed = keysUsedIn(path, columns).filter((id) => keyIds.includes(id) && !own.includes(id));
      if (needed.length > 0) found.set(path, needed);
    }
  }
  return found;
}

function foldersBeside(dataDir: string): string[] {
  const inside = foldersIn(dataDir).filter((name) => name !== "content" && name !== "uploads");
  const aside = foldersIn(dirname(dataDir)).filter((name) => name.startsWith(`${basename(dataDir)}.replaced-`));
  const paths = [dataDir, ...inside.map((name) => join(dataDir, name)), ...aside.map((name) => join(dirname(dataDir), name))];
  return paths.slice(0, foldersMax);
}

function foldersIn(folder: string): string[] {
  return namesIn(folder, (entry) => entry.isDirectory());
}

function namesIn(folder: string, isWanted = (entry: { isFile(): boolean; isDirectory(): boolean }): boolean => entry.isFile()): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (isWanted(entry) ? [entry.name] : []));
  } catch {
    return []; // it belongs to another user
  }
}

/** The ids of the keys that encrypt a database's secrets; none if it cannot be read, because then nobody can go back to it. */
function keysUsedIn(path: string, columns: SecretsCheck["columns"]): string[] {
  const url = pathToFileURL(path);
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1"); // so that reading makes no files beside it
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(url, { readOnly: true });
    const ids = new Set<string>();
    for (const { table, column } of columns) {
      if (db.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?").get(table, column) === undefined) continue;
      const rows = db.prepare(`SELECT DISTINCT substr("${column}", 4, 8) AS id FROM "${table}" WHERE "${column}" IS NOT NULL`).all();
      for (const { id } of rows) ids.add(String(id));
    }
    return [...ids];
  } catch {
    return [];
  } finally {
    db?.close();
  }
}
