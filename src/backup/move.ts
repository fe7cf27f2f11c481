import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Transaction } from "../platform/db/database.ts";
import { migrationsFor, pendingOf } from "../platform/db/migrate.ts";
import { recoverLog } from "../platform/db/sqlite-recovery.ts";
import { flushFolder, makeFolder, placeFile, writeDurably } from "../platform/files.ts";
import { lockFolder } from "../platform/lock.ts";
import { Problem } from "../platform/problem.ts";
import { DumpError, sumTable, type Dump, type DumpedRows, type Progress, type TableSum } from "./dump.ts";
import { onInterruption } from "./interruption.ts";
import { blobNameOf, countersName, databaseName, entryOfBlob, unfinishedFile, unfinishedTable } from "./manifest.ts";
import {
  functionsIn,
  hasLiveNodes,
  loadIntoPostgres,
  locking,
  openPostgresDump,
  sequencesIn,
  storeBlob,
  tablesIn,
  type PostgresDump,
} from "./postgres-dump.ts";
import { filesOf } from "./source.ts";
import { loadIntoSqlite, openSqliteDump, type SqliteDump } from "./sqlite-dump.ts";

const lockWaitMs = 1_000;

/** The rows and files that were copied and compared. */
export type MoveReport = { tables: Record<string, TableSum>; files: number; bytes: number };

/**
 * Copies a data folder that no server uses into an empty PostgreSQL database: all rows and files in one transaction, which is read again
 * and compared. Until the comparison is over the database is marked as unfinished, and the next move into it starts over.
 *
 * @throws DumpError; FolderHeldError if a server uses the folder
 */
export async function moveToPostgres(dataDir: string, url: string, progress: Progress): Promise<MoveReport> {
  const file = join(dataDir, databaseName);
  if (!existsSync(file)) throw new DumpError(`there is no data to move: DATA_DIR=${dataDir} has no ${databaseName}`);
  const lock = lockFolder(dataDir, "petstore move", lockWaitMs);
  try {
    return await copyToPostgres(dataDir, file, url, progress);
  } finally {
    lock.release();
  }
}

async function copyToPostgres(dataDir: string, file: string, url: string, progress: Progress): Promise<MoveReport> {
  recoverLog(file);
  const dump = openSqliteDump(file);
  try {
    let stored = { files: 0, bytes: 0 };
    const copied = await explained("nothing was changed", () => {
      requireCurrent(dump);
      return loadIntoPostgres(url, sourceOf(dump), {
        progress,
        prepare: makeRoomInPostgres,
        finish: async (tx) => void (stored = await storeFiles(tx, dataDir, dump, progress)),
      });
    });
    return await explained("the copy is unfinished: move again, which begins anew; the source was not changed", async () => {
      const target = await openPostgresDump(url);
      const tables = await compare(dump, copied, target, progress);
      await markFinished(url);
      return { tables, ...stored };
    });
  } finally {
    await dump.close();
  }
}

/** Accepts an empty database, and empties one that an earlier move has left unfinished. */
async function makeRoomInPostgres(tx: Transaction): Promise<void> {
  const tables = await tablesIn(tx);
  if (tables.includes(unfinishedTable)) await dropAll(tx, tables);
  else if (tables.length > 0) throw new DumpError(`the database is not empty: it has the table ${tables[0]}; move into an empty one`);
  await tx.script(`CREATE TABLE ${unfinishedTable} (started_at BIGINT NOT NULL)`);
}

async function dropAll(tx: Transaction, tables: string[]): Promise<void> {
  for (const name of await functionsIn(tx)) await tx.script(`DROP FUNCTION ${name} CASCADE`); // with the triggers that run it
  await tx.script(`DROP TABLE ${tables.map((name) => pg.escapeIdentifier(name)).join(", ")}`);
  for (const name of await sequencesIn(tx)) await tx.script(`DROP SEQUENCE ${pg.escapeIdentifier(name)}`);
}

async function markFinished(url: string): Promise<void> {
  await locking(url, (client) => client.query(`DROP TABLE ${unfinishedTable}`));
}

/** Stores the archives that wait to be unpacked, and the published files with their compressed forms. */
async function storeFiles(
  tx: Transaction,
  dataDir: string,
  { connection }: SqliteDump,
  progress: Progress,
): Promise<{ files: number; bytes: number }> {
  let [files, bytes] = [0, 0];
  for (const { entry, hash, isNeeded } of filesOf(connection)) {
    const path = join(dataDir, entry);
    if (!isNeeded && !existsSync(path)) continue;
    if (hash !== undefined && !existsSync(path))
      throw new DumpError(`the published file ${path} is absent: restore it from a backup first`);
    const stored = await storeBlob(tx, blobNameOf(entry), createReadStream(path, { highWaterMark: 256 * 1024 }));
    if (hash !== undefined && stored.sha256 !== hash)
      throw new DumpError(`the published file ${path} is damaged: restore it from a backup first`);
    progress("files", ++files);
    bytes += stored.bytes;
  }
  return { files, bytes };
}

/** The files that a lock leaves in a folder without data. */
const lockNames = new Set(["petstore.lock", "petstore.lock-journal", "petstore.holder"]);

/**
 * Copies a PostgreSQL database that no node serves into an empty folder, reads it again and compares it. The database file gets its name
 * last; until then a file marks the folder as unfinished, and the next move into it starts over.
 *
 * @param counters path of the file with the limits' counters of the node that runs this
 * @throws DumpError; FolderHeldError if another process uses the folder
 */
export async function moveToFolder(url: string, folder: string, counters: string | undefined, progress: Progress): Promise<MoveReport> {
  const wasAbsent = !existsSync(folder);
  requireEmptyFolder(folder);
  const lock = lockFolder(folder, "petstore move", lockWaitMs);
  let isDone = false;
  let endUndo = (): void => undefined;
  try {
    const moved = await explained("nothing was changed", async () => {
      requireEmptyFolder(folder);
      await writeDurably(join(folder, unfinishedFile), "");
      // the mark stays, because a write may still be under way; the next move starts over
      endUndo = onInterruption(() => removeCopy(folder));
      removeCopy(folder);
      return copyToFolder(url, folder, counters, progress);
    });
    isDone = true;
    return moved;
  } finally {
    endUndo();
    if (!isDone) removeCopy(folder);
    rmSync(join(folder, unfinishedFile), { force: true });
    await flushFolder(folder);
    lock.release();
    if (!isDone && wasAbsent) removeEmpty(folder);
  }
}

function requireEmptyFolder(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const other = names.find((name) => !lockNames.has(name));
  if (other === undefined || names.includes(unfinishedFile)) return;
  throw new DumpError(`${folder} is not empty: it has ${other}; move into an empty folder`);
}

function removeCopy(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!lockNames.has(name) && name !== unfinishedFile) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function removeEmpty(folder: string): void {
  for (const name of lockNames) rmSync(join(folder, name), { force: true });
  rmdirSync(folder);
}

async function copyToFolder(url: string, folder: string, counters: string | undefined, progress: Progress): Promise<MoveReport> {
  const dump = await openPostgresDump(url);
  try {
    requireCurrent(dump);
    await requireNoNodes(dump);
    const temporary = join(folder, `${databaseName}.moving`);
    const copied = await loadIntoSqlite(temporary, sourceOf(dump), progress);
    const stored = await writeFiles(dump, folder, progress);
    if (counters !== undefined && existsSync(counters)) await writeDurably(join(folder, countersName), readFileSync(counters));
    const target = openSqliteDump(temporary);
    const tables = await compare(dump, copied, target, progress);
    for (const suffix of ["-wal", "-shm"]) rmSync(temporary + suffix, { force: true }); // empty: only the comparison opened them
    await placeFile(temporary, join(folder, databaseName));
    await flushFolder(folder);
    return { tables, ...stored };
  } finally {
    await dump.close();
  }
}

/** A move that was killed holds its lock until PostgreSQL notices. */
const lockAttempts = 25;
const lockPauseMs = 200;

/** Makes sure that no node writes after the snapshot. A node that starts now waits until this transaction ends. */
async function requireNoNodes({ client, ask }: PostgresDump): Promise<void> {
  const refusal = "a node serves the database: stop every node, and move again a few seconds later";
  if (await hasLiveNodes(ask)) throw new DumpError(refusal);
  for (let attempt = 1; !(await lockMigrations(client)); attempt++) {
    if (attempt === lockAttempts) throw new DumpError(refusal);
    await sleep(lockPauseMs);
  }
}

async function lockMigrations(client: PostgresDump["client"]): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>("SELECT pg_try_advisory_xact_lock(hashtextextended('migrations', 0)) AS got");
  return rows[0]?.got === true;
}

async function writeFiles(dump: PostgresDump, folder: string, progress: Progress): Promise<{ files: number; bytes: number }> {
  let [files, bytes] = [0, 0];
  for await (const blob of dump.blobs()) {
    const path = join(folder, entryOfBlob(blob.name));
    await makeFolder(dirname(path));
    await writeDurably(path, checked(dump, blob));
    progress("files", ++files);
    bytes += blob.bytes;
  }
  return { files, bytes };
}

async function* checked(dump: PostgresDump, blob: Parameters<PostgresDump["bytesOf"]>[0]): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const piece of dump.bytesOf(blob)) {
    hash.update(piece);
    yield piece;
  }
  if (hash.digest("hex") !== blob.sha256) throw new DumpError(`the published file ${blob.name} is damaged in the database`);
}

/** The rows to load into the whole schema of the target: some migrations differ between the engines. */
function sourceOf(dump: Dump): DumpedRows {
  return { ...dump, migrations: [...migrationsFor("sqlite"), ...migrationsFor("postgres")] };
}

/** @throws DumpError unless this version of the program wrote or upgraded the data */
function requireCurrent({ engine, migrations }: Pick<Dump, "engine" | "migrations">): void {
  const pending = pendingOf(
    migrations.map(({ number, name }) => ({ number, name, hash: null })),
    migrationsFor(engine),
  );
  if (pending.length > 0)
    throw new DumpError("the source was written by an earlier version: upgrade it first, with `npm run petstore -- migrate`");
}

/** Reads the copy again, compares each table with the rows that were copied, and closes it. @throws DumpError */
async function compare(source: Dump, copied: Map<string, TableSum>, copy: Dump, progress: Progress): Promise<Record<string, TableSum>> {
  try {
    for (const table of source.tables) {
      const [before, after] = [copied.get(table.name), await sumTable(copy, table, (name, rows) => progress(`comparing ${name}`, rows))];
      if (before?.rows !== after.rows || before.sha256 !== after.sha256)
        throw new DumpError(`the copy of ${table.name} has ${after.rows} rows that differ from the ${before?.rows ?? 0} of the source`);
    }
  } finally {
    await copy.close();
  }
  return Object.fromEntries(copied);
}

/**
 * Runs a part of a move. Turns any error, even one of the database or the disk, into a DumpError with one line.
 *
 * @param left completes the line: the state that the failed part leaves
 */
async function explained<T>(left: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const cause = error instanceof Problem && error.cause instanceof Error ? error.cause : error;
    if (!(cause instanceof Error)) throw cause;
    const [line = ""] = cause.message.split("\n");
    throw new DumpError(`${line} (${left})`, { cause });
  }
}
