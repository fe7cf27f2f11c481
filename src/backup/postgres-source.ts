import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Entry } from "./archive.ts";
import type { Source } from "./backup-file.ts";
import { countersName, entryOfBlob } from "./manifest.ts";
import { openPostgresDump, type PostgresDump } from "./postgres-dump.ts";

/**
 * Opens a snapshot of everything that services keep in a PostgreSQL database: rows and published files. The services may be running.
 *
 * @param dataDir the data folder of a node, with the counters of the limits unless Redis has them
 */
export async function openPostgresSource(url: string, dataDir: string): Promise<Omit<Source, "secrets">> {
  const dump = await openPostgresDump(url);
  try {
    const missing = await countMissing(dump);
    const counters = await openCounters(dataDir);
    let isOpen = true;
    return {
      dump,
      missing,
      counters: counters?.entry,
      files: () => filesOf(dump),
      async close() {
        if (!isOpen) return;
        isOpen = false;
        await dump.close();
        await counters?.close();
      },
    };
  } catch (error) {
    await dump.close();
    throw error;
  }
}

async function* filesOf(dump: PostgresDump): AsyncGenerator<Entry> {
  for await (const blob of dump.blobs()) yield { name: entryOfBlob(blob.name), bytes: blob.bytes, content: dump.bytesOf(blob) };
}

async function countMissing({ client, tables }: PostgresDump): Promise<number> {
  const ofPhotos = tables.some(({ name }) => name === "photo_files") ? "UNION SELECT hash FROM photo_files" : "";
  const { rows } = await client.query<{ missing: number }>(`
    SELECT COUNT(*) AS missing FROM (SELECT DISTINCT hash FROM files
      JOIN deployments ON deployments.account_id = files.account_id AND deployments.id = files.deployment_id
      WHERE deployments.status = 'ready' ${ofPhotos}) AS needed
    WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.name = needed.hash)`);
  return rows[0]?.missing ?? 0;
}

type Counters = { entry: Entry; close(): Promise<void> };

/** Opens the counters. Each save replaces the file, so the open one stays as it is. */
async function openCounters(dataDir: string): Promise<Counters | undefined> {
  const file = await open(join(dataDir, countersName)).catch((error: NodeJS.ErrnoException): undefined => {
    if (error.code !== "ENOENT") throw error;
  });
  if (file === undefined) return undefined;
  const { size } = await file.stat();
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* file!.createReadStream({ autoClose: false });
  }
  return { entry: { name: countersName, bytes: size, content: bytes() }, close: () => file.close() };
}
