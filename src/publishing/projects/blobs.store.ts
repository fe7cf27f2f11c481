import sql, { join } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Queryable, Transaction } from "../../platform/db/database.ts";

/** A complete blob; `sha256` in hexadecimal. */
export type Blob = { id: string; bytes: number; sha256: string };

const namesAtOnce = 500;
const expiredAtOnce = 100;
/** A form of content is named by the SHA-256 of its plain bytes, in hexadecimal, and a suffix. */
const hashLength = 64;

export async function insertBlob(tx: Transaction, id: string, now: number): Promise<void> {
  await tx.query(sql`INSERT INTO blobs (id, made_at) VALUES (${id}, ${now})`);
}

export async function insertPiece(tx: Transaction, id: string, piece: number, content: Uint8Array): Promise<void> {
  await tx.query(sql`INSERT INTO blob_pieces (blob_id, piece, content) VALUES (${id}, ${piece}, ${content})`);
}

/** Names a blob, which completes it. @throws ConstraintError `unique` if another blob has the name */
export async function nameBlob(tx: Transaction, { id, bytes, sha256 }: Blob, name: string): Promise<void> {
  await tx.query(sql`UPDATE blobs SET name = ${name}, bytes = ${bytes}, sha256 = ${sha256} WHERE id = ${id}`);
}

export async function findBlob(db: Queryable, name: string): Promise<Blob | undefined> {
  const [row] = await db.query<Blob>(sql`SELECT id, bytes, sha256 FROM blobs WHERE name = ${name}`);
  return row;
}

export async function readPiece(db: Queryable, id: string, piece: number): Promise<Buffer | undefined> {
  const [row] = await db.query<{ content: Buffer }>(sql`SELECT content FROM blob_pieces WHERE blob_id = ${id} AND piece = ${piece}`);
  return row?.content;
}

/** The sizes of the blobs with these names. */
export async function listSizes(db: Queryable, names: readonly string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (let i = 0; i < names.length; i += namesAtOnce) {
    const some = names.slice(i, i + namesAtOnce);
    const rows = await db.query<{ name: string; bytes: number }>(sql`SELECT name, bytes FROM blobs WHERE name IN (${join(some)})`);
    for (const { name, bytes } of rows) sizes.set(name, bytes);
  }
  return sizes;
}

export async function deleteBlobs(tx: Transaction, names: readonly string[]): Promise<void> {
  for (let i = 0; i < names.length; i += namesAtOnce) {
    await tx.query(sql`DELETE FROM blobs WHERE name IN (${join(names.slice(i, i + namesAtOnce))})`);
  }
}

export async function deleteBlob(tx: Transaction, id: string): Promise<void> {
  await tx.query(sql`DELETE FROM blobs WHERE id = ${id}`);
}

/** Deletes a batch of the blobs made before a time that were never completed, or that are uploads which no deployment waits for. */
export async function expireBlobs(tx: Transaction, before: number): Promise<void> {
  await tx.query(sql`
    DELETE FROM blobs WHERE id IN (
      SELECT id FROM blobs WHERE made_at < ${before} AND (name IS NULL OR (name LIKE 'upload/%'
        AND NOT EXISTS (SELECT 1 FROM deployments WHERE 'upload/' || upload = name)))
      ${limitTo(expiredAtOnce)})`);
}

/** Marks as unused the content that was made before a time and that no deployment or photo has. */
export async function noteOrphanContent(tx: Transaction, before: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO unused_files (hash)
    SELECT DISTINCT LEFT(name, ${hashLength}) FROM blobs WHERE made_at < ${before} AND name NOT LIKE 'upload/%'
      AND NOT EXISTS (SELECT 1 FROM files WHERE files.hash = LEFT(blobs.name, ${hashLength}))
      AND NOT EXISTS (SELECT 1 FROM photo_files WHERE photo_files.hash = LEFT(blobs.name, ${hashLength}))
    ON CONFLICT (hash) DO NOTHING`);
}
