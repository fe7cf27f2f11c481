import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Transaction } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";
import type { Blobs } from "./shared-bytes.ts";
import { contentPath, encodings, placeFile, type Encoding } from "./content.ts";

/**
 * The bytes of published files for this node and, with blobs, for all: then the database has them, and the folder is this node's cache.
 * A file is fetched when it is first read here, and goes when nobody has read it for a week.
 */
export type Content = {
  folder: string;
  /** Opens a form of a file that has `size` bytes. The caller closes it. @throws Problem `unavailable` while too many are fetched */
  open: (hash: string, encoding: Encoding | undefined, size: number) => Promise<FileHandle>;
  /** Those forms of these files that every node has, by `formName`, and their sizes; nothing where there is one node. */
  known(hashes: readonly string[]): Promise<Map<string, number>>;
  /** Gives a form that lies in the folder to every node. Gives the size that it has there, which another node may have made otherwise. */
  share(hash: string, encoding: Encoding | undefined, size: number): Promise<number>;
  /** Takes files from all nodes that no deployment claims. */
  forget(tx: Transaction, hashes: readonly string[]): Promise<void>;
  /** Takes from the folder what nobody has read for a week and can be fetched again. */
  evict(now: number): Promise<void>;
};

const fetchesAtOnce = 8;
const fetchesWaitingMax = 1_000;
const unreadMs = 7 * 24 * 60 * 60_000;

/** The name of a form, which is that of its file in the folder too. */
export const formName = (hash: string, encoding: Encoding | undefined): string => basename(contentPath("", hash, encoding));

const formsOf = (hash: string): string[] => [undefined, ...encodings].map((encoding) => formName(hash, encoding));

export function openContent(folder: string, blobs: Blobs | undefined): Content {
  if (blobs === undefined) {
    return {
      folder,
      open: (hash, encoding) => open(contentPath(folder, hash, encoding)),
      known: async () => new Map(),
      share: async (_hash, _encoding, size) => size,
      forget: async () => undefined,
      evict: async () => undefined,
    };
  }
  const { put, read, sizes, remove } = blobs;
  const fetching = new Map<string, Promise<void>>();
  const take = slots(fetchesAtOnce);

  async function openForm(hash: string, encoding: Encoding | undefined, size: number): Promise<FileHandle> {
    const path = contentPath(folder, hash, encoding);
    const there = await openWhole(path, size);
    if (there !== undefined) return there;
    await fetchOnce(path);
    return (await openWhole(path, size)) ?? missing(path);
  }

  function fetchOnce(path: string): Promise<void> {
    const running = fetching.get(path);
    if (running !== undefined) return running;
    if (fetching.size >= fetchesWaitingMax) throw new Problem("unavailable", "Too many published files are fetched at once.");
    const fetched = take(() => fetchFile(path)).finally(() => fetching.delete(path));
    fetching.set(path, fetched);
    return fetched;
  }

  async function fetchFile(path: string): Promise<void> {
    const incoming = join(folder, "incoming");
    await mkdir(incoming, { recursive: true });
    const temporary = join(incoming, randomUUID());
    try {
      await pipeline(read(basename(path)), createWriteStream(temporary, { flags: "wx" }));
      await placeFile(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  return {
    folder,
    open: openForm,
    known: (hashes) => sizes(hashes.flatMap(formsOf)),
    share: (hash, encoding) => put(formName(hash, encoding), createReadStream(contentPath(folder, hash, encoding))),
    forget: (tx, hashes) => remove(tx, hashes.flatMap(formsOf)),
    evict: (now) => evictFrom(folder, now - unreadMs),
  };
}

/** The file, unless it is not there or has another size: a compressed form that was made otherwise, before the one that all nodes have. */
async function openWhole(path: string, size: number): Promise<FileHandle | undefined> {
  const handle = await open(path).catch((error: NodeJS.ErrnoException): undefined => {
    if (error.code !== "ENOENT") throw error;
  });
  if (handle === undefined || (await handle.stat()).size === size) return handle;
  await handle.close();
  return undefined;
}

function missing(path: string): never {
  throw new Error(`${basename(path)} is not of the size that its manifest says`);
}

/** Runs at most so many at once, the others in turn. */
function slots(atOnce: number): (work: () => Promise<void>) => Promise<void> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

/** A file system notes a reading once a day at least, or never: then a file is fetched again after a week. */
async function evictFrom(folder: string, before: number): Promise<void> {
  const shelves = (await readdir(folder).catch(() => [])).filter((name) => name.length === 2);
  for (const shelf of shelves) {
    for (const name of await readdir(join(folder, shelf))) {
      const path = join(folder, shelf, name);
      const { atimeMs, mtimeMs } = await stat(path);
      if (Math.max(atimeMs, mtimeMs) < before) await rm(path, { force: true });
    }
  }
}
