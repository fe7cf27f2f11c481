import type { FileHandle } from "node:fs/promises";
import type { Bounds } from "../../platform/bounds.ts";
import { createCache, type Cache } from "../../platform/cache.ts";
import { acquire, release, type FairShare } from "../../platform/jobs/fair-share.ts";
import { openSharedRuns, type SharedRuns } from "../../platform/jobs/runs.ts";
import { sizeOf } from "./files.ts";
import type { Encoding, PublishedFile } from "./site.ts";

export type BodyLimits = {
  /** The most bytes of small files cached in memory. */
  hotBytesMax: number;
  /** Files up to this size are read whole and cached; larger ones are streamed. */
  hotFileBytesMax: number;
  /** The most large files open at once; readers share a file. A host gets at most half of them, fewer while others have files open. */
  openFilesMax: number;
};

/** Opens the content of a file in an encoding; `size` is its length in bytes. If it has to be fetched, hosts take turns. */
export type OpenContent = (hash: string, encoding: Encoding | undefined, size: number, host?: string) => Promise<FileHandle>;

export type Bodies = {
  /** Whether a file is read whole and cached. */
  isSmall(file: PublishedFile, encoding: Encoding | undefined): boolean;
  /** Returns a small file if it is cached. */
  hot(file: PublishedFile, encoding: Encoding | undefined): Buffer | undefined;
  /** Reads a small file into the cache. Concurrent calls share one read. */
  read(host: string, file: PublishedFile, encoding: Encoding | undefined): Promise<Buffer>;
  /** Opens a large file for a host; the caller closes it. Returns undefined if too many files are open, for the host or in total. */
  open(host: string, file: PublishedFile, encoding: Encoding | undefined): Promise<OpenBody | undefined>;
};

type OpenBody = { read(position: number, bytes: number): Promise<Buffer>; close(): Promise<void> };

type SharedFile = { handle: Promise<FileHandle>; host: string; readers: number };
type State = {
  openContent: OpenContent;
  cache: Cache<string, Buffer>;
  reading: SharedRuns<string, Buffer>;
  shared: Map<string, SharedFile>;
  /** Keyed by host. A file that several hosts serve counts for the host that opened it. */
  places: FairShare<string>;
};

export function openBodies(openContent: OpenContent, limits: BodyLimits, bounds: Pick<Bounds, "queue">): Bodies {
  const places = bounds.queue<string>("open_files", { max: limits.openFilesMax });
  const state: State = { openContent, cache: createCache(limits.hotBytesMax), reading: openSharedRuns(), shared: new Map(), places };
  return {
    isSmall: (file, encoding) => sizeOf(file, encoding) <= limits.hotFileBytesMax,
    hot: (file, encoding) => state.cache.get(keyOf(file, encoding)),
    read: (host, file, encoding) => readIntoCache(state, host, file, encoding),
    open: (host, file, encoding) => openShared(state, host, file, encoding),
  };
}

function readIntoCache(
  { openContent, cache, reading }: State,
  host: string,
  file: PublishedFile,
  encoding: Encoding | undefined,
): Promise<Buffer> {
  const key = keyOf(file, encoding);
  return reading.run(key, async () => {
    const body = await readWhole(openContent, host, file, encoding);
    return cache.set(key, body, body.length);
  });
}

async function readWhole(openContent: OpenContent, host: string, file: PublishedFile, encoding: Encoding | undefined): Promise<Buffer> {
  await using handle = await openContent(file.hash, encoding, sizeOf(file, encoding), host);
  return await handle.readFile();
}

async function openShared(state: State, host: string, file: PublishedFile, encoding: Encoding | undefined): Promise<OpenBody | undefined> {
  const { openContent, shared, places } = state;
  const key = keyOf(file, encoding);
  let entry = shared.get(key);
  if (entry === undefined) {
    if (acquire(places, host) !== undefined) return undefined;
    entry = { handle: openContent(file.hash, encoding, sizeOf(file, encoding), host), host, readers: 0 };
    shared.set(key, entry);
  }
  const { handle } = entry;
  entry.readers += 1;
  const close = async (): Promise<void> => {
    entry.readers -= 1;
    if (entry.readers > 0) return;
    forget(state, key, entry.host);
    await (await handle).close();
  };
  try {
    const ready = await handle;
    return { read: (position, bytes) => readPiece(ready, position, bytes), close };
  } catch (error) {
    entry.readers -= 1;
    if (entry.readers === 0) forget(state, key, entry.host);
    throw error;
  }
}

function forget({ shared, places }: State, key: string, host: string): void {
  shared.delete(key);
  release(places, host);
}

/** Reads into a separate buffer: a small piece of a shared block would keep the whole block in memory. */
async function readPiece(handle: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(bytes), 0, bytes, position);
  if (bytesRead === 0) throw new Error("the file is shorter than its manifest says");
  return buffer.subarray(0, bytesRead);
}

const keyOf = ({ hash }: PublishedFile, encoding: Encoding | undefined): string => (encoding === undefined ? hash : `${hash}.${encoding}`);
