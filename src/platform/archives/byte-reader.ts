import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { openTurns } from "../event-loop.ts";
import { type Bytes, UnreadableArchive } from "./archive-bytes.ts";

const chunkBytes = 64 * 1024;

/**
 * Decompresses gzip data of one or more members. Accepts the zeros with which some tools pad a file, and refuses any other bytes behind the data.
 *
 * @throws UnreadableArchive
 */
export async function* gunzipped(source: Bytes): AsyncGenerator<Uint8Array> {
  const packed = source[Symbol.asyncIterator]();
  let read = 0;
  /** The bytes up to the last one that is not zero. */
  let used = 0;
  async function next(): Promise<Uint8Array | undefined> {
    const step = await packed.next();
    if (step.done === true) return undefined;
    const last = step.value.findLastIndex((byte) => byte !== 0);
    if (last !== -1) used = read + last + 1;
    read += step.value.length;
    return step.value;
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let chunk = await next(); chunk; chunk = await next()) yield chunk;
  }
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  const feeding = pipeline(chunks, gunzip).catch(() => undefined); // reading reports each error, and gunzip stops at padding
  try {
    let isBegin = true;
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      if (isBegin && chunk[0] === 0x1f && chunk[1] === 0x8b) throw new UnreadableArchive("is compressed twice");
      isBegin = false;
      yield chunk;
    }
    await feeding;
    while (await next());
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code?.startsWith("Z_") === true ? new UnreadableArchive("is not a complete gzip file") : error;
  } finally {
    gunzip.destroy();
    await packed.return?.();
  }
  if (used > gunzip.bytesWritten) throw new UnreadableArchive("has other data behind its gzip data");
}

/** Reads a stream of bytes in pieces of given sizes. */
export type ByteReader = {
  /** Returns the next bytes as they come, at most `count`; undefined at the end. Gives the event loop turns. */
  some(count: number): Promise<Uint8Array | undefined>;
  /** Returns the next `count` bytes; undefined at the end. @throws UnreadableArchive if the stream ends within them */
  exactly(count: number): Promise<Buffer | undefined>;
};

export function openByteReader(source: Bytes): ByteReader & { close(): Promise<void> } {
  const chunks = source[Symbol.asyncIterator]();
  const giveTurn = openTurns();
  let chunk: Buffer = Buffer.alloc(0);

  /** Makes sure that a chunk has bytes left. Returns false at the end. */
  async function fill(): Promise<boolean> {
    await giveTurn();
    while (chunk.length === 0) {
      const step = await chunks.next();
      if (step.done === true) return false;
      chunk = Buffer.from(step.value.buffer, step.value.byteOffset, step.value.length);
    }
    return true;
  }

  function take(count: number): Buffer {
    const taken = chunk.subarray(0, count);
    chunk = chunk.subarray(taken.length);
    return taken;
  }

  return {
    some: async (count) => ((await fill()) ? take(count) : undefined),
    async exactly(count) {
      if (!(await fill())) return undefined;
      const pieces = [take(count)];
      for (let left = count - pieces[0]!.length; left > 0; left -= pieces.at(-1)!.length) {
        if (!(await fill())) throw new UnreadableArchive("breaks off");
        pieces.push(take(left));
      }
      return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    },
    close: async () => void (await chunks.return?.()),
  };
}
