import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { flushFolder, makeFolder, placeFile, writeDurably } from "../platform/files.ts";
import { lockFolder } from "../platform/lock.ts";
import { DumpError, type Progress } from "./dump.ts";
import { countersName, databaseName } from "./manifest.ts";
import { onInterruption } from "./interruption.ts";
import { compare, explained, requireCurrent, sourceOf, unfinishedFile, type Moved } from "./move.ts";
import { openPostgresDump, type PostgresDump } from "./postgres-dump.ts";
import { hasLiveNodes } from "./postgres-load.ts";
import { openSqliteDump } from "./sqlite-dump.ts";
import { loadIntoSqlite } from "./sqlite-load.ts";

/** The files that a lock leaves in a folder without data. */
const lockNames = new Set(["petstore.lock", "petstore.lock-journal", "petstore.holder"]);

/**
 * Copies a PostgreSQL database that no node serves into an empty folder, reads it again and compares it. The database file gets its name
 * last; until then a file marks the folder as unfinished, and the next move into it starts over.
 *
 * @param counters path of the file with the limits' counters of the node that runs this
 * @throws DumpError; FolderHeldError if another process uses the folder
 */
export async function moveToFolder(url: string, folder: string, counters: string | undefined, progress: Progress): Promise<Moved> {
  const wasAbsent = !existsSync(folder);
  requireRoom(folder);
  const lock = lockFolder(folder, "petstore move", 1_000);
  let isDone = false;
  let endUndo = (): void => undefined;
  try {
    const moved = await explained("nothing was changed", async () => {
      requireRoom(folder);
      await writeDurably(join(folder, unfinishedFile), "");
      // the mark stays, because a write may still be under way; the next move starts over
      endUndo = onInterruption(() => removeCopy(folder));
      removeCopy(folder);
      return copy(url, folder, counters, progress);
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

function requireRoom(folder: string): void {
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

async function copy(url: string, folder: string, counters: string | undefined, progress: Progress): Promise<Moved> {
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
async function requireNoNodes({ client }: PostgresDump): Promise<void> {
  const refusal = "a node serves the database: stop every node, and move again a few seconds later";
  if (await hasLiveNodes(async (text) => (await client.query<object>(text)).rows)) throw new DumpError(refusal);
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
    const { name } = blob;
    const path = name.startsWith("upload/")
      ? join(folder, "uploads", name.slice("upload/".length))
      : join(folder, "content", name.slice(0, 2), name);
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
