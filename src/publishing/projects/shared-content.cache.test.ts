import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openContentCache } from "./shared-content.ts";

const kib = 1024;
const nothing = () => false;

/** A folder with files of 1 KiB, the first read longest ago. */
async function folderOf(t: TestContext, ...names: string[]): Promise<{ folder: string; left: () => Promise<string[]> }> {
  const folder = await mkdtemp(join(tmpdir(), "cache-"));
  t.after(() => rm(folder, { recursive: true }));
  for (const [index, name] of names.entries()) {
    const path = join(folder, name.slice(0, 2), name);
    await mkdir(join(folder, name.slice(0, 2)), { recursive: true });
    await writeFile(path, Buffer.alloc(kib));
    await utimes(path, index + 1, index + 1);
  }
  const left = async () => (await readdir(folder, { recursive: true })).filter((name) => name.includes("/")).map((name) => name.slice(3));
  return { folder, left };
}

test("when the bound is passed, the least recently read files are evicted down to four fifths of it, so that the next file finds room", async (t) => {
  const names = ["aa1", "ab2.br", "ba3", "bb4.gz", "ca5", "cb6"];
  const { folder, left } = await folderOf(t, ...names);
  const cache = openContentCache(folder, 5 * kib, nothing);
  await cache.grow(0);
  assert.deepEqual((await left()).toSorted(), names.slice(2));
});

test("nothing is evicted while there is room", async (t) => {
  const names = ["aa1", "ab2", "ba3"];
  const { folder, left } = await folderOf(t, ...names);
  const cache = openContentCache(folder, 10 * kib, nothing);
  await cache.grow(kib);
  await cache.grow(7 * kib);
  assert.deepEqual((await left()).toSorted(), names);
});

test("later files are added to the size of the earlier ones", async (t) => {
  const { folder, left } = await folderOf(t, "aa1", "ab2", "ba3", "bb4");
  const cache = openContentCache(folder, 5 * kib, nothing);
  await cache.grow(0);
  await writeFile(join(folder, "ba", "ba5"), Buffer.alloc(2 * kib));
  await cache.grow(2 * kib);
  assert.deepEqual((await left()).toSorted(), ["ba3", "ba5", "bb4"]);
});

test("files that a deployment holds stay until they are released, even if they were not read for long", async (t) => {
  const { folder, left } = await folderOf(t, "aa1", "aa1.br", "ab2", "ba3");
  const held = new Set(["aa1"]);
  const cache = openContentCache(folder, 3 * kib, (hash) => held.has(hash));
  await cache.grow(0);
  assert.deepEqual((await left()).toSorted(), ["aa1", "aa1.br"]);
  held.clear();
  await writeFile(join(folder, "ba", "ba4"), Buffer.alloc(2 * kib));
  await cache.grow(2 * kib);
  assert.deepEqual(await left(), ["ba4"]);
});
