import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEmpty, writeDurablySync } from "./files.ts";
import { makePrivate, requireAccess, whyNotMade } from "./folder-access.ts";

/** Another process has locked the folder. The message is one line that names it. */
export class FolderHeldError extends Error {
  constructor(folder: string, holder: string) {
    super(`${folder} is in use by ${holder}`);
    this.name = "FolderHeldError";
  }
}

/**
 * Locks a folder for this process. Creates it (mode 0700) if it is absent, and otherwise closes it to other users. The lock is that of an
 * SQLite file, so the operating system releases it however the process ends.
 *
 * @param who the name of this process in the refusal of others, such as `petstore serve`
 * @param waitMs how long to wait for another process; blocks the thread
 * @returns the lock and the path of its file: if that is removed, the lock keeps no other process out
 * @throws FolderHeldError
 */
export function lockFolder(folder: string, who: string, waitMs: number): { path: string; release(): void } {
  requireAccess(folder);
  makeFolder(folder);
  makePrivate(folder);
  createEmpty(lockFileOf(folder));
  const lock = lockFile(lockFileOf(folder), waitMs);
  if (lock === "held") throw new FolderHeldError(folder, holderIn(folder));
  const earlier = holderOfRemovedLock(folder);
  if (earlier !== undefined) {
    lock.close();
    throw new FolderHeldError(folder, `process ${earlier}, whose petstore.lock was removed: stop it first`);
  }
  writeDurablySync(holderFileOf(folder), `${who} (process ${process.pid})\n`);
  return { path: lockFileOf(folder), release: () => lock.close() };
}

/**
 * The id of a process that locked the folder by a file that was removed or renamed since. Linux lists which processes have exclusive locks of SQLite, and
 * the paths of their open files; elsewhere, that process itself notices that its lock is gone, and takes no writes.
 */
function holderOfRemovedLock(folder: string): string | undefined {
  try {
    const real = lockFileOf(realpathSync(folder));
    const isRemoved = (path: string): boolean => path.startsWith(real) && path !== real;
    const ids = new Set([...readFileSync("/proc/locks", "utf8").matchAll(exclusiveLock)].map(([, id]) => id!));
    return [...ids].find((id) => opensOf(id).some(isRemoved));
  } catch {
    return undefined; // not Linux
  }
}

/** A line of /proc/locks of a lock that begins at SQLite's pending byte: `1: POSIX  ADVISORY  WRITE 4711 08:01:2620 1073741824 1073742335`. */
const exclusiveLock = /WRITE (\d+) \S+ 1073741824 /g;

/** The paths of the files that a process has open. A removed file has a note behind its path. */
function opensOf(id: string): string[] {
  try {
    return readdirSync(`/proc/${id}/fd`).map((name) => readlinkSync(`/proc/${id}/fd/${name}`));
  } catch {
    return []; // it has ended, or is another user's
  }
}

/**
 * Returns the name of the process that has locked a folder, or undefined if none has. Changes nothing.
 *
 * @param waitMs how long to wait for that process; blocks the thread
 */
export function holderOf(folder: string, waitMs: number): string | undefined {
  if (!existsSync(lockFileOf(folder))) return undefined;
  try {
    const lock = lockFile(lockFileOf(folder), waitMs);
    if (lock === "held") return holderIn(folder);
    lock.close();
  } catch {
    // a file that cannot be locked
  }
  return undefined;
}

/**
 * Locks an SQLite file for this process, until the lock is closed. @throws an error of SQLite for a file or a file system that cannot be locked
 *
 * @param waitMs how long to wait for another process; blocks the thread
 */
export function lockFile(path: string, waitMs: number): DatabaseSync | "held" {
  const lock = new DatabaseSync(path, { timeout: waitMs });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    // SQLITE_BUSY and its extended codes
    if (((error as { errcode?: number }).errcode ?? 0) % 256 !== 5) throw error;
    return "held";
  }
}

const lockFileOf = (folder: string): string => join(folder, "petstore.lock");
/** Not the lock file: reading that would drop the POSIX locks that this process has on it. */
const holderFileOf = (folder: string): string => join(folder, "petstore.holder");

/** Creates one folder after the other. If one cannot be created, as below /proc, Node's own `recursive` may try for ever. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) {
    if (statSync(folder).isDirectory()) return;
    throw new Error(`DATA_DIR=${folder} is not a folder`);
  }
  try {
    if (dirname(folder) !== folder) makeFolder(dirname(folder));
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "") throw error;
    throw new Error(`DATA_DIR: ${folder} cannot be made (${code})${whyNotMade(dirname(folder), code)}`, { cause: error });
  }
}

function holderIn(folder: string): string {
  try {
    return readFileSync(holderFileOf(folder), "utf8").trim() || "another process";
  } catch {
    return "another process";
  }
}
