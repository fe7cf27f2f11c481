import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { encryptedColumns } from "../platform/encrypted-columns.ts";
import { attempt } from "../platform/parse.ts";
import { idsOf, parseSecretsKeys, type SecretsKeys } from "../platform/secrets.ts";
import type { CheckedArchive } from "./archive-dump.ts";
import type { KeyIds } from "./check-database.ts";
import { ArchiveError, BackupError, databaseName, secretsName, type DataPlace, type Manifest } from "./manifest.ts";

/** The keys that decrypt the secrets of a store, its backups and its copies. */

/** The keys in the file of a data folder; null if it has none. @throws BackupError */
export function readKeys(dataDir: string): SecretsKeys | null {
  const path = join(dataDir, secretsName);
  if (!existsSync(path)) return null;
  try {
    return parseSecretsKeys(readFileSync(path, "utf8").trim());
  } catch (cause) {
    throw new BackupError(`${path} does not hold 32 bytes as base64: a restored service could not decrypt its secrets`, { cause });
  }
}

/** The ids of the keys of the service of these settings; undefined if only its nodes know the keys. */
export function knownKeyIds({ secretsKey, dataDir, databaseUrl }: DataPlace): KeyIds {
  const keys = secretsKey ?? readKeys(dataDir);
  if (keys === null && databaseUrl !== "") return undefined;
  return keys === null ? [] : idsOf(keys);
}

/**
 * Checks the keys that an archive includes.
 *
 * @throws ArchiveError if they are not keys, or not those that its secrets need
 */
export async function requireOwnKeys({ manifest: { secrets }, open }: CheckedArchive): Promise<void> {
  if (!secrets.isIncluded) return;
  const dump = await open();
  await dump.close();
  const keys = attempt(() => parseSecretsKeys(dump.secrets ?? ""));
  if (keys === undefined) throw new ArchiveError(`is damaged: its ${secretsName} does not hold 32 bytes as base64`);
  const absent = secrets.keys.filter((id) => !keys.byId.has(id));
  if (absent.length > 0) throw new ArchiveError(`is damaged: its ${secretsName} does not hold the key ${absent.join(" and ")}`);
}

/**
 * Checks that the restored service will be able to decrypt its secrets.
 *
 * @throws ArchiveError if SECRETS_KEY is needed, or is another key
 */
export function requireSecrets({ secretsKey }: DataPlace, { secrets }: Manifest): void {
  if (secrets.keys.length === 0) return;
  if (secretsKey === null) {
    if (secrets.isIncluded) return;
    throw new ArchiveError(`was made without its secrets key: set SECRETS_KEY to the key ${secrets.keys.join(" or ")} of that service`);
  }
  const absent = secrets.keys.filter((id) => !secretsKey.byId.has(id));
  if (absent.length > 0) {
    throw new ArchiveError(`needs the secrets key ${absent.join(" and ")}, which SECRETS_KEY does not hold: set the key of that service`);
  }
}

/** The most folders to search. */
const foldersMax = 1_000;

/**
 * Finds databases that the service does not use and whose secrets need one of these keys: copies from before upgrades, states that a restore or
 * an operator has set aside, the source of a move. Looks in the data folder, in the folders in it, and in `DATA_DIR.replaced-…`. Ignores keys
 * that are in a copy's own folder.
 *
 * @param earlier ids of the keys; by default those of the key file after the first
 * @returns their paths, with the ids of the keys
 */
export function copiesWithEarlierKeys({ dataDir, databaseUrl }: DataPlace, earlier = keysIn(dataDir).slice(1)): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const folder of foldersBeside(dataDir)) {
    const own = folder === dataDir ? [] : keysIn(folder);
    for (const name of namesIn(folder).filter((one) => one.endsWith(".db"))) {
      if (databaseUrl === "" && folder === dataDir && name === databaseName) continue; // the service uses it
      const path = join(folder, name);
      const needed = keysUsedIn(path).filter((id) => earlier.includes(id) && !own.includes(id));
      if (needed.length > 0) found.set(path, needed);
    }
  }
  return found;
}

/** The ids of the keys in a folder's own key file; none if it cannot be read. */
function keysIn(folder: string): string[] {
  const keys = attempt(() => readKeys(folder));
  return keys ? idsOf(keys) : [];
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
function keysUsedIn(path: string): string[] {
  const url = pathToFileURL(path);
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1"); // so that reading makes no files beside it
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(url, { readOnly: true });
    const ids = new Set<string>();
    for (const { table, column } of encryptedColumns) {
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
