import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEmpty, writeDurablySync } from "./files.ts";
import { makePrivate } from "./private-folder.ts";

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
 * @throws FolderHeldError
 */
export function lockFolder(folder: string, who: string, waitMs: number): { release(): void } {
  makeFolder(folder);
  makePrivate(folder);
  const lockFile = join(folder, "petstore.lock");
  createEmpty(lockFile);
  const lock = new DatabaseSync(lockFile, { timeout: waitMs });
  // Not in the lock file: reading that would drop the POSIX locks that this process has on it.
  const holderFile = join(folder, "petstore.holder");
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
    throw new FolderHeldError(folder, holderIn(holderFile));
  }

  writeDurablySync(holderFile, `${who} (process ${process.pid})\n`);
  return { release: () => lock.close() };
}

const sqliteBusy = 5;

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
    throw new Error(`DATA_DIR: ${folder} cannot be made (${code})`, { cause: error });
  }
}

function holderIn(file: string): string {
  try {
    return readFileSync(file, "utf8").trim() || "another process";
  } catch {
    return "another process";
  }
}
