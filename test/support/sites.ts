import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createGzip } from "node:zlib";
import sql from "sql-template-tag";
import { pack } from "tar-stream";
import type { TestService } from "./service.ts";

/** A gzipped tar of these files: the same bytes whenever it is packed. */
export async function packSite(files: Record<string, string | Buffer>): Promise<Uint8Array> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name, mtime: new Date(0) }, content);
  tar.finalize();
  return Buffer.concat((await Array.fromAsync(tar.pipe(createGzip()))) as Buffer[]);
}

/** The archives in a service's folder; with PostgreSQL there are never any. */
export function archivesIn(dataDir: string): Promise<string[]> {
  return readdir(join(dataDir, "uploads")).catch(() => []);
}

/** The archives that are kept of uploads: on the disk, or in the database that nodes share. */
export async function keptUploads({ db, dataDir }: TestService): Promise<string[]> {
  if (db.engine === "sqlite") return readdir(join(dataDir, "uploads"));
  const rows = await db.query<{ id: string }>(sql`SELECT id FROM blobs WHERE name IS NULL OR name LIKE 'upload/%'`);
  return rows.map(({ id }) => id);
}
