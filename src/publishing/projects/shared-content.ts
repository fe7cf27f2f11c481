import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Bounds } from "../../platform/bounds.ts";
import type { Database } from "../../platform/db/database.ts";
import { makeFolder, placeFile, stagingStream } from "../../platform/files.ts";
import { type FairShare, runInTurn } from "../../platform/jobs/fair-share.ts";
import { openSharedRuns } from "../../platform/jobs/runs.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { contentPath, type Encoding, encodings, flushContentFolders, openIncoming, publishFile, stageFile } from "./content.ts";
import { deleteUnusedFiles, listUnusedFiles } from "./deployments.store.ts";
import type { Blobs } from "./shared-bytes.ts";

/**
 * The bytes of published files. With the embedded database they are in a folder and nowhere else. With PostgreSQL they are in the database,
 * and the folder is a cache of this node: it fetches a file at its first read, and evicts the least recently read ones.
 */
export type Content = {
  folder: string;
  /**
   * Opens a form of a file that has `size` bytes. The caller closes it. Sites take turns to fetch files from the database.
   *
   * @throws Problem `unavailable` while too many are fetched
   */
  open: (hash: string, encoding: Encoding | undefined, size: number, site?: string) => Promise<FileHandle>;
  /** The sizes of the stored forms of these files, by `formName`; empty with the embedded database. */
  known(hashes: readonly string[]): Promise<Map<string, number>>;
  /** Copies a form from the folder to where every node can read it. Returns the stored size; another node may have stored its own form first. */
  share(hash: string, encoding: Encoding | undefined, size: number): Promise<number>;
  /** Publishes bytes under their hashes for every node, and holds them until `release`. */
  publish(files: readonly { hash: string; bytes: Buffer }[]): Promise<void>;
  /** Keeps files in the folder that a deployment is about to publish, until `release`. */
  pin(hashes: readonly string[]): void;
  release(hashes: readonly string[]): void;
  /** Runs work that claims files for an account, and never while unused ones are removed: a file that was unused may be claimed. */
  claim<Result>(accountId: number, work: () => Promise<Result>): Promise<Result>;
  /** Removes unused files that no deployment claims or holds, of the first `limit` that are marked. Returns how many marks it deleted. */
  remove(limit: number): Promise<number>;
};

/** The name of a form, which is also the name of its file in the folder. */
export const formName = (hash: string, encoding: Encoding | undefined): string => basename(contentPath("", hash, encoding));

const formsOf = (hash: string): string[] => [undefined, ...encodings].map((encoding) => formName(hash, encoding));

/** The content of a process that has its database to itself. */
export function localContent(db: Database, folder: string, bounds: Pick<Bounds, "queue">): Content {
  const { pin, release, isPinned } = createPins();
  const changes = bounds.queue<number>("content_changes");
  return {
    folder,
    open: (hash, encoding) => open(contentPath(folder, hash, encoding)),
    claim: (accountId, work) => runInTurn(changes, accountId, work),
    publish: (files) =>
      runInTurn(changes, undefined, async () => {
        pin(files.map(({ hash }) => hash));
        await placeBytes(folder, files).catch(releasing(files, release));
      }),
    known: async () => new Map(),
    share: async (_hash, _encoding, size) => size,
    pin,
    release,
    /** Deletes the files before their rows, so that a killed process leaves nothing behind. */
    remove: (limit) =>
      runInTurn(changes, undefined, async () => {
        const { hashes, needed } = await db.write((tx) => listUnusedFiles(tx, limit));
        const unused = hashes.filter((hash) => !isPinned(hash));
        await removeForms(folder, unused);
        if (unused.length > 0) await db.write((tx) => deleteUnusedFiles(tx, unused));
        return unused.length + needed;
      }),
  };
}

type SharedContext = {
  folder: string;
  blobs: Blobs;
  cache: ContentCache;
  /** Files that are being fetched, by path. */
  fetching: Map<string, Promise<void>>;
  fetches: FairShare<string>;
};

/** The content of many nodes. @param cacheBytesMax bytes that this node's folder may hold */
export function sharedContent(db: Database, folder: string, blobs: Blobs, cacheBytesMax: number, bounds: Pick<Bounds, "queue">): Content {
  const { pin, release, isPinned } = createPins();
  const cache = openContentCache(folder, cacheBytesMax, isPinned);
  const changes = bounds.queue<number>("content_changes");
  const context: SharedContext = { folder, blobs, cache, fetching: new Map(), fetches: bounds.queue("content_fetches") };
  const share = async (hash: string, encoding: Encoding | undefined, size: number): Promise<number> => {
    await cache.grow(size);
    return blobs.put(formName(hash, encoding), createReadStream(contentPath(folder, hash, encoding)));
  };
  return {
    folder,
    claim: (accountId, work) => runInTurn(changes, accountId, work),
    async publish(files) {
      pin(files.map(({ hash }) => hash));
      const stored = async (): Promise<void> => {
        await placeBytes(folder, files);
        for (const { hash, bytes } of files) await share(hash, undefined, bytes.length);
      };
      await stored().catch(releasing(files, release));
    },
    open: (hash, encoding, size, site) => openShared(context, contentPath(folder, hash, encoding), size, site),
    known: (hashes) => blobs.sizes(hashes.flatMap(formsOf)),
    share,
    pin,
    release,
    /** The folders of other nodes keep the files until they need the room. */
    remove: (limit) =>
      runInTurn(changes, undefined, async () => {
        const { unused, needed } = await db.write(async (tx) => {
          const listed = await listUnusedFiles(tx, limit);
          const hashes = listed.hashes.filter((hash) => !isPinned(hash));
          await blobs.remove(tx, hashes.flatMap(formsOf));
          await deleteUnusedFiles(tx, hashes);
          return { unused: hashes, needed: listed.needed };
        });
        await removeForms(folder, unused);
        return unused.length + needed;
      }),
  };
}

async function openShared(context: SharedContext, path: string, size: number, site: string | undefined): Promise<FileHandle> {
  const there = await openWhole(path, size);
  if (there !== undefined) return there;
  await fetchOnce(context, path, size, site);
  return (await openWhole(path, size)) ?? missing(path);
}

function fetchOnce(context: SharedContext, path: string, size: number, site: string | undefined): Promise<void> {
  const { fetching, fetches } = context;
  const running = fetching.get(path);
  if (running !== undefined) return running;
  const fetched = runInTurn(fetches, site, () => fetchFile(context, path, size)).finally(() => fetching.delete(path));
  fetching.set(path, fetched);
  return fetched;
}

async function fetchFile({ folder, blobs, cache }: SharedContext, path: string, size: number): Promise<void> {
  await cache.grow(size);
  const incoming = join(folder, "incoming");
  await makeFolder(incoming);
  const temporary = join(incoming, randomUUID());
  try {
    await pipeline(blobs.read(basename(path)), stagingStream(temporary));
    await placeFile(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Counts the files that deployments of this process are about to publish; several may hold the same file. */
function createPins(): Pick<Content, "pin" | "release"> & { isPinned: (hash: string) => boolean } {
  const pins = createTally<string>();
  return {
    pin: (hashes) => hashes.forEach((hash) => pins.add(hash)),
    release: (hashes) => hashes.forEach((hash) => pins.take(hash)),
    isPinned: (hash) => pins.of(hash) > 0,
  };
}

async function placeBytes(folder: string, files: readonly { hash: string; bytes: Buffer }[]): Promise<void> {
  const incoming = await openIncoming(folder);
  try {
    for (const { bytes } of files) await publishFile(folder, await stageFile(incoming, Readable.from([bytes])));
    await flushContentFolders(
      folder,
      files.map(({ hash }) => hash),
    );
  } finally {
    await rm(incoming, { recursive: true, force: true });
  }
}

const releasing =
  (files: readonly { hash: string }[], release: Content["release"]) =>
  (error: unknown): never => {
    release(files.map(({ hash }) => hash));
    throw error;
  };

async function removeForms(folder: string, hashes: readonly string[]): Promise<void> {
  for (const hash of hashes) {
    for (const encoding of [undefined, ...encodings]) await rm(contentPath(folder, hash, encoding), { force: true });
  }
}

/** Returns undefined if the file is missing, or has another size: then it is older than the compressed form that is stored for all nodes. */
async function openWhole(path: string, size: number): Promise<FileHandle | undefined> {
  const handle = await open(path).catch((error: NodeJS.ErrnoException): undefined => {
    if (error.code !== "ENOENT") throw error;
  });
  if (handle === undefined || (await handle.stat()).size === size) return handle;
  await handle.close();
  return undefined;
}

function missing(path: string): never {
  throw new Error(`${basename(path)} does not have the size in its manifest`);
}

/** An eviction goes down to this share of the bound, so the next one is not due at once. */
const leftShare = 0.8;

/** Bounds a folder of files that can be fetched again, each in a subfolder of two letters. */
type ContentCache = {
  /** Counts added bytes, and evicts the least recently read files if there are too many. */
  grow: (bytes: number) => Promise<void>;
};

/** @param isHeld whether the files with this hash must stay */
export function openContentCache(folder: string, bytesMax: number, isHeld: (hash: string) => boolean): ContentCache {
  let size: number | undefined;
  const evicting = openSharedRuns<"folder", void>();

  async function evict(): Promise<void> {
    const files = (await listFiles(folder)).toSorted((a, b) => a.usedAt - b.usedAt);
    let left = files.reduce((sum, file) => sum + file.bytes, 0);
    if (left > bytesMax) {
      for (const { path, hash, bytes } of files) {
        if (left <= bytesMax * leftShare) break;
        if (isHeld(hash)) continue;
        await rm(path, { force: true });
        left -= bytes;
      }
    }
    size = left;
  }

  return {
    async grow(bytes) {
      if (size !== undefined) size += bytes;
      if (size !== undefined && size <= bytesMax) return;
      await evicting.run("folder", evict);
    },
  };
}

/** A file system may record the time of a read only once a day, or never: then the file that was written first is evicted first. */
async function listFiles(folder: string): Promise<{ path: string; hash: string; bytes: number; usedAt: number }[]> {
  const files = [];
  const shelves = (await readdir(folder).catch(() => [])).filter((name) => name.length === 2);
  for (const shelf of shelves) {
    for (const name of await readdir(join(folder, shelf))) {
      const path = join(folder, shelf, name);
      const found = await stat(path).catch(() => undefined); // deleted meanwhile
      if (found) files.push({ path, hash: name.replace(/\..*/, ""), bytes: found.size, usedAt: Math.max(found.atimeMs, found.mtimeMs) });
    }
  }
  return files;
}
