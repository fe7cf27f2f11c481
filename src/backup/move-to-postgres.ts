import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Transaction } from "../platform/db/database.ts";
import { recoverLog } from "../platform/db/sqlite-recovery.ts";
import { lockFolder } from "../platform/lock.ts";
import { DumpError, type Progress } from "./dump.ts";
import { contentOf } from "./folder-source.ts";
import { databaseName } from "./manifest.ts";
import { compare, explained, requireCurrent, sourceOf, unfinishedTable, type Moved } from "./move.ts";
import { storeBlob } from "./postgres-blobs.ts";
import { connectForLong, openPostgresDump } from "./postgres-dump.ts";
import { functionsIn, loadIntoPostgres, sequencesIn, tablesIn } from "./postgres-load.ts";
import { openSqliteDump } from "./sqlite-dump.ts";

type StoredFile = { name: string; path: string; hash: string | undefined };

/**
 * Copies a data folder that no server uses into an empty PostgreSQL database: all rows and files in one transaction, which is read again
 * and compared. Until the comparison is over the database is marked as unfinished, and the next move into it starts over.
 *
 * @throws DumpError; FolderHeldError if a server uses the folder
 */
export async function moveToPostgres(dataDir: string, url: string, progress: Progress): Promise<Moved> {
  const file = join(dataDir, databaseName);
  if (!existsSync(file)) throw new DumpError(`there is no data to move: DATA_DIR=${dataDir} has no ${databaseName}`);
  const lock = lockFolder(dataDir, "petstore move", 1_000);
  try {
    return await copy(dataDir, file, url, progress);
  } finally {
    lock.release();
  }
}

async function copy(dataDir: string, file: string, url: string, progress: Progress): Promise<Moved> {
  recoverLog(file);
  const dump = openSqliteDump(file);
  try {
    let stored = { files: 0, bytes: 0 };
    const copied = await explained("nothing was changed", () => {
      requireCurrent(dump);
      return loadIntoPostgres(url, sourceOf(dump), {
        progress,
        prepare: makeRoom,
        finish: async (tx) => void (stored = await storeFiles(tx, filesOf(dataDir, dump.connection), progress)),
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
async function makeRoom(tx: Transaction): Promise<void> {
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
  const client = await connectForLong(url);
  try {
    await client.query(`DROP TABLE ${unfinishedTable}`);
  } finally {
    await client.end();
  }
}

/** The archives that wait to be unpacked, and the published files with their compressed forms, under their names in PostgreSQL. */
function* filesOf(dataDir: string, connection: DatabaseSync): Generator<StoredFile> {
  const uploads = connection.prepare("SELECT upload FROM deployments WHERE status = 'queued' AND upload IS NOT NULL ORDER BY upload");
  for (const { upload } of uploads.all()) {
    const name = String(upload);
    yield { name: `upload/${name}`, path: join(dataDir, "uploads", name), hash: undefined };
  }
  for (const { hash, isNeeded } of contentOf(connection)) {
    const path = join(dataDir, "content", hash.slice(0, 2), hash);
    if (existsSync(path)) yield { name: hash, path, hash };
    else if (isNeeded) throw new DumpError(`the published file ${path} is absent: restore it from a backup first`);
    for (const suffix of [".br", ".gz"]) if (existsSync(path + suffix)) yield { name: hash + suffix, path: path + suffix, hash: undefined };
  }
}

async function storeFiles(tx: Transaction, files: Iterable<StoredFile>, progress: Progress): Promise<{ files: number; bytes: number }> {
  let [count, all] = [0, 0];
  for (const { name, path, hash } of files) {
    const { bytes, sha256 } = await storeBlob(tx, name, createReadStream(path, { highWaterMark: 256 * 1024 }));
    if (hash !== undefined && sha256 !== hash) throw new DumpError(`the published file ${path} is damaged: restore it from a backup first`);
    progress("files", ++count);
    all += bytes;
  }
  return { files: count, bytes: all };
}
