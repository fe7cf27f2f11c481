import { createReadStream, lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { placeNew, writeSteadily } from "../platform/files.ts";
import { programVersion } from "../platform/program-version.ts";
import { checkArchive } from "./archive-check.ts";
import { openArchiveDump, type CheckedArchive } from "./archive-dump.ts";
import { archiveOf, summed, sumParts, textEntry, type Entry } from "./archive.ts";
import { DumpError, pageText, type Dump, type Progress } from "./dump.ts";
import { makeHeldFolder } from "./held-folder.ts";
import { ArchiveError, backupFormat, BackupError, countersName, headerName, manifestName, secretsName, type Manifest } from "./manifest.ts";

/** A snapshot of everything that a backup contains. */
export type Source = {
  dump: Dump;
  /** Published files and waiting uploads, by their names in the archive. */
  files(): AsyncIterable<Entry>;
  /** How many files the database refers to that are absent. */
  missing: number;
  /** The counters of the limits; undefined if there are none yet or Redis has them. */
  counters: Entry | undefined;
  /**
   * The secrets key, undefined if the backup leaves it out. `keys` is called once every row has been read. It returns the ids of the keys in use,
   * and throws if the backup could not be opened.
   */
  secrets: { text: string | undefined; keys: () => string[] };
  /** Ends the snapshot and releases its files. Further calls do nothing. */
  close(): Promise<void>;
};

/** `now` is in ms since the Unix epoch. */
type Making = { now: number; passphrase: string | undefined; progress: Progress };

/** A backup is written in a folder beside its place. The folder's name begins with this. */
const partialPrefix = ".petstore-backup-";

/**
 * Writes a backup in a folder beside its place, reads it back, and gives it its name: a file with that name is complete, on the disk and
 * checked. Its mode is 0600. It never replaces anything, even if two commands write to one path at the same time.
 *
 * @param path of a file that does not exist
 * @throws BackupError; the system's error if the disk is full
 */
export async function writeBackup(path: string, source: Source, making: Making): Promise<{ manifest: Manifest; bytes: number }> {
  requireNew(path);
  const folder = makeHeldFolder(dirname(path), partialPrefix);
  const partial = join(folder.path, "backup");
  try {
    const result: { manifest?: Manifest } = {};
    const bytes = await writeSteadily(partial, archiveOf(backupEntries(source, making, result), making.now, making.passphrase));
    await source.close(); // the snapshot is no longer needed, so that the log of the database may be restarted
    const manifest = await checkBackup(partial, making.passphrase);
    if (JSON.stringify(manifest) !== JSON.stringify(result.manifest))
      throw new BackupError(`${path} was not written as it should be: the disk has changed it`);
    await placeNew(partial, path).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "EEXIST" ? existing(path) : error;
    });
    return { manifest, bytes };
  } finally {
    folder.remove();
  }
}

/** @throws BackupError if the name is taken, even by a symbolic link that leads nowhere, or if its folder does not exist */
export function requireNew(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) throw existing(path);
  if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new BackupError(`there is no folder ${dirname(path)}`);
}

function existing(path: string): BackupError {
  return new BackupError(`${path} exists already: choose another name, or remove it`);
}

/** Checks every byte of a backup, and returns how to read it. @throws BackupError, whose message begins with the path */
export async function openBackup(path: string, passphrase: string | undefined): Promise<CheckedArchive> {
  const manifest = await checkBackup(path, passphrase);
  return { manifest, open: () => openArchiveDump(bytesOf(path), passphrase, manifest) };
}

async function checkBackup(path: string, passphrase: string | undefined): Promise<Manifest> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new BackupError(`there is no file ${path}`);
  if (!stats.isFile()) throw new BackupError(`${path} is not a file`);
  return withName(path, () => checkArchive(bytesOf(path), passphrase));
}

/** Runs a step, and puts the file's name before what is wrong with it. */
export async function withName<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof DumpError) throw new BackupError(`${path} cannot be restored: ${error.message}`, { cause: error });
    if (!(error instanceof ArchiveError)) throw error;
    throw new BackupError(`${path} ${error.message}`, { cause: error });
  }
}

/** Opens the file when its first bytes are read. */
export async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { highWaterMark: 256 * 1024 });
}

/** Rows are collected until an entry has this many characters. */
const entryLength = 1 << 20;

/** Yields the entries of a backup. The last one is the manifest, which `result` then has. */
async function* backupEntries(source: Source, { now, progress }: Making, result: { manifest?: Manifest }): AsyncGenerator<Entry> {
  const { secrets } = source;
  const program = programVersion();
  yield textEntry(headerName, `${JSON.stringify({ format: backupFormat, program })}\n`);
  const sums = sumParts();
  yield* summed(parts(source, progress), sums);
  const { engine, migrations, tables, sequences } = source.dump;
  result.manifest = {
    format: backupFormat,
    program,
    madeAt: now,
    engine,
    migrations,
    tables,
    sequences,
    secrets: { isIncluded: secrets.text !== undefined, keys: secrets.keys() },
    missing: source.missing,
    parts: sums.end(),
  };
  yield textEntry(manifestName, `${JSON.stringify(result.manifest, null, 2)}\n`);
}

async function* parts(source: Source, progress: Progress): AsyncGenerator<Entry> {
  if (source.secrets.text !== undefined) yield textEntry(secretsName, `${source.secrets.text}\n`);
  for (const table of source.dump.tables) {
    let [text, rows, number, all] = ["", 0, 1, 0];
    const entry = (): Entry => textEntry(`database/${table.name}/${String(number++).padStart(6, "0")}.jsonl`, text, rows);
    for await (const page of source.dump.rows(table)) {
      text += pageText(page);
      rows += page.length;
      progress(table.name, (all += page.length));
      if (text.length < entryLength) continue;
      yield entry();
      [text, rows] = ["", 0];
    }
    if (rows > 0) yield entry();
  }
  if (source.counters) yield { ...source.counters, name: countersName };
  let files = 0;
  for await (const file of source.files()) {
    yield file;
    progress("files", ++files);
  }
}
