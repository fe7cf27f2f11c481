import { mkdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { linkOrCopy } from "../platform/files.ts";
import { requireAccess } from "../platform/folder-access.ts";
import type { Entry } from "./archive.ts";
import { bytesOf, type Source } from "./backup-file.ts";
import { makeHeldFolder } from "./held-folder.ts";
import { BackupError, contentEntry, countersName, databaseName, holdPrefix } from "./manifest.ts";
import { identityOf, requireUnreplaced } from "./restore-state.ts";
import { openSqliteDump, type SqliteDump } from "./sqlite-dump.ts";

/** Content that is swept between snapshot and links is absent from the next snapshot too, so a few attempts are enough. */
const attemptsMax = 5;

/** The files of a backup, by their entries in a folder of hard links, so that the service may delete its own names meanwhile. */
type FileLinks = { folder: string; files: string[]; hasCounters: boolean; missing: number; release(): void };

/**
 * Opens a snapshot of everything that a service keeps in its data folder. Takes no lock of the folder, so the service may be running.
 *
 * @throws BackupError if the folder has no database, or if a restore replaces it at this moment
 */
export function openFolderSource(dataDir: string): Omit<Source, "secrets"> {
  requireAccess(dataDir, { toWrite: false });
  for (let attempt = 1; ; attempt++) {
    const before = identityOf(dataDir);
    let [dump, links]: [SqliteDump | undefined, FileLinks | undefined] = [undefined, undefined];
    try {
      dump = openDump(dataDir);
      links = linkFiles(dataDir, dump.connection);
      requireUnreplaced(dataDir, before);
      if (links.missing === 0 || attempt === attemptsMax) return sourceOf(dump, links);
    } catch (error) {
      dump?.connection.close();
      links?.release();
      requireUnreplaced(dataDir, before);
      throw error;
    }
    dump.connection.close();
    links.release();
  }
}

function openDump(dataDir: string): SqliteDump {
  if (identityOf(dataDir) === undefined) throw new BackupError(`${dataDir} has no data: there is no ${databaseName}`);
  return openSqliteDump(join(dataDir, databaseName));
}

function sourceOf(dump: SqliteDump, links: FileLinks): Omit<Source, "secrets"> {
  const entryOf = (name: string): Entry => ({
    name,
    bytes: statSync(join(links.folder, name)).size,
    content: bytesOf(join(links.folder, name)),
  });
  let isOpen = true;
  return {
    dump,
    missing: links.missing,
    counters: links.hasCounters ? entryOf(countersName) : undefined,
    async *files() {
      for (const name of links.files) yield entryOf(name);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await dump.close();
      links.release();
    },
  };
}

/** Links the files that a snapshot refers to, first those that the service deletes soonest. */
function linkFiles(dataDir: string, connection: DatabaseSync): FileLinks {
  const { path: folder, remove } = makeHeldFolder(dataDir, holdPrefix);
  const links: FileLinks = { folder, files: [], hasCounters: false, missing: 0, release: remove };
  try {
    let made = folder;
    for (const { entry, isNeeded } of filesOf(connection)) {
      const second = join(folder, entry);
      if (dirname(second) !== made) mkdirSync((made = dirname(second)), { recursive: true });
      if (linkIfThere(join(dataDir, entry), second)) links.files.push(entry);
      else if (isNeeded) links.missing += 1;
    }
    links.hasCounters = linkIfThere(join(dataDir, countersName), join(folder, countersName));
    return links;
  } catch (error) {
    links.release();
    throw error;
  }
}

function linkIfThere(path: string, second: string): boolean {
  try {
    linkOrCopy(path, second);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** A file in a data folder, by its entry in a backup, which is its path there. `hash` is that of a published file in its plain form. */
type FolderFile = { entry: string; hash?: string; isNeeded: boolean };

/**
 * The files that a snapshot refers to: archives that wait to be unpacked, then published files, each with its compressed forms first. The sweep
 * deletes the plain form first: if it still exists when it is read, the others existed before.
 */
export function* filesOf(connection: DatabaseSync): Generator<FolderFile> {
  for (const upload of uploadsOf(connection)) yield { entry: `uploads/${upload}`, isNeeded: true };
  for (const { hash, isNeeded } of contentOf(connection)) {
    for (const suffix of [".br", ".gz"]) yield { entry: contentEntry(hash + suffix), isNeeded: false };
    yield { entry: contentEntry(hash), hash, isNeeded };
  }
}

function uploadsOf(connection: DatabaseSync): string[] {
  if (!hasTable(connection, "deployments")) return [];
  const rows = connection.prepare("SELECT upload FROM deployments WHERE status = 'queued' AND upload IS NOT NULL ORDER BY upload").all();
  return rows.map(({ upload }) => basename(String(upload)));
}

/**
 * The content of deployments and photos, each once and in the order of the hashes, as in an archive. The content of a deployment that is still
 * being unpacked may be absent, because the backup has its upload.
 */
function* contentOf(connection: DatabaseSync): Generator<{ hash: string; isNeeded: boolean }> {
  if (!hasTable(connection, "files")) return;
  const ofPhotos = hasTable(connection, "photo_files") ? "UNION ALL SELECT hash, 1 FROM photo_files" : "";
  const rows = connection.prepare(`
    SELECT hash, MAX(needed) AS needed FROM (
      SELECT hash, status = 'ready' AS needed FROM files
      JOIN deployments ON deployments.account_id = files.account_id AND deployments.id = files.deployment_id ${ofPhotos})
    GROUP BY hash ORDER BY hash`);
  for (const { hash, needed } of rows.iterate()) yield { hash: String(hash), isNeeded: Number(needed) === 1 };
}

function hasTable(connection: DatabaseSync, name: string): boolean {
  return connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
}
