import { join } from "node:path";
import pg from "pg";
import sql, { raw } from "sql-template-tag";
import type { Transaction } from "../platform/db/database.ts";
import { moveDurably, writeNew } from "../platform/files.ts";
import type { ArchiveDump } from "./archive-dump.ts";
import { makeHeldFolder } from "./held-folder.ts";
import type { FolderRestore } from "./restore-folder.ts";
import { openChecking } from "./restore-check.ts";
import { BackupError, countersName } from "./manifest.ts";
import { storeBlob } from "./postgres-blobs.ts";
import { functionsIn, hasLiveNodes, loadIntoPostgres, sequencesIn, tablesIn } from "./postgres-load.ts";

export type PostgresRestore = FolderRestore & {
  /** The folder of the node, which gets the counters of the limits: they are not in the database. */
  dataDir: string;
  /** Stores the secrets key of the backup where the operator finds it. */
  saveSecrets: (text: string) => Promise<void>;
};

const stagingPrefix = "petstore.restoring-";

/**
 * Restores a checked backup into a PostgreSQL database, in one transaction.
 *
 * @returns the schema that has the old tables, if there were any
 * @throws BackupError if the database has tables and `replace` is not set, or if a node serves it
 */
export async function restoreIntoPostgres(url: string, restore: PostgresRestore): Promise<string | null> {
  const dump = await restore.open();
  const staging = makeHeldFolder(restore.dataDir, stagingPrefix);
  const counters = join(staging.path, countersName);
  let aside: string | null = null;
  try {
    const checking = openChecking(dump, restore);
    await loadIntoPostgres(
      url,
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
          if (dump.secrets !== undefined) await restore.saveSecrets(dump.secrets);
          if (hasCounters) await moveDurably(counters, join(restore.dataDir, countersName));
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
async function makeRoom(tx: Transaction, { replace, time }: PostgresRestore): Promise<string | null> {
  const tables = await tablesIn(tx);
  if (tables.length === 0) return null;
  if (!replace) {
    throw new BackupError(
      `the database is not empty (it has the table ${tables[0]}): choose an empty one, or add --replace to set it aside`,
    );
  }
  if (tables.includes("nodes") && (await hasLiveNodes(async (text) => tx.query(raw(text)))))
    throw new BackupError("a node is serving the database: stop every node first");
  const schema = `replaced_${time.toLowerCase()}`;
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

/** The name in the database of a file of an archive. */
function blobNameOf(name: string): string {
  return name.startsWith("uploads/") ? name.replace("uploads/", "upload/") : name.slice("content/ab/".length);
}
