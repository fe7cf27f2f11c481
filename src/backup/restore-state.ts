import { existsSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { mkdir, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock } from "../platform/clock.ts";
import { flushFolder, moveDurably, writeDurably } from "../platform/files.ts";
import { requireAccess } from "../platform/folder-access.ts";
import { lockFolder } from "../platform/lock.ts";
import { BackupError, databaseName, holdPrefix, lastBackupName } from "./manifest.ts";

/**
 * How a restored state replaces another, so that a kill at any moment leaves the old state or the new one. The new state is built in a folder
 * inside the data folder, so the data folder may be a mount point, and its parent need not be writable. When the new state is complete and on the
 * disk, a journal records it. If a kill comes after that, the next command that opens the folder finishes the moves; if it comes before, the next
 * command removes what was built.
 */
const buildingName = "petstore.restoring";
const journalName = "petstore.restored";
const asidePrefix = "petstore.replaced-";
/** These stay where they are: a process that waits for the folder has the lock open. */
const lockNames = ["petstore.lock", "petstore.lock-journal", "petstore.holder", "petstore.holder.new"];
const stayingNames = new Set([
  ...lockNames,
  journalName,
  `${journalName}.new`,
  buildingName,
  lastBackupName,
  `${lastBackupName}.new`,
  "lost+found",
]);
/** Folders with these prefixes stay too: states that were set aside, and files that a running backup still reads. */
const stayingPrefixes = [asidePrefix, holdPrefix];

function isStaying(name: string): boolean {
  return stayingNames.has(name) || stayingPrefixes.some((prefix) => name.startsWith(prefix));
}

type Journal = {
  /** The folder that the old state moves to; null if there is none. */
  aside: string | null;
  /** Whether all of the old state is there, so that the new one may move in. */
  isAside: boolean;
};

function buildingIn(dataDir: string): string {
  return join(dataDir, buildingName);
}

/** The names in a data folder without those of locks, the socket and restores. */
export async function dataIn(dataDir: string): Promise<string[]> {
  const stats = await stat(dataDir).catch((error: NodeJS.ErrnoException): undefined => {
    if (error.code !== "ENOENT") throw error;
  });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) throw new BackupError(`DATA_DIR=${dataDir} is not a folder`);
  const names = await readdir(dataDir);
  return names.filter((name) => !isStaying(name) && name !== "petstore.sock");
}

/** Distinguishes a database file from one that took its place. Undefined if there is none. */
export function identityOf(dataDir: string): string | undefined {
  const stats = statSync(join(dataDir, databaseName), { throwIfNoEntry: false, bigint: true });
  return stats && `${stats.dev} ${stats.ino}`;
}

/** @throws BackupError if a restore replaces the folder's files, or has replaced the database with this identity */
export function requireUnreplaced(dataDir: string, identity: string | undefined): void {
  if (identityOf(dataDir) === identity && !existsSync(join(dataDir, journalName))) return;
  throw new BackupError(`a restore replaces what is in ${dataDir} at this moment: run the command again when it is done`);
}

/** Makes an empty folder to build in, and removes that of a killed restore. The caller has locked the data folder. */
export async function beginBuilding(dataDir: string): Promise<string> {
  const building = buildingIn(dataDir);
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { mode: 0o700 });
  return building;
}

/**
 * Puts the built state in place of the old one, which moves to `DATA_DIR.replaced-TIME` or, where that is impossible, to a folder of that
 * name inside. Returns that folder, if there was an old state. The caller has locked the data folder, and has flushed what it built.
 */
export async function replaceState(dataDir: string): Promise<string | null> {
  const isFilled = (await dataIn(dataDir)).length > 0;
  const aside = isFilled ? await makeAside(dataDir, timeOfRestore()) : null;
  await writeDurably(join(dataDir, journalName), JSON.stringify({ aside, isAside: false } satisfies Journal));
  await finishMoves(dataDir);
  return aside;
}

/** A time to the millisecond, as `20261122T143000123Z`, for the name of a state that is set aside, because two restores may begin in the same second. */
export function timeOfRestore(): string {
  return new Date(systemClock()).toISOString().replaceAll(/[-:.]/g, "");
}

async function makeAside(dataDir: string, time: string): Promise<string> {
  const beside = `${dataDir}.replaced-${time}`;
  try {
    await mkdir(beside, { mode: 0o700 });
    if ((await stat(beside)).dev === (await stat(dataDir)).dev) {
      await flushFolder(dirname(beside));
      return beside;
    }
    await rmdir(beside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
  }
  const inside = join(dataDir, asidePrefix + time);
  await mkdir(inside, { mode: 0o700 });
  return inside;
}

/** Finishes the moves of the journal, which must exist. The caller has locked the data folder. */
async function finishMoves(dataDir: string): Promise<void> {
  const path = join(dataDir, journalName);
  const journal = JSON.parse(readFileSync(path, "utf8")) as Journal;
  if (journal.aside !== null && !journal.isAside) {
    for (const name of await readdir(dataDir)) {
      if (!isStaying(name)) await moveDurably(join(dataDir, name), join(journal.aside, name));
    }
    await writeDurably(path, JSON.stringify({ ...journal, isAside: true } satisfies Journal));
  }
  const building = buildingIn(dataDir);
  if (journal.aside === null) await rm(join(dataDir, "petstore.sock"), { force: true });
  // the database comes last: without it there is no state
  const built = existsSync(building) ? await readdir(building) : [];
  const names = built.toSorted((a, b) => Number(a === databaseName) - Number(b === databaseName));
  for (const name of names) await moveDurably(join(building, name), join(dataDir, name));
  await rm(building, { recursive: true, force: true });
  await rm(path);
  await flushFolder(dataDir);
}

/**
 * Finishes a complete restore that was killed, and removes an incomplete one. The caller has locked the data
 * folder, so no restore is running.
 */
export async function settleRestore(dataDir: string): Promise<void> {
  if (existsSync(join(dataDir, journalName))) await finishMoves(dataDir);
  else await rm(buildingIn(dataDir), { recursive: true, force: true });
}

/** Like `settleRestore`, for a command that has no lock: only finishes a complete restore, and locks the folder for it. */
export async function settleRestoreUnlocked(dataDir: string): Promise<void> {
  requireAccess(dataDir, { toWrite: false });
  if (!existsSync(join(dataDir, journalName))) return;
  const lock = lockFolder(dataDir, "petstore", 5_000);
  try {
    await settleRestore(dataDir);
  } finally {
    lock.release();
  }
}

/** Removes what an interrupted restore has built, and the folder too if it was absent. Blocks. */
export function removeBuilding(dataDir: string, wasEmpty: boolean, wasAbsent: boolean): void {
  rmSync(buildingIn(dataDir), { recursive: true, force: true, maxRetries: 3 });
  if (!wasEmpty) return;
  for (const name of lockNames) rmSync(join(dataDir, name), { force: true });
  if (wasAbsent) rmdirSync(dataDir);
}

/** Removes what a failed restore has made in a folder that was absent or empty before. The folder is still locked. */
export async function removeTraces(dataDir: string, wasAbsent: boolean): Promise<void> {
  await rm(buildingIn(dataDir), { recursive: true, force: true });
  const names = await readdir(dataDir);
  if (names.some((name) => !lockNames.includes(name))) return;
  for (const name of names) await rm(join(dataDir, name), { force: true });
  if (wasAbsent) await rmdir(dataDir);
}
