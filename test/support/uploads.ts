import { readdir } from "node:fs/promises";
import { join } from "node:path";
import sql from "sql-template-tag";
import type { TestService } from "./service.ts";

/** The archives that are kept of uploads: on the disk, or in the database that nodes share. */
export async function keptUploads({ db, dataDir }: TestService): Promise<string[]> {
  if (db.engine === "sqlite") return readdir(join(dataDir, "uploads"));
  const rows = await db.query<{ id: string }>(sql`SELECT id FROM blobs WHERE name IS NULL OR name LIKE 'upload/%'`);
  return rows.map(({ id }) => id);
}
