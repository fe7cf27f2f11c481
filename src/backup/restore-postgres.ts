import { existsSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import sql, { raw } from "sql-template-tag";
import type { Transaction } from "../platform/db/database.ts";
import { moveDurably, writeDurably, writeNew } from "../platform/files.ts";
import { lockFolder } from "../platform/lock.ts";
import type { ArchiveDump } from "./archive-dump.ts";
import { makeHeldFolder } from "./held-folder.ts";
import { BackupError, blobNameOf, countersName, databaseName, secretsName, type DataPlace, type Manifest } from "./manifest.ts";
import { functionsIn, hasLiveNodes, loadIntoPostgres, sequencesIn, storeBlob, tablesIn } from "./postgres-dump.ts";
import { openChecking, type Restore } from "./restore-check.ts";
import { removeTraces, timeOfRestore } from "./restore-state.ts";
import { readKeys } from "./secrets.ts";

const stagingPrefix = "petstore.restoring-";
const lockWaitMs = 1_000;

/**
 * Restores a checked backup into a PostgreSQL database, in one transaction. The secrets key goes into the data folder, unless SECRETS_KEY is set;
 * so do the counters of the limits, which are not in the database.
 *
 * @returns the schema that has the old tables, if there were any
 * @throws BackupError if the database has tables and `replace` is not set, if a node serves it, or if the folder has data of another store
 */
export async function restoreIntoPostgres(place: DataPlace, restore: Restore): Promise<string | null> {
  const { dataDir } = place;
  const wasAbsent = !existsSync(dataDir);
  const lock = lockFolder(dataDir, "petstore restore", lockWaitMs);
  try {
    requireOwnFolder(place, restore.archive.manifest);
    return await load(place, restore);
  } catch (error) {
    if (wasAbsent) await removeTraces(dataDir, wasAbsent).catch(() => undefined); // the first error matters more
    throw error;
  } finally {
    lock.release();
  }
}

/**
 * A restore into PostgreSQL puts the secrets key and the counters of the backup into `DATA_DIR`.
 *
 * @throws BackupError if those of another store are there
 */
function requireOwnFolder({ dataDir, secretsKey }: DataPlace, { secrets }: Manifest): void {
  const present = readKeys(dataDir);
  const isOtherKey = secretsKey === null && secrets.isIncluded && present !== null && !secrets.keys.every((id) => present.byId.has(id));
  const held = isOtherKey ? secretsName : existsSync(join(dataDir, databaseName)) ? databaseName : undefined;
  if (held === undefined) return;
  throw new BackupError(`${dataDir} holds ${held} of another store, which a restore does not overwrite: set DATA_DIR to an empty folder`);
}

async function load({ databaseUrl, dataDir, secretsKey }: DataPlace, restore: Restore): Promise<string | null> {
  const dump = await restore.archive.open();
  const staging = makeHeldFolder(dataDir, stagingPrefix);
  const counters = join(staging.path, countersName);
  let aside: string | null = null;
  try {
    const checking = openChecking(dump, restore);
    await loadIntoPostgres(
      databaseUrl,
      { ...dump, rows: checking.rows },
      {
        progress: restore.progress,
        prepare: async (tx) => void (aside = await makeRoom(tx, restore)),
        finish: async (tx, sums) => {
          const hasCounters = await loadFiles(tx, dump, counters);
          await checking.finish(
            sums,
            (text) => tx.query(raw(text)),
            counters,
            (form) => blobSize(tx, form),
          );
          const keyFile = join(dataDir, secretsName);
          // an existing file holds these keys already
          if (dump.secrets !== undefined && secretsKey === null && !existsSync(keyFile)) await writeDurably(keyFile, `${dump.secrets}\n`);
          if (hasCounters) await moveDurably(counters, join(dataDir, countersName));
        },
      },
    );
    return aside;
  } finally {
    await dump.close();
    staging.remove();
  }
}

/** Moves the tables, sequences and functions of an old state to a new schema. */
async function makeRoom(tx: Transaction, { replace }: Restore): Promise<string | null> {
  const tables = await tablesIn(tx);
  if (tables.length === 0) return null;
  if (!replace) {
    throw new BackupError(
      `the database is not empty (it has the table ${tables[0]}): choose an empty one, or add --replace to set it aside`,
    );
  }
  if (tables.includes("nodes") && (await hasLiveNodes(async (text) => tx.query(raw(text)))))
    throw new BackupError("a node is serving the database: stop every node first");
  const schema = `replaced_${timeOfRestore().toLowerCase()}`;
  await tx.script(`CREATE SCHEMA ${pg.escapeIdentifier(schema)}`);
  const sequences = await sequencesIn(tx);
  for (const name of await functionsIn(tx)) await tx.script(`ALTER FUNCTION ${name} SET SCHEMA ${pg.escapeIdentifier(schema)}`);
  for (const name of tables) await tx.script(`ALTER TABLE ${pg.escapeIdentifier(name)} SET SCHEMA ${pg.escapeIdentifier(schema)}`);
  for (const name of sequences) await tx.script(`ALTER SEQUENCE ${pg.escapeIdentifier(name)} SET SCHEMA ${pg.escapeIdentifier(schema)}`);
  return schema;
}

/** Stores the files of an archive. Returns whether it has counters, which are then in a file. */
async function loadFiles(tx: Transaction, dump: ArchiveDump, counters: string): Promise<boolean> {
  let hasCounters = false;
  for await (const file of dump.files()) {
    if (file.name === countersName) await writeNew(counters, file.content).then(() => (hasCounters = true));
    else await storeBlob(tx, blobNameOf(file.name), file.content);
  }
  return hasCounters;
}

async function blobSize(tx: Transaction, name: string): Promise<number | undefined> {
  const [blob] = await tx.query<{ bytes: number }>(sql`SELECT bytes FROM blobs WHERE name = ${name}`);
  return blob?.bytes;
}
