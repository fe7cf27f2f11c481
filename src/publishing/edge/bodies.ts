import type { FileHandle } from "node:fs/promises";
import { acquire, openFairShare, release } from "../../platform/jobs/fair-share.ts";
import { createLru } from "../../platform/lru.ts";
import { sizeOf } from "./answer.ts";
import type { Encoding, PublishedFile } from "./site.ts";

export type BodyLimits = {
  /** Bytes of small files kept in memory, all together. */
  hotBytesMax: number;
  /** Files up to this size are read whole and kept; larger ones are streamed. */
  hotFileBytesMax: number;
  /** Large files open at once; many readers of one file share it. One host gets half of them at most, and less while others have files open. */
  openFilesMax: number;
};

/** Opens the bytes of a form of a file, which has `size` of them. */
export type OpenContent = (hash: string, encoding: Encoding | undefined, size: number) => Promise<FileHandle>;

export type Bodies = {
  /** A small file that is in memory. */
  hot(file: PublishedFile, encoding: Encoding | undefined): Buffer | undefined;
  /** A small file, read once however many ask for it meanwhile. */
  read(file: PublishedFile, encoding: Encoding | undefined): Promise<Buffer>;
  /** Opens a large file of a host. Undefined when too many are open, of the host or of all. The caller closes it. */
  open(host: string, file: PublishedFile, encoding: Encoding | undefined): Promise<OpenBody | undefined>;
};

export type OpenBody = { read(position: number, bytes: number): Promise<Buffer>; close(): Promise<void> };

export function openBodies(openContent: OpenContent, limits: BodyLimits): Bodies {
  const kept = createLru<Buffer>(limits.hotBytesMax);
  const reading = new Map<string, Promise<Buffer>>();
  const shared = new Map<string, { handle: Promise<FileHandle>; host: string; readers: number }>();
  /** Shared by hosts. A file that several hosts serve takes a place of the host that opened it. */
  const places = openFairShare<string>({ max: limits.openFilesMax, waitingMax: 0 });

  const hot = (file: PublishedFile, encoding: Encoding | undefined): Buffer | undefined => kept.get(keyOf(file, encoding));

  function read(file: PublishedFile, encoding: Encoding | undefined): Promise<Buffer> {
    const key = keyOf(file, encoding);
    const running = reading.get(key);
    if (running !== undefined) return running;
    const bytes = readWhole(file, encoding)
      .then((body) => {
        kept.set(key, body, body.length);
        return body;
      })
      .finally(() => reading.delete(key));
    reading.set(key, bytes);
    return bytes;
  }

  async function readWhole(file: PublishedFile, encoding: Encoding | undefined): Promise<Buffer> {
    await using handle = await openContent(file.hash, encoding, sizeOf(file, encoding));
    return await handle.readFile();
  }

  function forget(key: string, host: string): void {
    shared.delete(key);
    release(places, host);
  }

  async function openShared(host: string, file: PublishedFile, encoding: Encoding | undefined): Promise<OpenBody | undefined> {
    const key = keyOf(file, encoding);
    let one = shared.get(key);
    if (one === undefined) {
      if (acquire(places, host) !== undefined) return undefined;
      one = { handle: openContent(file.hash, encoding, sizeOf(file, encoding)), host, readers: 0 };
      shared.set(key, one);
    }
    const { handle } = one;
    one.readers += 1;
    const close = async (): Promise<void> => {
      one.readers -= 1;
      if (one.readers > 0) return;
      forget(key, one.host);
      await (await handle).close();
    };
    try {
      const ready = await handle;
      return { read: (position, bytes) => readPiece(ready, position, bytes), close };
    } catch (error) {
      one.readers -= 1;
      if (one.readers === 0) forget(key, one.host);
      throw error;
    }
  }

  return { hot, read, open: openShared };
}

/** Reads into a separate buffer: a small piece of a shared block would keep the whole block in memory. */
async function readPiece(handle: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(bytes), 0, bytes, position);
  if (bytesRead === 0) throw new Error("the file is shorter than its manifest says");
  return buffer.subarray(0, bytesRead);
}

const keyOf = ({ hash }: PublishedFile, encoding: Encoding | undefined): string => (encoding === undefined ? hash : `${hash}.${encoding}`);
