import { createHash, randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import { systemClock } from "../platform/clock.ts";
import type { Transaction } from "../platform/db/database.ts";

const pieceBytes = 256 * 1024;

/** Stores a file in the database in pieces, under its name there. Returns its length and the SHA-256 of its content. */
export async function storeBlob(
  tx: Transaction,
  name: string,
  content: AsyncIterable<Uint8Array>,
): Promise<{ bytes: number; sha256: string }> {
  const id = randomUUID();
  const hash = createHash("sha256");
  await tx.query(sql`INSERT INTO blobs (id, made_at) VALUES (${id}, ${systemClock()})`);
  let [bytes, piece] = [0, 0];
  let kept: Buffer = Buffer.alloc(0);
  const store = async (chunk: Buffer): Promise<void> => {
    hash.update(chunk);
    bytes += chunk.length;
    await tx.query(sql`INSERT INTO blob_pieces (blob_id, piece, content) VALUES (${id}, ${piece++}, ${chunk})`);
  };
  for await (const chunk of content) {
    kept = Buffer.concat([kept, chunk]);
    for (; kept.length > pieceBytes; kept = kept.subarray(pieceBytes)) await store(kept.subarray(0, pieceBytes));
  }
  await store(kept);
  const sha256 = hash.digest("hex");
  await tx.query(sql`UPDATE blobs SET name = ${name}, bytes = ${bytes}, sha256 = ${sha256} WHERE id = ${id}`);
  return { bytes, sha256 };
}
