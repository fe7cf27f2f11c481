import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ArchiveDump } from "../backup/archive-dump.ts";
import { checkArchiveState, type Checked } from "../backup/check.ts";
import type { SecretsCheck } from "../backup/check-database.ts";
import type { Dump, Table, Value } from "../backup/dump.ts";
import { openFolderSource } from "../backup/folder-source.ts";
import { ArchiveError, BackupError, databaseName, secretsName, type Manifest } from "../backup/manifest.ts";
import { copiesThatNeed } from "../backup/old-copies.ts";
import { openPostgresSource } from "../backup/postgres-source.ts";
import { restoreIntoFolder, type FolderRestore } from "../backup/restore-folder.ts";
import { restoreIntoPostgres } from "../backup/restore-postgres.ts";
import { removeTraces, settleRestoreUnlocked } from "../backup/restore-state.ts";
import type { BackupOptions, Source } from "../backup/source.ts";
import { writeDurably } from "../platform/files.ts";
import { lockFolder } from "../platform/lock.ts";
import { attempt } from "../platform/parse.ts";
import { encryptedColumns } from "../administration/encrypted-columns.store.ts";
import { idsOf, parseSecretsKeys, secretsKeysText, type SecretsKeys } from "../platform/secrets.ts";
import type { Settings } from "./settings.ts";

const keyIdLength = 8;

type Places = Pick<Settings, "dataDir" | "databaseUrl" | "redisUrl" | "secretsKey">;

/** A snapshot of everything that a service keeps, and the secrets of its backup. */
type BackupSource = { source: Source; secrets: BackupOptions["secrets"] };

/**
 * Opens a snapshot of everything that the service of these settings keeps. The service may be running.
 *
 * @param isIncluded whether the backup has the keys that decrypt its secrets
 * @throws BackupError if there is no data
 */
export async function openBackupSource(settings: Places, isIncluded: boolean): Promise<BackupSource> {
  const { dataDir, databaseUrl, redisUrl, secretsKey } = settings;
  await settleRestoreUnlocked(dataDir);
  const before = readKeys(dataDir);
  const source = databaseUrl === "" ? openFolderSource(dataDir) : await openPostgresSource(databaseUrl, dataDir);
  try {
    // A rotation may run meanwhile: it writes a new key to the file before it uses it, so the file has it now.
    const keys = secretsKey ?? joined(readKeys(dataDir), before);
    const used = new Set<string>();
    const dump: Dump = { ...source.dump, rows: (table) => noting(source.dump.rows(table), table, used) };
    const secrets = {
      text: isIncluded && keys !== null ? secretsKeysText(keys) : undefined,
      keys: () => neededKeys(keys, used, isIncluded),
    };
    return { source: { ...source, dump, ...(redisUrl !== "" && { counters: undefined }) }, secrets };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Passes rows on, and adds the identifiers of the keys that encrypt their secrets to `used`. */
async function* noting(pages: ReturnType<Dump["rows"]>, table: Table, used: Set<string>): AsyncGenerator<Value[][]> {
  const columns = new Set(encryptedColumns.filter((one) => one.table === table.name).map(({ column }) => column));
  const places = table.columns.flatMap(({ name }, at) => (columns.has(name) ? [at] : []));
  for await (const page of pages) {
    for (const row of page) for (const at of places) if (row[at] !== null) used.add(keyIdOf(String(row[at])));
    yield page;
  }
}

function keyIdOf(envelope: string): string {
  return envelope.slice("v1.".length, "v1.".length + keyIdLength).replaceAll(/[^ -~]/g, "?");
}

/**
 * The identifiers of the keys that the secrets of a backup need.
 *
 * @throws BackupError if the keys are to be included and one is not known here
 */
function neededKeys(keys: SecretsKeys | null, used: Set<string>, isIncluded: boolean): string[] {
  const known = keys === null ? [] : idsOf(keys);
  const absent = [...used].filter((id) => !known.includes(id)).toSorted();
  if (isIncluded && absent.length > 0) {
    throw new BackupError(
      `secrets are encrypted with key ${absent.join(" and ")}, which is not known here: set SECRETS_KEY as the service has it`,
    );
  }
  return [...known.filter((id) => used.has(id)), ...absent];
}

/** How to check the secrets of the service of these settings; undefined if only its nodes know the keys. */
export function secretsCheckOf({ secretsKey, dataDir, databaseUrl }: Places): SecretsCheck | undefined {
  const keys = secretsKey ?? readKeys(dataDir);
  if (keys === null && databaseUrl !== "") return undefined;
  return { keyIds: keys === null ? [] : idsOf(keys), columns: encryptedColumns };
}

/**
 * Finds the copies on this machine that need an earlier key of the service.
 *
 * @param earlier ids of the keys; by default those of the key file after the first
 */
export function copiesWithEarlierKeys({ dataDir, databaseUrl }: Places, earlier?: readonly string[]): Map<string, string[]> {
  const keysIn = (folder: string): string[] => {
    const keys = attempt(() => readKeys(folder));
    return keys ? idsOf(keys) : [];
  };
  const keyIds = earlier ?? keysIn(dataDir).slice(1);
  return copiesThatNeed({ dataDir, isServed: databaseUrl === "", keyIds, columns: encryptedColumns, keysIn });
}

/** Checks the state in an archive whose bytes `checkBackup` has checked. */
export function checkArchive(manifest: Manifest, reopen: () => Promise<ArchiveDump>, withEvents: boolean): Promise<Checked> {
  return checkArchiveState(manifest, encryptedColumns, reopen, withEvents);
}

function readKeys(dataDir: string): SecretsKeys | null {
  const path = join(dataDir, secretsName);
  if (!existsSync(path)) return null;
  try {
    return parseSecretsKeys(readFileSync(path, "utf8").trim());
  } catch (cause) {
    throw new BackupError(`${path} does not hold 32 bytes as base64: a restored service could not decrypt its secrets`, { cause });
  }
}

function joined(newer: SecretsKeys | null, older: SecretsKeys | null): SecretsKeys | null {
  if (newer === null || older === null) return newer ?? older;
  return { current: newer.current, byId: new Map([...newer.byId, ...older.byId]) };
}

/**
 * Checks the keys that an archive includes.
 *
 * @param reopen opens the archive from its beginning
 * @throws ArchiveError if they are not keys, or not those that its secrets need
 */
export async function requireOwnKeys({ secrets }: Manifest, reopen: () => Promise<ArchiveDump>): Promise<void> {
  if (!secrets.isIncluded) return;
  const dump = await reopen();
  await dump.close();
  const keys = attempt(() => parseSecretsKeys(dump.secrets ?? ""));
  if (keys === undefined) throw new ArchiveError(`is damaged: its ${secretsName} does not hold 32 bytes as base64`);
  const absent = secrets.keys.filter((id) => !keys.byId.has(id));
  if (absent.length > 0) throw new ArchiveError(`is damaged: its ${secretsName} does not hold the key ${absent.join(" and ")}`);
}

/**
 * Checks that the restored service will be able to decrypt its secrets.
 *
 * @throws ArchiveError if SECRETS_KEY is needed, or is another key
 */
export function requireSecrets({ secretsKey }: Pick<Settings, "secretsKey">, { secrets }: Manifest): void {
  if (secrets.keys.length === 0) return;
  if (secretsKey === null) {
    if (secrets.isIncluded) return;
    throw new ArchiveError(`was made without its secrets key: set SECRETS_KEY to the key ${secrets.keys.join(" or ")} of that service`);
  }
  const absent = secrets.keys.filter((id) => !secretsKey.byId.has(id));
  if (absent.length > 0) {
    throw new ArchiveError(`needs the secrets key ${absent.join(" and ")}, which SECRETS_KEY does not hold: set the key of that service`);
  }
}

/**
 * A restore into PostgreSQL puts the secrets key and the counters of the backup into `DATA_DIR`.
 *
 * @throws BackupError if those of another store are there
 */
function requireOwnFolder(dataDir: string, secretsKey: SecretsKeys | null, { secrets }: Manifest): void {
  const present = readKeys(dataDir);
  const isOtherKey = secretsKey === null && secrets.isIncluded && present !== null && !secrets.keys.every((id) => present.byId.has(id));
  const held = isOtherKey ? secretsName : existsSync(join(dataDir, databaseName)) ? databaseName : undefined;
  if (held === undefined) return;
  throw new BackupError(`${dataDir} holds ${held} of another store, which a restore does not overwrite: set DATA_DIR to an empty folder`);
}

/** Restores a checked backup to where the settings say. Returns the folder or schema that has the old state, if there was one. */
export async function restoreBackup(
  { dataDir, databaseUrl, secretsKey }: Places,
  given: Omit<FolderRestore, "columns">,
): Promise<string | null> {
  const restore = { ...given, columns: encryptedColumns };
  if (databaseUrl === "") return restoreIntoFolder(dataDir, restore);
  const wasAbsent = !existsSync(dataDir);
  const lock = lockFolder(dataDir, "petstore restore", 1_000);
  try {
    requireOwnFolder(dataDir, secretsKey, restore.manifest);
    return await restoreIntoPostgres(databaseUrl, {
      ...restore,
      dataDir,
      async saveSecrets(text) {
        // An existing file holds these keys already.
        if (secretsKey === null && !existsSync(join(dataDir, secretsName))) await writeDurably(join(dataDir, secretsName), `${text}\n`);
      },
    });
  } catch (error) {
    if (wasAbsent) await removeTraces(dataDir, wasAbsent).catch(() => undefined); // the first error matters more
    throw error;
  } finally {
    lock.release();
  }
}
