import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** What an eviction leaves of the bound, so that the next one is not due at once. */
const leftShare = 0.8;

/** Bounds a folder of files that can be fetched again, each in a folder of two letters. */
export type ContentCache = {
  /** Tells of bytes that have come; evicts what was read longest ago where they are too many. */
  grow: (bytes: number) => Promise<void>;
  /** The files whose name begins with these hashes stay until they are released. */
  hold: (hashes: readonly string[]) => void;
  release: (hashes: readonly string[]) => void;
};

export function openContentCache(folder: string, bytesMax: number): ContentCache {
  const held = new Set<string>();
  let size: number | undefined;
  let evicting: Promise<void> | undefined;

  async function evict(): Promise<void> {
    const files = (await listFiles(folder)).toSorted((a, b) => a.usedAt - b.usedAt);
    let left = files.reduce((sum, file) => sum + file.bytes, 0);
    if (left > bytesMax) {
      for (const { path, hash, bytes } of files) {
        if (left <= bytesMax * leftShare) break;
        if (held.has(hash)) continue;
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
      await (evicting ??= evict().finally(() => (evicting = undefined)));
    },
    hold: (hashes) => hashes.forEach((hash) => held.add(hash)),
    release: (hashes) => hashes.forEach((hash) => held.delete(hash)),
  };
}

/** A file system notes a reading once a day at least, or never: then what came first goes first. */
async function listFiles(folder: string): Promise<{ path: string; hash: string; bytes: number; usedAt: number }[]> {
  const files = [];
  const shelves = (await readdir(folder).catch(() => [])).filter((name) => name.length === 2);
  for (const shelf of shelves) {
    for (const name of await readdir(join(folder, shelf))) {
      const path = join(folder, shelf, name);
      const found = await stat(path).catch(() => undefined); // gone meanwhile
      if (found) files.push({ path, hash: name.replace(/\..*/, ""), bytes: found.size, usedAt: Math.max(found.atimeMs, found.mtimeMs) });
    }
  }
  return files;
}
