import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { storageFaultOf } from "../platform/db/sqlite-statements.ts";
import { writeNew } from "../platform/files.ts";
import { requireAccess } from "../platform/folder-access.ts";
import type { CheckedArchive } from "./archive-dump.ts";
import { attemptCheck, checkDatabase, openFaults, type Faults, type KeyIds } from "./check-database.ts";
import { checkEvents, type CheckedEvents } from "./check-events.ts";
import { checkBlobs, checkContentFolder, checkCounters } from "./check-files.ts";
import { sumTable, type Dump } from "./dump.ts";
import { makeHeldFolder } from "./held-folder.ts";
import { BackupError, countersName, databaseName } from "./manifest.ts";
import { openPostgresDump } from "./postgres-dump.ts";
import { requireSums } from "./restore-check.ts";
import { identityOf, requireUnreplaced } from "./restore-state.ts";
import { loadIntoSqlite, openSqliteDump, type SqliteDump } from "./sqlite-dump.ts";

/** The faults that a check found, one line each, and the rows and files that it checked. */
export type CheckReport = { faults: string[]; rows: Record<string, number>; files: number; events?: CheckedEvents | undefined };

/**
 * Checks a data folder, even while a service runs on it.
 *
 * @param keyIds undefined if the keys are not known
 * @throws BackupError if the folder has no database, or if a restore replaces it meanwhile
 */
export async function checkFolder(dataDir: string, keyIds: KeyIds, withEvents = false): Promise<CheckReport> {
  const file = join(dataDir, databaseName);
  requireAccess(dataDir, { toWrite: false });
  if (!existsSync(file)) requireUnreplaced(dataDir, undefined);
  if (!existsSync(file)) throw new BackupError(`${dataDir} has no data: there is no ${databaseName}`);
  const identity = identityOf(dataDir);
  const faults = openFaults();
  let dump: SqliteDump;
  try {
    dump = openSqliteDump(file);
  } catch (error) {
    if (storageFaultOf(error) !== "damaged") throw error;
    return { faults: [`the database is damaged: ${(error as Error).message}`], rows: {}, files: 0 };
  }
  return checkSnapshot(dump, keyIds, withEvents, faults, async () => {
    const files = await countFiles(faults, dump, () => checkContentFolder(dataDir, dump.ask, faults));
    await attemptCheck(faults, countersName, () => checkCounters(join(dataDir, countersName), faults));
    requireUnreplaced(dataDir, identity);
    return files;
  });
}

/** Checks a PostgreSQL database, even while services run on it. */
export async function checkPostgres(url: string, keyIds: KeyIds, withEvents = false): Promise<CheckReport> {
  const faults = openFaults();
  const dump = await openPostgresDump(url);
  return checkSnapshot(dump, keyIds, withEvents, faults, () => countFiles(faults, dump, () => checkBlobs(dump, faults)));
}

/** Checks a snapshot, and closes it. `checkFiles` checks the files that it refers to, and returns their number. */
async function checkSnapshot(
  dump: Dump,
  keyIds: KeyIds,
  withEvents: boolean,
  faults: Faults,
  checkFiles: () => Promise<number>,
): Promise<CheckReport> {
  try {
    await checkDatabase(dump, keyIds, faults);
    const events = withEvents ? await checkLog(dump, faults) : undefined;
    const files = await checkFiles();
    return { faults: faults.lines, rows: await countRows(dump, faults), files, events };
  } finally {
    await dump.close();
  }
}

/** Checks the state in an archive whose bytes were checked: restores it into a folder in `TMPDIR`, and checks that folder. */
export async function checkArchiveState({ manifest, open }: CheckedArchive, withEvents = false): Promise<CheckReport> {
  const { path: folder, remove } = makeHeldFolder(tmpdir(), "petstore-verify-");
  const dump = await open().catch((error: unknown) => {
    remove();
    throw error;
  });
  try {
    requireSums(await loadIntoSqlite(join(folder, databaseName), dump), manifest);
    for await (const { name, content } of dump.files()) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeNew(join(folder, name), content);
    }
    return await checkFolder(folder, manifest.secrets.keys, withEvents);
  } finally {
    await dump.close();
    remove();
  }
}

/** Data of a release without events has none to check. */
async function checkLog(dump: Dump, faults: Faults): Promise<CheckedEvents | undefined> {
  if (!dump.tables.some(({ name }) => name === "events")) return undefined;
  let events: CheckedEvents | undefined;
  await attemptCheck(faults, "the event log", async () => void (events = await checkEvents(dump, faults)));
  return events;
}

async function countFiles(faults: Faults, dump: Dump, check: () => Promise<number>): Promise<number> {
  let files = 0;
  if (dump.tables.some(({ name }) => name === "deployments"))
    await attemptCheck(faults, "published files", async () => void (files = await check()));
  return files;
}

async function countRows(dump: Dump, faults: Faults): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of dump.tables) {
    await attemptCheck(faults, table.name, async () => void (rows[table.name] = (await sumTable(dump, table)).rows));
  }
  return rows;
}
