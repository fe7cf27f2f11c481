import { createReadStream, mkdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { linkSecond } from "../platform/files.ts";
import { requireAccess } from "../platform/folder-access.ts";
import type { Entry } from "./archive-writer.ts";
import { makeHeldFolder } from "./held-folder.ts";
import { BackupError, contentEntry, countersName, databaseName, holdPrefix } from "./manifest.ts";
import { identityOf, requireUnreplaced } from "./restore-state.ts";
import type { Source } from "./source.ts";
import { openSqliteDump } from "./sqlite-dump.ts";

/** Content that is swept between snapshot and links is absent from the next snapshot too, so a few attempts are enough. */
const attemptsMax = 5;
const suffixes = [".br", ".gz", ""];

/** The files of a backup, in a folder of hard links, so that the service may delete its own names meanwhile. */
type Hold = { files: { entry: string; path: string }[]; counters: string | undefined; missing: string[]; release(): void };

/**
 * Opens a snapshot of everything that a service keeps in its data folder. Takes no lock of the folder, so the service may be running.
 *
 * @throws BackupError if the folder has no database, or if a restore replaces it at this moment
 */
export function openFolderSource(dataDir: string): Source {
  requireAccess(dataDir, { toWrite: false });
  for (let attempt = 1; ; attempt++) {
    const before = identityOf(dataDir);
    let [dump, hold]: [ReturnType<typeof openDump> | undefined, Hold | undefined] = [undefined, undefined];
    try {
      dump = openDump(dataDir);
      hold = holdFiles(dataDir, dump.connection);
      requireUnreplaced(dataDir, before);
      if (hold.missing.length === 0 || attempt === attemptsMax) return sourceOf(dump, hold);
    } catch (error) {
      dump?.connection.close();
      hold?.release();
      requireUnreplaced(dataDir, before);
      throw error;
    }
    dump.connection.close();
    hold.release();
  }
}

function openDump(dataDir: string): ReturnType<typeof openSqliteDump> {
  if (identityOf(dataDir) === undefined) throw new BackupError(`${dataDir} has no data: there is no ${databaseName}`);
  return openSqliteDump(join(dataDir, databaseName));
}

function sourceOf(dump: ReturnType<typeof openSqliteDump>, hold: Hold): Source {
  let isOpen = true;
  return {
    dump,
    missing: hold.missing.length,
    counters: hold.counters === undefined ? undefined : fileEntry(countersName, hold.counters),
    async *files() {
      for (const { entry, path } of hold.files) yield fileEntry(entry, path);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await dump.close();
      hold.release();
    },
  };
}

function fileEntry(name: string, path: string): Entry {
  return { name, bytes: statSync(path).size, content: bytesOf(path) };
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { highWaterMark: 256 * 1024 });
}

/** Links the files that a snapshot refers to, first those that the service deletes soonest. */
function holdFiles(dataDir: string, connection: DatabaseSync): Hold {
  const { path: folder, remove } = makeHeldFolder(dataDir, holdPrefix);
  const hold: Hold = { files: [], counters: undefined, missing: [], release: remove };
  try {
    const keep = (path: string, name: string): string | undefined => {
      const second = join(folder, name);
      return linkIfThere(path, second) ? second : undefined;
    };
    for (const name of uploadsOf(connection)) {
      const path = keep(join(dataDir, "uploads", name), name);
      if (path === undefined) hold.missing.push(`uploads/${name}`);
      else hold.files.push({ entry: `uploads/${name}`, path });
    }
    for (const { hash, isNeeded } of contentOf(connection)) {
      mkdirSync(join(folder, hash.slice(0, 2)), { recursive: true });
      // the sweep deletes the plain file first: if it still exists now, its other forms existed before
      const forms = suffixes.map((suffix) => ({
        suffix,
        path: keep(join(dataDir, contentEntry(hash + suffix)), join(hash.slice(0, 2), hash + suffix)),
      }));
      if (forms.at(-1)?.path === undefined && isNeeded) hold.missing.push(contentEntry(hash));
      for (const { suffix, path } of forms) if (path !== undefined) hold.files.push({ entry: contentEntry(hash + suffix), path });
    }
    hold.counters = keep(join(dataDir, countersName), countersName);
    return hold;
  } catch (error) {
    hold.release();
    throw error;
  }
}

function linkIfThere(path: string, second: string): boolean {
  try {
    linkSecond(path, second);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
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
export function* contentOf(connection: DatabaseSync): Generator<{ hash: string; isNeeded: boolean }> {
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
