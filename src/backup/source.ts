import { encryptedColumns } from "../platform/encrypted-columns.ts";
import { idsOf, secretsKeysText, type SecretsKeys } from "../platform/secrets.ts";
import type { Source } from "./backup-file.ts";
import type { Dump, Table, Value } from "./dump.ts";
import { openFolderSource } from "./folder-source.ts";
import { BackupError, type DataPlace } from "./manifest.ts";
import { openPostgresSource } from "./postgres-source.ts";
import { settleRestoreUnlocked } from "./restore-state.ts";
import { readKeys } from "./secrets.ts";

const keyIdLength = 8;

/**
 * Opens a snapshot of everything that the service of these settings keeps. The service may be running.
 *
 * @param isIncluded whether the backup has the keys that decrypt its secrets
 * @throws BackupError if there is no data
 */
export async function openSource({ dataDir, databaseUrl, redisUrl, secretsKey }: DataPlace, isIncluded: boolean): Promise<Source> {
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
    return { ...source, dump, secrets, ...(redisUrl !== "" && { counters: undefined }) };
  } catch (error) {
    await source.close();
    throw error;
  }
}

function joined(newer: SecretsKeys | null, older: SecretsKeys | null): SecretsKeys | null {
  if (newer === null || older === null) return newer ?? older;
  return { current: newer.current, byId: new Map([...newer.byId, ...older.byId]) };
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
