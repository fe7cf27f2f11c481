import { createHash, randomUUID } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import { breaks, type Database, type Transaction } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";
import {
  deleteBlob,
  deleteBlobs,
  expireBlobs,
  findBlob,
  insertBlob,
  insertPiece,
  listSizes,
  nameBlob,
  noteOrphanContent,
  readPiece,
} from "./blobs.store.ts";

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
  expire: () => Promise<void>;
  /** Marks the content as unused that no deployment has, and that a killed process could not mark. */
  noteOrphans: () => Promise<void>;
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
    noteOrphans: () => db.write((tx) => noteOrphanContent(tx, clock() - keptMs), { statementMs: auditMs }),
    expire: () => db.write((tx) => expireBlobs(tx, clock() - keptMs)),
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
