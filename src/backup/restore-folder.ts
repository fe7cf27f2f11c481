import { existsSync } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { flushFolder, makeFolder, writeNew } from "../platform/files.ts";
import { holderOf, lockFolder } from "../platform/lock.ts";
import type { ArchiveDump } from "./archive-dump.ts";
import { onInterruption } from "./interruption.ts";
import { BackupError, contentEntry, countersName, databaseName, secretsName } from "./manifest.ts";
import { openChecking, type Restore } from "./restore-check.ts";
import { beginBuilding, dataIn, removeBuilding, removeTraces, replaceState, settleRestore } from "./restore-state.ts";
import { loadIntoSqlite } from "./sqlite-dump.ts";

const lockWaitMs = 1_000;

/**
 * Restores a checked backup into a data folder. Old and new files never mix, and a kill at any moment leaves the old state or the new one.
 *
 * @returns the folder that has the old state, if there was one
 * @throws BackupError if the folder is not empty and `replace` is not set; FolderHeldError if a server runs on it
 */
export async function restoreIntoFolder(dataDir: string, restore: Restore): Promise<string | null> {
  const wasAbsent = !existsSync(dataDir);
  const wasEmpty = wasAbsent || (await readdir(dataDir)).length === 0;
  await requireTarget(dataDir, restore.replace);
  const lock = lockFolder(dataDir, "petstore restore", lockWaitMs);
  let endUndo = (): void => undefined;
  try {
    await settleRestore(dataDir);
    await requireRoom(dataDir, restore.replace); // a restore that was killed may just have been finished
    const building = await beginBuilding(dataDir);
    endUndo = onInterruption(() => removeBuilding(dataDir, wasEmpty, wasAbsent));
    await build(building, restore);
    endUndo(); // from here on a signal ends the command as a kill does: the next command finishes the restore or removes it
    return await replaceState(dataDir);
  } catch (error) {
    if (wasEmpty) await removeTraces(dataDir, wasAbsent).catch(() => undefined); // the first error matters more
    throw error;
  } finally {
    endUndo();
    lock.release();
  }
}

/** @throws BackupError if a process uses the folder, or if it is not empty and `replace` is not set */
export async function requireTarget(dataDir: string, replace: boolean): Promise<void> {
  const holder = holderOf(dataDir, lockWaitMs);
  if (holder !== undefined) throw new BackupError(`${dataDir} is in use by ${holder}: stop it first, or choose another DATA_DIR`);
  await requireRoom(dataDir, replace);
}

async function requireRoom(dataDir: string, replace: boolean): Promise<void> {
  const names = await dataIn(dataDir);
  if (names.length === 0 || replace) return;
  throw new BackupError(
    `${dataDir} is not empty (it has ${names.toSorted()[0]}): choose an empty DATA_DIR, or add --replace to set it aside`,
  );
}

async function build(building: string, restore: Restore): Promise<void> {
  const dump = await restore.archive.open();
  try {
    const checking = openChecking(dump, restore);
    await loadIntoSqlite(join(building, databaseName), { ...dump, rows: checking.rows }, restore.progress, async (ask, sums) => {
      await storeFiles(building, dump);
      await checking.finish(sums, ask, join(building, countersName), (form) => sizeOf(join(building, contentEntry(form))));
    });
  } finally {
    await dump.close();
  }
}

async function storeFiles(building: string, dump: ArchiveDump): Promise<void> {
  if (dump.secrets !== undefined) await writeNew(join(building, secretsName), `${dump.secrets}\n`);
  const folders = new Set([building]);
  for await (const { name, content } of dump.files()) {
    const path = join(building, name);
    if (!folders.has(dirname(path))) await makeFolder(dirname(path));
    folders.add(dirname(path));
    await writeNew(path, content);
  }
  await mkdir(join(building, "content"), { recursive: true, mode: 0o700 });
  for (const folder of folders) await flushFolder(folder);
}

function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
