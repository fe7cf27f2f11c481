import { createHash, randomUUID } from "node:crypto";
import sql, { join } from "sql-template-tag";
import type { Clock } from "../../platform/clock.ts";
import { limitTo } from "../../platform/db/batches.ts";
import { breaks, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";

/** Large enough for little overhead, small enough that other queries do not wait long for one piece. */
const pieceBytes = 256 * 1024;
/** Blobs that were never completed, and uploads that no deployment waits for, are deleted after this time. */
const keptMs = 24 * 60 * 60_000;
const auditMs = 60_000;

/** Bytes by name, in the database that all nodes share. The bytes of a name never change. */
export type Blobs = {
  /** Stores bytes under a name, unless it has some already. Returns the size of the stored bytes. */
  put: (name: string, source: AsyncIterable<Uint8Array>) => Promise<number>;
  /** Reads the bytes of a name, a piece at a time. Ends with an error if they are incomplete or were changed. */
  read: (name: string) => AsyncGenerator<Buffer>;
  sizes: (names: readonly string[]) => Promise<Map<string, number>>;
  remove: (tx: Transaction, names: readonly string[]) => Promise<void>;
  /** Deletes a batch of the blobs that killed processes have left. */
  expire: (now: number) => Promise<void>;
  /** Marks the content as unused that no deployment has, and that a killed process could not mark. */
  noteOrphans: (now: number) => Promise<void>;
};

export function openBlobs(db: Database, clock: Clock): Blobs {
  async function put(name: string, source: AsyncIterable<Uint8Array>): Promise<number> {
    const id = randomUUID();
    try {
      return await store(id, name, source);
    } catch (error) {
      await db.write((tx) => deleteBlob(tx, id)).catch(() => undefined); // else it expires
      const there = breaks("unique", error) ? await findBlob(db, name) : undefined;
      if (there === undefined) throw error;
      return there.bytes;
    }
  }

  async function store(id: string, name: string, source: AsyncIterable<Uint8Array>): Promise<number> {
    const hash = createHash("sha256");
    let [bytes, number] = [0, 0];
    for await (const { content, isLast } of piecesOf(source)) {
      hash.update(content);
      bytes += content.length;
      const whole = isLast ? { id, bytes, sha256: hash.digest("hex") } : undefined;
      const piece = number++;
      await db.write(async (tx) => {
        if (piece === 0) await insertBlob(tx, id, clock());
        await insertPiece(tx, id, piece, content);
        if (whole) await nameBlob(tx, whole, name);
      });
    }
    return bytes;
  }

  async function* read(name: string): AsyncGenerator<Buffer> {
    const blob = await findBlob(db, name);
    if (blob === undefined) throw new Error(`there are no bytes of ${name}`);
    const hash = createHash("sha256");
    for (let [bytes, piece] = [0, 0]; bytes < blob.bytes; piece++) {
      const content = await readPiece(db, blob.id, piece);
      if (content === undefined) throw new Problem("unavailable", `The bytes of ${name} were deleted while they were being read.`);
      hash.update(content);
      bytes += content.length;
      yield content;
    }
    if (hash.digest("hex") !== blob.sha256) throw new Error(`the bytes of ${name} are not those that were stored`);
  }

  return {
    put,
    read,
    sizes: (names) => listSizes(db, names),
    remove: deleteBlobs,
    noteOrphans: (now) => db.write((tx) => noteOrphanContent(tx, now - keptMs), { statementMs: auditMs }),
    expire: (now) => db.write((tx) => expireBlobs(tx, now - keptMs)),
  };
}

/** Cuts a stream into pieces of one size; the last one is shorter, and may be empty. */
async function* piecesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<{ content: Buffer; isLast: boolean }> {
  let kept = Buffer.alloc(0);
  for await (const chunk of source) {
    kept = Buffer.concat([kept, chunk]);
    for (; kept.length > pieceBytes; kept = kept.subarray(pieceBytes)) yield { content: kept.subarray(0, pieceBytes), isLast: false };
  }
  yield { content: kept, isLast: true };
}

/** A complete blob; `sha256` in hexadecimal. */
type Blob = { id: string; bytes: number; sha256: string };

const namesAtOnce = 500;
const expiredAtOnce = 100;
/** A form of content is named by the SHA-256 of its plain bytes, in hexadecimal, and a suffix. */
const hashLength = 64;

async function insertBlob(tx: Transaction, id: string, now: number): Promise<void> {
  await tx.query(sql`INSERT INTO blobs (id, made_at) VALUES (${id}, ${now})`);
}

async function insertPiece(tx: Transaction, id: string, piece: number, content: Uint8Array): Promise<void> {
  await tx.query(sql`INSERT INTO blob_pieces (blob_id, piece, content) VALUES (${id}, ${piece}, ${content})`);
}

/** Names a blob, which completes it. @throws ConstraintError `unique` if another blob has the name */
async function nameBlob(tx: Transaction, { id, bytes, sha256 }: Blob, name: string): Promise<void> {
  await tx.query(sql`UPDATE blobs SET name = ${name}, bytes = ${bytes}, sha256 = ${sha256} WHERE id = ${id}`);
}

async function findBlob(db: Queryable, name: string): Promise<Blob | undefined> {
  const [row] = await db.query<Blob>(sql`SELECT id, bytes, sha256 FROM blobs WHERE name = ${name}`);
  return row;
}

async function readPiece(db: Queryable, id: string, piece: number): Promise<Buffer | undefined> {
  const [row] = await db.query<{ content: Buffer }>(sql`SELECT content FROM blob_pieces WHERE blob_id = ${id} AND piece = ${piece}`);
  return row?.content;
}

/** The sizes of the blobs with these names. */
async function listSizes(db: Queryable, names: readonly string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (let i = 0; i < names.length; i += namesAtOnce) {
    const some = names.slice(i, i + namesAtOnce);
    const rows = await db.query<{ name: string; bytes: number }>(sql`SELECT name, bytes FROM blobs WHERE name IN (${join(some)})`);
    for (const { name, bytes } of rows) sizes.set(name, bytes);
  }
  return sizes;
}

async function deleteBlobs(tx: Transaction, names: readonly string[]): Promise<void> {
  for (let i = 0; i < names.length; i += namesAtOnce) {
    await tx.query(sql`DELETE FROM blobs WHERE name IN (${join(names.slice(i, i + namesAtOnce))})`);
  }
}

async function deleteBlob(tx: Transaction, id: string): Promise<void> {
  await tx.query(sql`DELETE FROM blobs WHERE id = ${id}`);
}

/** Deletes a batch of the blobs made before a time that were never completed, or that are uploads which no deployment waits for. */
async function expireBlobs(tx: Transaction, before: number): Promise<void> {
  await tx.query(sql`
    DELETE FROM blobs WHERE id IN (
      SELECT id FROM blobs WHERE made_at < ${before} AND (name IS NULL OR (name LIKE 'upload/%'
        AND NOT EXISTS (SELECT 1 FROM deployments WHERE 'upload/' || upload = name)))
      ${limitTo(expiredAtOnce)})`);
}

/** Marks as unused the content that was made before a time and that no deployment or photo has. */
async function noteOrphanContent(tx: Transaction, before: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO unused_files (hash)
    SELECT DISTINCT LEFT(name, ${hashLength}) FROM blobs WHERE made_at < ${before} AND name NOT LIKE 'upload/%'
      AND NOT EXISTS (SELECT 1 FROM files WHERE files.hash = LEFT(blobs.name, ${hashLength}))
      AND NOT EXISTS (SELECT 1 FROM photo_files WHERE photo_files.hash = LEFT(blobs.name, ${hashLength}))
      AND NOT EXISTS (SELECT 1 FROM bin_photo_files WHERE bin_photo_files.hash = LEFT(blobs.name, ${hashLength}))
    ON CONFLICT (hash) DO NOTHING`);
}
