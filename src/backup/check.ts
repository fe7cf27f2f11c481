import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { storageFaultOf } from "../platform/db/sqlite-statements.ts";
import { writeNew } from "../platform/files.ts";
import { requireAccess } from "../platform/folder-access.ts";
import type { ArchiveDump } from "./archive-dump.ts";
import { checkCounters } from "./check-counters.ts";
import { checkBlobs, checkContentFolder } from "./check-content.ts";
import { checkEvents, type CheckedEvents } from "./check-events.ts";
import { asking, attemptCheck, checkDatabase, openFaults, type Ask, type Faults, type SecretsCheck } from "./check-database.ts";
import { sumTable, type Dump } from "./dump.ts";
import { makeHeldFolder } from "./held-folder.ts";
import { BackupError, countersName, databaseName, type Manifest } from "./manifest.ts";
import { openPostgresDump } from "./postgres-dump.ts";
import { requireSums } from "./restore-check.ts";
import { identityOf, requireUnreplaced } from "./restore-state.ts";
import { openSqliteDump } from "./sqlite-dump.ts";
import { loadIntoSqlite } from "./sqlite-load.ts";

/** The faults that a check found, one line each, and the rows and files that it checked. */
export type Checked = { faults: string[]; rows: Record<string, number>; files: number; events?: CheckedEvents | undefined };

/**
 * Checks a data folder, even while a service runs on it.
 *
 * @param secrets undefined if the keys are not known
 * @throws BackupError if the folder has no database, or if a restore replaces it meanwhile
 */
export async function checkFolder(dataDir: string, secrets: SecretsCheck | undefined, withEvents = false): Promise<Checked> {
  const file = join(dataDir, databaseName);
  requireAccess(dataDir, { toWrite: false });
  if (!existsSync(file)) requireUnreplaced(dataDir, undefined);
  if (!existsSync(file)) throw new BackupError(`${dataDir} has no data: there is no ${databaseName}`);
  const identity = identityOf(dataDir);
  const faults = openFaults();
  let dump: ReturnType<typeof openSqliteDump>;
  try {
    dump = openSqliteDump(file);
  } catch (error) {
    if (storageFaultOf(error) !== "damaged") throw error;
    return { faults: [`the database is damaged: ${(error as Error).message}`], rows: {}, files: 0 };
  }
  try {
    const ask = asking(dump);
    await checkDatabase(dump, ask, secrets, faults);
    const events = withEvents ? await checkLog(dump, ask, faults) : undefined;
    const files = await countFiles(faults, dump, () => checkContentFolder(dataDir, ask, faults));
    await attemptCheck(faults, countersName, () => checkCounters(join(dataDir, countersName), faults));
    requireUnreplaced(dataDir, identity);
    return { faults: faults.lines, rows: await countRows(dump, faults), files, events };
  } finally {
    await dump.close();
  }
}

/** Checks a PostgreSQL database, even while services run on it. */
export async function checkPostgres(url: string, secrets: SecretsCheck | undefined, withEvents = false): Promise<Checked> {
  const faults = openFaults();
  const dump = await openPostgresDump(url);
  try {
    const ask = asking(dump);
    await checkDatabase(dump, ask, secrets, faults);
    const events = withEvents ? await checkLog(dump, ask, faults) : undefined;
    const files = await countFiles(faults, dump, () => checkBlobs(dump, ask, faults));
    return { faults: faults.lines, rows: await countRows(dump, faults), files, events };
  } finally {
    await dump.close();
  }
}

/**
 * Checks the state in an archive whose bytes `checkBackup` has checked: restores it into a folder in `TMPDIR`, and checks that folder.
 *
 * @param reopen opens the archive from its beginning
 */
export async function checkArchiveState(
  manifest: Manifest,
  columns: SecretsCheck["columns"],
  reopen: () => Promise<ArchiveDump>,
  withEvents = false,
): Promise<Checked> {
  const { path: folder, remove } = makeHeldFolder(tmpdir(), "petstore-verify-");
  const dump = await reopen().catch((error: unknown) => {
    remove();
    throw error;
  });
  try {
    requireSums(await loadIntoSqlite(join(folder, databaseName), dump), manifest);
    for await (const { name, content } of dump.files()) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeNew(join(folder, name), content);
    }
    return await checkFolder(folder, { keyIds: manifest.secrets.keys, columns }, withEvents);
  } finally {
    await dump.close();
    remove();
  }
}

/** Data of a release without events has none to check. */
async function checkLog(dump: Dump, ask: Ask, faults: Faults): Promise<CheckedEvents | undefined> {
  if (!dump.tables.some(({ name }) => name === "events")) return undefined;
  let events: CheckedEvents | undefined;
  await attemptCheck(faults, "the event log", async () => void (events = await checkEvents(ask, faults)));
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
