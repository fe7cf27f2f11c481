import { chownSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "../platform/files.ts";
import { checkOf } from "../platform/http/value-checks.ts";
import { type Static, type TSchema, Type } from "../platform/json-schema.ts";
import { attempt } from "../platform/parse.ts";
import type { Detail } from "../platform/problem.ts";
import type { SecretsKeys } from "../platform/secrets.ts";
import type { Table } from "./dump.ts";

/**
 * The manifest of a backup, and the names in its archive. The archive is a tar file, compressed with gzip, so that `tar xzf` opens it:
 *
 *     petstore-backup.json           the format and the program, so that a reader can refuse another format at once
 *     secrets.key                    unless the backup was made without secrets
 *     database/TABLE/000001.jsonl    rows, as JSON arrays in the order of the table's columns
 *     limits.state                   the counters of the limits, unless Redis has them
 *     content/ab/HASH[.br|.gz]       published files and their compressed forms
 *     uploads/NAME                   archives that wait to be unpacked
 *     manifest.json                  the counts and checksums of all these
 *
 * After the gzip data is an empty gzip member whose comment is the SHA-256 of every byte before it. With a passphrase the whole is
 * encrypted in the format of age (https://age-encryption.org/v1).
 */
export const backupFormat = 1;
export const headerName = "petstore-backup.json";
export const manifestName = "manifest.json";
export const secretsName = "secrets.key";
export const countersName = "limits.state";
/** The embedded database in a data folder. */
export const databaseName = "petstore.db";
/** The time of the last backup of a data folder or its database, which the service shows as a metric. */
export const lastBackupName = "petstore.last-backup";
/** Backups hold the files that they read in folders inside the data folder. Their names begin with this. */
export const holdPrefix = "petstore.backup-";
/** A data folder with this file, or a database with this table, holds the copy of a move that is incomplete or was not compared. */
export const unfinishedFile = "petstore.moving";
export const unfinishedTable = "unfinished_move";

/** Where a service keeps its data, as its settings say. */
export type DataPlace = { dataDir: string; databaseUrl: string; redisUrl: string; secretsKey: SecretsKeys | null };

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const sqlName = Type.String({ pattern: "^[a-z_0-9]{1,60}$" });
const program = Type.String({ pattern: "^[\\w.+-]{1,40}$" });
const shape = { additionalProperties: false };

const Part = Type.Object(
  {
    /** `database/TABLE`, `content`, `uploads`, or the name of a single file. */
    name: Type.String({ maxLength: 100 }),
    files: count,
    bytes: count,
    rows: Type.Optional(count),
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  },
  shape,
);
export type Part = Static<typeof Part>;

const Format = Type.Enum([backupFormat]);
const Header = Type.Object({ format: Format, program });

const columnType = Type.Enum(["integer", "text", "boolean", "bytes"]);

const Manifest = Type.Object(
  {
    format: Format,
    /** The version of the program that made the backup. */
    program,
    /** ms since the Unix epoch, before the year 10000. */
    madeAt: Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 }),
    engine: Type.Enum(["sqlite", "postgres"]),
    migrations: Type.Array(Type.Object({ number: count, name: Type.String({ maxLength: 100 }) }, shape), { minItems: 1, maxItems: 10_000 }),
    tables: Type.Array(
      Type.Object(
        {
          name: sqlName,
          columns: Type.Array(Type.Object({ name: sqlName, type: columnType }, shape), { minItems: 1, maxItems: 1_000 }),
          key: Type.Array(sqlName, { minItems: 1, maxItems: 20 }),
        },
        shape,
      ),
      { minItems: 1, maxItems: 1_000 },
    ),
    sequences: Type.Unsafe<Record<string, number>>({
      type: "object",
      propertyNames: { pattern: "^[a-z_]{1,60}$" },
      additionalProperties: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    /** Whether the key is in the archive, and the ids of the keys that decrypt the secrets in the database. */
    secrets: Type.Object(
      { isIncluded: Type.Boolean(), keys: Type.Array(Type.String({ pattern: "^[ -~]{0,8}$" }), { maxItems: 1_000 }) },
      shape,
    ),
    /** Published files that the store did not have although its database refers to them. */
    missing: count,
    parts: Type.Array(Part, { maxItems: 1_100 }),
  },
  shape,
);
export type Manifest = Omit<Static<typeof Manifest>, "tables"> & { tables: Table[] };

/** A backup cannot be made or restored. The message is one line. */
export class BackupError extends Error {}

/** What is wrong with an archive. The message follows the archive's name: `is damaged`. */
export class ArchiveError extends Error {}

/** @throws ArchiveError if another format or program wrote it */
export async function parseHeader(text: string): Promise<void> {
  const header = parse(text) as { format?: unknown; program?: unknown };
  if (fits(Header, header)) return;
  if (typeof header.format !== "number" || typeof header.program !== "string") throw new ArchiveError("is not a backup of this program");
  throw new ArchiveError(
    `was made by version ${header.program} in format ${header.format}, which this version does not know: use that version`,
  );
}

/** @throws ArchiveError */
export async function parseManifest(text: string): Promise<Manifest> {
  const manifest = parse(text);
  if (!fits(Manifest, manifest)) throw new ArchiveError("is damaged: its manifest is not complete");
  return manifest as Manifest;
}

function fits(schema: TSchema, value: unknown): boolean {
  const found: Detail[] = [];
  checkOf(schema)(structuredClone(value), manifestName, found); // a check changes what it refuses
  return found.length === 0;
}

function parse(text: string): object {
  const value = attempt((): unknown => JSON.parse(text));
  if (typeof value === "object" && value !== null) return value;
  throw new ArchiveError("is damaged: a part of it is not JSON");
}

/** The part that an entry of the archive belongs to. */
export function partOf(entry: string): string {
  const [folder = "", table = ""] = entry.split("/");
  return folder === "database" ? `${folder}/${table}` : folder;
}

/** The entry of a form of a published file in an archive. The form's name is its hash and a suffix. */
export function contentEntry(form: string): string {
  return `content/${form.slice(0, 2)}/${form}`;
}

/** The entry of a blob, the form in which PostgreSQL has the files. In a data folder this is the path of the file. */
export function entryOfBlob(name: string): string {
  return name.startsWith("upload/") ? name.replace("upload/", "uploads/") : contentEntry(name);
}

/** The name of the blob with the content of an entry. */
export function blobNameOf(entry: string): string {
  return entry.startsWith("uploads/") ? entry.replace("uploads/", "upload/") : entry.slice("content/ab/".length);
}

const entryName =
  /^(petstore-backup\.json|secrets\.key|limits\.state|manifest\.json|database\/[a-z_]{1,60}\/\d{6,9}\.jsonl|content\/([0-9a-f]{2})\/\2[0-9a-f]{62}(\.br|\.gz)?|uploads\/[\w-]{1,80}(\.[\w-]{1,20}){0,4})$/;

/** Whether an archive may have an entry with this name. An entry with another name is never written to a disk. */
export function isEntryName(name: string): boolean {
  return entryName.test(name);
}

/**
 * Records when a complete backup was made, in the data folder, where the service reads it for its metrics. Does nothing if there is no such
 * folder, as on a machine that only backs up a PostgreSQL database.
 */
export async function recordBackup(dataDir: string, at: number): Promise<void> {
  const folder = statSync(dataDir, { throwIfNoEntry: false });
  if (folder?.isDirectory() !== true) return;
  const path = join(dataDir, lastBackupName);
  await writeDurably(path, `${JSON.stringify({ at })}\n`);
  if (process.getuid?.() === 0) chownSync(path, folder.uid, folder.gid); // the service refuses files of another user
}

/** The time (ms) of the last complete backup that was recorded; undefined if none was. */
export function lastBackupAt(dataDir: string): number | undefined {
  const at = attempt(() => (JSON.parse(readFileSync(join(dataDir, lastBackupName), "utf8")) as { at?: unknown }).at);
  return typeof at === "number" && Number.isSafeInteger(at) ? at : undefined;
}
