import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { attempt } from "../platform/parse.ts";
import type { Faults } from "./check-database.ts";
import { namedMax } from "./check-rules.ts";
import type { Ask } from "./dump.ts";
import { contentEntry, countersName } from "./manifest.ts";
import type { PostgresDump } from "./postgres-dump.ts";

/** A published file, or a compressed form of one. */
type Form = { hash: string; form: string; bytes: number };
type ManifestFile = { hash: string; size: number; encodings?: Record<string, number> };

const suffixes: Record<string, string> = { br: ".br", gzip: ".gz" };
const deploymentsAtOnce = 100;
const photosAtOnce = 10_000;

/** Checks the published files of a folder: each file that a ready deployment or a photo needs exists, with its size and the bytes of its hash. */
export async function checkContentFolder(folder: string, ask: Ask, faults: Faults): Promise<number> {
  return checkForms(ask, faults, async ({ form, hash, bytes }) => {
    const path = join(folder, contentEntry(form));
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) return "is missing";
    if (found.size !== bytes) return `has ${found.size} bytes instead of ${bytes}`;
    return form !== hash || (await sha256(createReadStream(path))) === hash ? undefined : "does not have the bytes of its hash";
  });
}

/** Checks only that each published file is there with its size. */
export async function checkContentSizes(sizeOf: (form: string) => Promise<number | undefined>, ask: Ask, faults: Faults): Promise<void> {
  await checkForms(ask, faults, async ({ form, bytes }) => {
    const found = await sizeOf(form);
    if (found === undefined) return "is missing";
    return found === bytes ? undefined : `has ${found} bytes instead of ${bytes}`;
  });
}

/** Checks published files in the blobs of a database, as `checkContentFolder` does. */
export async function checkBlobs(dump: PostgresDump, faults: Faults): Promise<number> {
  return checkForms(dump.ask, faults, async ({ form, hash, bytes }) => {
    const { rows } = await dump.client.query<{ id: string; name: string; bytes: number; sha256: string }>({
      name: "blob",
      text: "SELECT id, name, bytes, sha256 FROM blobs WHERE name = $1",
      values: [form],
    });
    const [blob] = rows;
    if (blob === undefined) return "is missing";
    if (blob.bytes !== bytes) return `has ${blob.bytes} bytes instead of ${bytes}`;
    const found = await sha256(dump.bytesOf(blob));
    return found === blob.sha256 && (form !== hash || found === hash) ? undefined : "does not have the bytes of its hash";
  });
}

/** Calls `faultOf` once for each form of each file. Returns how many there are. */
async function checkForms(ask: Ask, faults: Faults, faultOf: (form: Form) => Promise<string | undefined>): Promise<number> {
  const seen = new Set<string>();
  let faulty = 0;
  for await (const form of formsOf(ask, faults)) {
    if (seen.has(form.form)) continue;
    seen.add(form.form);
    const fault = await faultOf(form);
    if (fault !== undefined && ++faulty <= namedMax) faults.add(`published file ${form.form} ${fault}`);
  }
  if (faulty > namedMax) faults.add(`${faulty - namedMax} more published files are missing or damaged`);
  return seen.size;
}

async function* formsOf(ask: Ask, faults: Faults): AsyncGenerator<Form> {
  for (let last = 0; ;) {
    const rows = await ask(
      `SELECT id, account_id, manifest FROM deployments WHERE status = 'ready' AND id > ${last} ORDER BY id LIMIT ${deploymentsAtOnce}`,
    );
    for (const row of rows) {
      last = Number(row["id"]);
      const files = filesIn(row["manifest"]);
      if (files === undefined) faults.add(`the manifest of deployment ${last} of account ${String(row["account_id"])} cannot be read`);
      for (const { hash, size, encodings = {} } of files ?? []) {
        yield { hash, form: hash, bytes: size };
        for (const [encoding, bytes] of Object.entries(encodings)) yield { hash, form: hash + (suffixes[encoding] ?? ""), bytes };
      }
    }
    if (rows.length < deploymentsAtOnce) break;
  }
  for (const [migration, table] of photoTables)
    if ((await ask(`SELECT 1 FROM migrations WHERE name = '${migration}'`)).length > 0) yield* photosOf(ask, table);
}

/** The tables that have photos, each with the migration that made it. */
const photoTables = [
  ["profiles", "photo_files"],
  ["bin", "bin_photo_files"],
] as const;

async function* photosOf(ask: Ask, table: string): AsyncGenerator<Form> {
  for (let last = ""; ;) {
    const rows = await ask(
      `SELECT hash, MAX(bytes) AS bytes FROM ${table} WHERE hash > '${last}' GROUP BY hash ORDER BY hash LIMIT ${photosAtOnce}`,
    );
    for (const row of rows) {
      last = String(row["hash"]);
      yield { hash: last, form: last, bytes: Number(row["bytes"]) };
    }
    if (rows.length < photosAtOnce) return;
  }
}

function filesIn(manifest: unknown): ManifestFile[] | undefined {
  return attempt(() => {
    const files = (JSON.parse(String(manifest)) as [string, ManifestFile][]).map(([, file]) => file);
    return files.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash)) ? files : undefined;
  });
}

async function sha256(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of content) hash.update(chunk);
  return hash.digest("hex");
}

/** Checks that each line of the limits' counters can be read. The file may be absent. */
export async function checkCounters(path: string, faults: Faults): Promise<void> {
  const file = await open(path).catch((error: NodeJS.ErrnoException): undefined => {
    if (error.code !== "ENOENT") throw error;
  });
  if (file === undefined) return;
  let unreadable = 0;
  for await (const line of file.readLines()) if (!isCounter(line)) unreadable += 1;
  if (unreadable > 0) faults.add(`${countersName} has ${unreadable} lines that cannot be read: their counters begin anew`);
}

function isCounter(line: string): boolean {
  const fields = attempt((): unknown => JSON.parse(line));
  return Array.isArray(fields) && fields.length === 4;
}
