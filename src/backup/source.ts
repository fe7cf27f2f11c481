import { mkdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { encryptedColumns } from "../platform/encrypted-columns.ts";
import { linkOrCopy } from "../platform/files.ts";
import { requireAccess } from "../platform/folder-access.ts";
import { idsOf, type SecretsKeys, secretsKeysText } from "../platform/secrets.ts";
import type { Entry } from "./archive.ts";
import { bytesOf, type Source } from "./backup-file.ts";
import type { Dump, Table, Value } from "./dump.ts";
import { makeHeldFolder } from "./held-folder.ts";
import { BackupError, contentEntry, countersName, databaseName, type DataPlace, entryOfBlob, holdPrefix } from "./manifest.ts";
import { openPostgresDump, type PostgresDump } from "./postgres-dump.ts";
import { identityOf, requireUnreplaced, settleRestoreUnlocked } from "./restore-state.ts";
import { readKeys } from "./secrets.ts";
import { openSqliteDump, type SqliteDump } from "./sqlite-dump.ts";

const keyIdLength = 8;

/**
 * Opens a snapshot of everything that the service of these settings keeps. The service may be running.
 *
 * @param isIncluded whether the backup has the keys that decrypt its secrets
 * @throws BackupError if there is no data
 */
export async function openSource({ dataDir, databaseUrl, redisUrl, secretsKey }: DataPlace, isIncluded: boolean): Promise<Source> {
  await settleRestoreUnlocked(dataDir);
  const before = readKeys(dataDir);
  const source = databaseUrl === "" ? openFolderSource(dataDir) : await openPostgresSource(databaseUrl, dataDir);
  try {
    // A rotation may run meanwhile: it writes a new key to the file before it uses it, so the file has it now.
    const keys = secretsKey ?? joined(readKeys(dataDir), before);
    const used = new Set<string>();
    const dump: Dump = { ...source.dump, rows: (table) => noting(source.dump.rows(table), table, used) };
    const secrets = {
      text: isIncluded && keys !== null ? secretsKeysText(keys) : undefined,
      keys: () => neededKeys(keys, used, isIncluded),
    };
    return { ...source, dump, secrets, ...(redisUrl !== "" && { counters: undefined }) };
  } catch (error) {
    await source.close();
    throw error;
  }
}

function joined(newer: SecretsKeys | null, older: SecretsKeys | null): SecretsKeys | null {
  if (newer === null || older === null) return newer ?? older;
  return { current: newer.current, byId: new Map([...newer.byId, ...older.byId]) };
}

/** Passes rows on, and adds the identifiers of the keys that encrypt their secrets to `used`. */
async function* noting(pages: ReturnType<Dump["rows"]>, table: Table, used: Set<string>): AsyncGenerator<Value[][]> {
  const columns = new Set(encryptedColumns.filter((one) => one.table === table.name).map(({ column }) => column));
  const places = table.columns.flatMap(({ name }, at) => (columns.has(name) ? [at] : []));
  for await (const page of pages) {
    for (const row of page) for (const at of places) if (row[at] !== null) used.add(keyIdOf(String(row[at])));
    yield page;
  }
}

function keyIdOf(envelope: string): string {
  return envelope.slice("v1.".length, "v1.".length + keyIdLength).replaceAll(/[^ -~]/g, "?");
}

/**
 * The identifiers of the keys that the secrets of a backup need.
 *
 * @throws BackupError if the keys are to be included and one is not known here
 */
function neededKeys(keys: SecretsKeys | null, used: Set<string>, isIncluded: boolean): string[] {
  const known = keys === null ? [] : idsOf(keys);
  const absent = [...used].filter((id) => !known.includes(id)).toSorted();
  if (isIncluded && absent.length > 0) {
    throw new BackupError(
      `secrets are encrypted with key ${absent.join(" and ")}, which is not known here: set SECRETS_KEY as the service has it`,
    );
  }
  return [...known.filter((id) => used.has(id)), ...absent];
}

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

/** The tables that have photos: those of animals, and those of animals in the bin. Backups of earlier releases lack them. */
const photoTables = ["photo_files", "bin_photo_files"];

/**
 * The content of deployments and photos, each once and in the order of the hashes, as in an archive. The content of a deployment that is still
 * being unpacked may be absent, because the backup has its upload.
 */
function* contentOf(connection: DatabaseSync): Generator<{ hash: string; isNeeded: boolean }> {
  if (!hasTable(connection, "files")) return;
  const ofPhotos = photoTables.filter((table) => hasTable(connection, table)).map((table) => `UNION ALL SELECT hash, 1 FROM ${table}`);
  const rows = connection.prepare(`
    SELECT hash, MAX(needed) AS needed FROM (
      SELECT hash, status = 'ready' AS needed FROM files
      JOIN deployments ON deployments.account_id = files.account_id AND deployments.id = files.deployment_id ${ofPhotos.join(" ")})
    GROUP BY hash ORDER BY hash`);
  for (const { hash, needed } of rows.iterate()) yield { hash: String(hash), isNeeded: Number(needed) === 1 };
}

function hasTable(connection: DatabaseSync, name: string): boolean {
  return connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

/**
 * Opens a snapshot of everything that services keep in a PostgreSQL database: rows and published files. The services may be running.
 *
 * @param dataDir the data folder of a node, with the counters of the limits unless Redis has them
 */
async function openPostgresSource(url: string, dataDir: string): Promise<Omit<Source, "secrets">> {
  const dump = await openPostgresDump(url);
  try {
    const missing = await countMissing(dump);
    const counters = await openCounters(dataDir);
    let isOpen = true;
    return {
      dump,
      missing,
      counters: counters?.entry,
      files: () => publishedFilesOf(dump),
      async close() {
        if (!isOpen) return;
        isOpen = false;
        await dump.close();
        await counters?.close();
      },
    };
  } catch (error) {
    await dump.close();
    throw error;
  }
}

async function* publishedFilesOf(dump: PostgresDump): AsyncGenerator<Entry> {
  for await (const blob of dump.blobs()) yield { name: entryOfBlob(blob.name), bytes: blob.bytes, content: dump.bytesOf(blob) };
}

async function countMissing({ client, tables }: PostgresDump): Promise<number> {
  const has = new Set(tables.map(({ name }) => name));
  const ofPhotos = photoTables.filter((table) => has.has(table)).map((table) => `UNION SELECT hash FROM ${table}`);
  const { rows } = await client.query<{ missing: number }>(`
    SELECT COUNT(*) AS missing FROM (SELECT DISTINCT hash FROM files
      JOIN deployments ON deployments.account_id = files.account_id AND deployments.id = files.deployment_id
      WHERE deployments.status = 'ready' ${ofPhotos.join(" ")}) AS needed
    WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.name = needed.hash)`);
  return rows[0]?.missing ?? 0;
}

type Counters = { entry: Entry; close(): Promise<void> };

/** Opens the counters. Each save replaces the file, so the open one stays as it is. */
async function openCounters(dataDir: string): Promise<Counters | undefined> {
  const file = await open(join(dataDir, countersName)).catch((error: NodeJS.ErrnoException): undefined => {
    if (error.code !== "ENOENT") throw error;
  });
  if (file === undefined) return undefined;
  const { size } = await file.stat();
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* file!.createReadStream({ autoClose: false });
  }
  return { entry: { name: countersName, bytes: size, content: bytes() }, close: () => file.close() };
}
