import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { openSharing } from "../../platform/jobs/runs.ts";

/** An eviction goes down to this share of the bound, so the next one is not due at once. */
const leftShare = 0.8;

/** Bounds a folder of files that can be fetched again, each in a subfolder of two letters. */
export type ContentCache = {
  /** Counts added bytes, and evicts the least recently read files if there are too many. */
  grow: (bytes: number) => Promise<void>;
};

/** @param isHeld whether the files with this hash must stay */
export function openContentCache(folder: string, bytesMax: number, isHeld: (hash: string) => boolean): ContentCache {
  let size: number | undefined;
  const evicting = openSharing<"folder", void>();

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
