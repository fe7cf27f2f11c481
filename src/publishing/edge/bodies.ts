import { open, readFile, type FileHandle } from "node:fs/promises";
import { createLru } from "./lru.ts";
import type { Encoding } from "./site.ts";

export type BodyLimits = {
  /** Bytes of small files kept in memory, all together. */
  hotBytesMax: number;
  /** Files up to this size are read whole and kept; larger ones are streamed. */
  hotFileBytesMax: number;
  /** Large files open at once; many readers of one file share it. */
  openFilesMax: number;
};

export type Bodies = {
  /** A small file that is in memory. */
  hot(hash: string, encoding: Encoding | undefined): Buffer | undefined;
  /** A small file, read once however many ask for it meanwhile. */
  read(hash: string, encoding: Encoding | undefined): Promise<Buffer>;
  /** Opens a large file from byte `start` to byte `end`, both included. Undefined when too many are open. The caller closes it. */
  open(hash: string, encoding: Encoding | undefined, start: number, end: number): Promise<OpenBody | undefined>;
};

export type OpenBody = { bytes: AsyncIterable<Buffer>; close(): Promise<void> };

const chunkBytes = 64 * 1024;

export function openBodies(contentPath: (hash: string, encoding?: Encoding) => string, limits: BodyLimits): Bodies {
  const kept = createLru<Buffer>(limits.hotBytesMax);
  const reading = new Map<string, Promise<Buffer>>();
  const shared = new Map<string, { handle: Promise<FileHandle>; readers: number }>();

  const hot = (hash: string, encoding: Encoding | undefined): Buffer | undefined => kept.get(keyOf(hash, encoding));

  function read(hash: string, encoding: Encoding | undefined): Promise<Buffer> {
    const key = keyOf(hash, encoding);
    const running = reading.get(key);
    if (running !== undefined) return running;
    const bytes = readFile(contentPath(hash, encoding))
      .then((body) => {
        kept.set(key, body, body.length);
        return body;
      })
      .finally(() => reading.delete(key));
    reading.set(key, bytes);
    return bytes;
  }

  async function openShared(hash: string, encoding: Encoding | undefined, start: number, end: number): Promise<OpenBody | undefined> {
    const key = keyOf(hash, encoding);
    let file = shared.get(key);
    if (file === undefined) {
      if (shared.size >= limits.openFilesMax) return undefined;
      file = { handle: open(contentPath(hash, encoding)), readers: 0 };
      shared.set(key, file);
    }
    const { handle } = file;
    file.readers += 1;
    const close = async (): Promise<void> => {
      file.readers -= 1;
      if (file.readers > 0) return;
      shared.delete(key);
      await (await handle).close();
    };
    try {
      return { bytes: readChunks(await handle, start, end), close };
    } catch (error) {
      file.readers -= 1;
      if (file.readers === 0) shared.delete(key);
      throw error;
    }
  }

  return { hot, read, open: openShared };
}

async function* readChunks(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position <= end;) {
    const length = Math.min(chunkBytes, end + 1 - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) throw new Error("the file is shorter than its manifest says");
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const keyOf = (hash: string, encoding: Encoding | undefined): string => (encoding === undefined ? hash : `${hash}.${encoding}`);
