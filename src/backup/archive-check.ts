import { createHash, type Hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { migrationsFor } from "../platform/db/migrate.ts";
import { readEntries, sumParts, textOf, type ArchivedFile } from "./archive.ts";
import { DumpError, schemaOf } from "./dump.ts";
import {
  ArchiveError,
  countersName,
  headerName,
  manifestName,
  parseHeader,
  parseManifest,
  partOf,
  secretsName,
  type Manifest,
} from "./manifest.ts";

const headerBytesMax = 4_096;
const manifestBytesMax = 1 << 20;
const newline = 0x0a;

/**
 * Reads a whole archive and checks every byte of it: seal, names and their order, counts and checksums, and that its manifest describes data
 * of a version that this program knows.
 *
 * @throws ArchiveError
 */
export async function checkArchive(source: AsyncIterable<Uint8Array>, passphrase: string | undefined): Promise<Manifest> {
  const sums = sumParts();
  const order = openOrder();
  let manifest: Manifest | undefined;
  let isFirst = true;
  for await (const entry of readEntries(source, passphrase)) {
    if (manifest !== undefined) throw new ArchiveError("is damaged: something follows its manifest");
    if (isFirst !== (entry.name === headerName)) throw new ArchiveError("is not a backup of this program");
    isFirst = false;
    if (entry.name === headerName) await parseHeader(await textOf(entry, headerBytesMax));
    else if (entry.name === manifestName) manifest = await parseManifest(await textOf(entry, manifestBytesMax));
    else {
      order.add(entry.name);
      await sumEntry(entry, sums);
    }
  }
  if (manifest === undefined) throw new ArchiveError("is incomplete: it has no manifest");
  requireKnownSchema(manifest);
  requireOwnParts(manifest, order);
  const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
  if (!isDeepStrictEqual(sums.end().toSorted(byName), manifest.parts.toSorted(byName)))
    throw new ArchiveError("is damaged: a part differs from its checksum in the manifest");
  return manifest;
}

/** Each version applies its migrations in their order, so those of a backup are the first ones of the engine that it was made on. */
function requireKnownSchema({ engine, migrations, program }: Manifest): void {
  try {
    schemaOf(migrations, engine);
  } catch (error) {
    if (!(error instanceof DumpError)) throw error;
    throw new ArchiveError(`was made by version ${program}: ${error.message}; restore it with that version`);
  }
  const known = migrationsFor(engine).slice(0, migrations.length);
  const isWhole = migrations.every(({ number, name }, at) => number === known[at]?.number && name === known[at].name);
  if (!isWhole) throw new ArchiveError("is damaged: its manifest names migrations that never made one schema");
}

function requireOwnParts({ tables, secrets }: Manifest, { parts }: Order): void {
  const names = tables.map(({ name }) => `database/${name}`);
  if (new Set(names).size < names.length) throw new ArchiveError("is damaged: its manifest names a table twice");
  const stored = parts.filter((part) => part.startsWith("database/"));
  const foreign = stored.find((part) => !names.includes(part));
  if (foreign !== undefined)
    throw new ArchiveError(`is damaged: its manifest does not know the table ${foreign.slice("database/".length)}`);
  if (
    !isDeepStrictEqual(
      stored,
      names.filter((name) => stored.includes(name)),
    )
  )
    throw new ArchiveError("is damaged: its tables are not in the order of its manifest");
  if (secrets.isIncluded !== parts.includes(secretsName)) throw new ArchiveError(`is damaged: its manifest is wrong about ${secretsName}`);
}

async function sumEntry({ name, bytes, content }: ArchivedFile, sums: ReturnType<typeof sumParts>): Promise<void> {
  const isTable = name.startsWith("database/");
  const plain = /^content\/..\/([0-9a-f]{64})$/.exec(name)?.[1];
  const hash: Hash | undefined = plain === undefined ? undefined : createHash("sha256");
  let rows = 0;
  const add = sums.begin({ name, bytes, ...(isTable && { rows: 0 }) });
  for await (const chunk of content) {
    add(chunk);
    hash?.update(chunk);
    if (isTable) for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) rows += 1;
  }
  if (isTable) sums.count(partOf(name), rows);
  if (hash !== undefined && hash.digest("hex") !== plain) throw new ArchiveError(`is damaged: ${name} does not have the bytes of its name`);
}

/** Parts in an archive: a schema has some dozen tables. */
const partsMax = 1_000;
/** Uploads that wait to be unpacked. */
const uploadsMax = 100_000;

/** Checks the names of an archive's entries as they come. `parts` are the parts so far, in their order. */
type Order = { parts: string[]; /** @throws ArchiveError */ add(name: string): void };

/**
 * Checks that each name comes once, and in the order in which a backup is written: the secrets key, tables, counters, files. Files come in the
 * order of their hashes, so that a check of any number of them needs little memory.
 */
function openOrder(): Order {
  const parts: string[] = [];
  let last = "";
  const seen = new Set<string>();
  return {
    parts,
    add(name) {
      const part = partOf(name);
      const isNew = part !== parts.at(-1);
      if (isNew) {
        if (parts.includes(part) || rankOf(part) < rankOf(parts.at(-1))) throw misplaced(name);
        if (parts.push(part) > partsMax) throw new ArchiveError(`is damaged: it has more than ${partsMax} parts`);
        last = "";
        seen.clear();
      } else if (part === secretsName || part === countersName) throw misplaced(name);
      if (part.startsWith("database/")) {
        if (numberOf(name) !== (isNew ? 1 : numberOf(last) + 1)) throw misplaced(name);
      } else if (part === "content") {
        if (hashOf(name) < hashOf(last)) throw misplaced(name);
        if (hashOf(name) !== hashOf(last)) seen.clear();
      }
      last = name;
      if (part === "content" || part === "uploads") requireOnce(seen, name);
    },
  };
}

function requireOnce(seen: Set<string>, name: string): void {
  if (seen.has(name)) throw misplaced(name);
  if (seen.add(name).size > uploadsMax) throw new ArchiveError(`is damaged: it has more than ${uploadsMax} uploads`);
}

const ranks = [secretsName, "database", countersName];

function rankOf(part: string | undefined): number {
  if (part === undefined) return -1;
  const rank = ranks.indexOf(part.startsWith("database/") ? "database" : part);
  return rank === -1 ? ranks.length : rank;
}

function numberOf(name: string): number {
  return Number.parseInt(name.slice(name.lastIndexOf("/") + 1));
}

function hashOf(name: string): string {
  return /^content\/..\/([0-9a-f]{64})/.exec(name)?.[1] ?? "";
}

function misplaced(name: string): ArchiveError {
  return new ArchiveError(`is damaged: ${name} comes twice or in the wrong place`);
}
