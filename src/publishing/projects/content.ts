import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import { flushFolder, makeFolder, placeFile, stagingStream } from "../../platform/files.ts";
import { openSharedRuns } from "../../platform/jobs/runs.ts";

/**
 * The folder of published bytes. A file is at `ab/abcdef…`, named by the SHA-256 of its plain bytes, with its compressed forms beside it.
 * A file with its final name is complete and on the disk: it was written under another name, synced, then renamed. So files never change,
 * equal files of all projects are stored once, and a killed process leaves nothing but its folder under `incoming`.
 */
export type Encoding = "br" | "gzip";
export type StagedFile = { temporary: string; hash: string; size: number };
/** The size in bytes of each compressed form that was kept. */
export type Encodings = Partial<Record<Encoding, number>>;

type ManifestFile = { hash: string; size: number; type: string; encodings: Encodings };

/** The files that a deployment serves, by path without a leading slash. */
export type Manifest = Map<string, ManifestFile>;

export const encodings: Encoding[] = ["br", "gzip"];
const suffixes = { br: ".br", gzip: ".gz" };
const keptBelow = 0.95;
const oneMiB = 1024 * 1024;

export function contentPath(folder: string, hash: string, encoding?: Encoding): string {
  return join(folder, hash.slice(0, 2), encoding === undefined ? hash : hash + suffixes[encoding]);
}

/** Makes a private folder for one upload; the caller removes it when done. */
export async function openIncoming(folder: string): Promise<string> {
  const incoming = join(folder, "incoming", randomUUID());
  await makeFolder(incoming);
  return incoming;
}

/** Removes what uploads of an earlier process left behind. Call it only at the start, before any upload. */
export async function clearIncoming(folder: string): Promise<void> {
  await rm(join(folder, "incoming"), { recursive: true, force: true });
}

/** Writes `source` under a temporary name and returns its SHA-256. Nothing is published yet. */
export async function stageFile(incoming: string, source: AsyncIterable<Uint8Array>): Promise<StagedFile> {
  const temporary = join(incoming, randomUUID());
  const hash = createHash("sha256");
  let size = 0;
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  }
  await pipeline(hashed, stagingStream(temporary));
  return { temporary, hash: hash.digest("hex"), size };
}

/** Gives a staged file its final name, unless the same bytes have it already. */
export async function publishFile(folder: string, staged: StagedFile): Promise<void> {
  await settle(staged.temporary, contentPath(folder, staged.hash));
}

/** The compression level for a deployment with this many compressible bytes, so that it takes at most a few seconds of one core. */
export function compressionEffort(bytes: number): { brotli: number; gzip: number } {
  if (bytes <= 4 * oneMiB) return { brotli: 11, gzip: 9 };
  return bytes <= 32 * oneMiB ? { brotli: 8, gzip: 9 } : { brotli: 5, gzip: 6 };
}

/**
 * Makes the compressed forms of a published file, on zlib's threads, and keeps those that save at least 5 %. Does not make a form whose size
 * is in `known`: it exists already, here or on another node.
 */
export async function compressFile(
  folder: string,
  incoming: string,
  file: { hash: string; size: number },
  effort: { brotli: number; gzip: number },
  known: (encoding: Encoding) => number | undefined = () => undefined,
): Promise<Encodings> {
  const kept: Encodings = {};
  for (const encoding of encodings) {
    const path = contentPath(folder, file.hash, encoding);
    const size =
      known(encoding) ??
      (await making.run(path, async () => (await sizeOf(path)) ?? compress(contentPath(folder, file.hash), path, encoding)));
    if (size !== undefined) kept[encoding] = size;
  }
  return kept;

  async function compress(plain: string, path: string, encoding: Encoding): Promise<number | undefined> {
    const temporary = join(incoming, randomUUID());
    await pipeline(createReadStream(plain), compressor(encoding, file.size, effort), stagingStream(temporary));
    const { size } = await stat(temporary);
    if (size > file.size * keptBelow) return undefined;
    await settle(temporary, path);
    return size;
  }
}

/** The forms that are being made, by path. Concurrent calls share one run, because a form's size depends on the compression level. */
const making = openSharedRuns<string, number | undefined>();

function compressor(encoding: Encoding, size: number, effort: { brotli: number; gzip: number }) {
  if (encoding === "gzip") return createGzip({ level: effort.gzip });
  return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: effort.brotli, [constants.BROTLI_PARAM_SIZE_HINT]: size } });
}

async function settle(temporary: string, path: string): Promise<void> {
  if ((await sizeOf(path)) === undefined) await placeFile(temporary, path);
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(ignoreMissing))?.size;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/** Waits until the names in the folders of these hashes are on the disk, so that a manifest never outlives its files. */
export async function flushContentFolders(folder: string, hashes: Iterable<string>): Promise<void> {
  const folders = new Set(Array.from(hashes, (hash) => dirname(contentPath(folder, hash))));
  for (const path of folders) await flushFolder(path);
  await flushFolder(folder);
}

/** A manifest as text for a database column. A list, not an object, because a file may be called `__proto__`. */
export function manifestToText(manifest: Manifest): string {
  return JSON.stringify([...manifest]);
}

export function manifestFromText(text: string): Manifest {
  return new Map(JSON.parse(text) as [string, ManifestFile][]);
}
