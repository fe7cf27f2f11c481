import { createReadStream, lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { placeNew, writeSteadily } from "../platform/files.ts";
import { checkArchive } from "./archive-check.ts";
import { archiveOf } from "./archive-writer.ts";
import { DumpError } from "./dump.ts";
import { makeHeldFolder } from "./held-folder.ts";
import { ArchiveError, BackupError, type Manifest } from "./manifest.ts";
import { backupEntries, type BackupOptions, type Source } from "./source.ts";

/** A backup is written in a folder beside its place. The folder's name begins with this. */
const partialPrefix = ".petstore-backup-";

/**
 * Writes a backup in a folder beside its place, reads it back, and gives it its name: a file with that name is complete, on the disk and
 * checked. Its mode is 0600. It never replaces anything, even if two commands write to one path at the same time.
 *
 * @param path of a file that does not exist
 * @throws BackupError; the system's error if the disk is full
 */
export async function writeBackup(
  path: string,
  source: Source,
  options: BackupOptions & { passphrase: string | undefined },
): Promise<{ manifest: Manifest; bytes: number }> {
  requireNew(path);
  const folder = makeHeldFolder(dirname(path), partialPrefix);
  const partial = join(folder.path, "backup");
  try {
    const result: { manifest?: Manifest } = {};
    const bytes = await writeSteadily(partial, archiveOf(backupEntries(source, options, result), options.now, options.passphrase));
    await source.close(); // the snapshot is no longer needed, so that the log of the database may be restarted
    const manifest = await checkBackup(partial, options.passphrase);
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

/** Checks every byte of a backup. @throws BackupError, whose message begins with the path */
export async function checkBackup(path: string, passphrase: string | undefined): Promise<Manifest> {
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

export function bytesOf(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: 256 * 1024 });
}
