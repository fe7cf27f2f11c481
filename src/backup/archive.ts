import { createHash } from "node:crypto";
import { once } from "node:events";
import { Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import { pack, type Pack } from "tar-stream";
import { type Bytes, UnreadableArchive } from "../platform/archives/archive-bytes.ts";
import { gunzipped } from "../platform/archives/byte-reader.ts";
import { readTar } from "../platform/archives/tar-reader.ts";
import { decrypted, encrypted } from "./encryption.ts";
import { ArchiveError, isEntryName, partOf, type Part } from "./manifest.ts";

/** A file to write into an archive. `rows` is its number of rows, if it belongs to a table. */
export type Entry = { name: string; bytes: number; rows?: number; content: Bytes | Iterable<Uint8Array> };

const gzipLevel = 3;

/** An entry of text. */
export function textEntry(name: string, text: string, rows?: number): Entry {
  const content = Buffer.from(text);
  return { name, bytes: content.length, content: [content], ...(rows !== undefined && { rows }) };
}

/** Returns the bytes of an archive of these entries: packed, compressed, sealed, and encrypted if there is a passphrase. */
export function archiveOf(entries: AsyncIterable<Entry>, modifiedAt: number, passphrase: string | undefined): Bytes {
  const archive = pack();
  const gzip = createGzip({ level: gzipLevel, chunkSize: 256 * 1024, strategy: constants.Z_DEFAULT_STRATEGY });
  const packing = packAll(archive, entries, new Date(modifiedAt)).catch((error: unknown) => void gzip.destroy(error as Error));
  archive.on("error", (error: Error) => gzip.destroy(error));
  archive.pipe(gzip);
  const bytes = sealed(gzip);
  async function* complete(): AsyncGenerator<Uint8Array> {
    try {
      yield* passphrase === undefined ? bytes : encrypted(bytes, passphrase);
      await packing;
    } finally {
      archive.destroy(new Error("the archive was given up"));
      gzip.destroy();
    }
  }
  return complete();
}

async function packAll(archive: Pack, entries: AsyncIterable<Entry>, mtime: Date): Promise<void> {
  for await (const { name, bytes, content } of entries) {
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    done.catch(() => undefined); // it is awaited below, unless the content fails first
    const entry = archive.entry({ name, size: bytes, mode: 0o600, mtime }, (error) => (error ? reject(error) : resolve()));
    entry.on("error", reject); // a reader that stops makes each open entry emit an error
    for await (const chunk of Readable.from(content)) if (!entry.write(chunk)) await Promise.race([once(entry, "drain"), done]);
    entry.end(null);
    await done;
  }
  archive.finalize();
}

type PartSums = {
  /** Begins an entry, and returns the function that adds its bytes. Entries of a table have `rows`. */
  begin(entry: Pick<Entry, "name" | "bytes" | "rows">): (chunk: Uint8Array) => void;
  /** Adds rows that were counted later. */
  count(part: string, rows: number): void;
  end(): Part[];
};

/** Computes the checksums of an archive's parts. That of a table covers the rows alone, as in a dump; the others cover names and sizes too. */
export function sumParts(): PartSums {
  const parts = new Map<string, { part: Omit<Part, "sha256">; hash: ReturnType<typeof createHash> }>();
  return {
    begin({ name, bytes, rows }) {
      const of = partOf(name);
      const found = parts.get(of) ?? { part: { name: of, files: 0, bytes: 0 }, hash: createHash("sha256") };
      parts.set(of, found);
      found.part.files += 1;
      found.part.bytes += bytes;
      if (rows !== undefined) found.part.rows = (found.part.rows ?? 0) + rows;
      else if (of !== name) found.hash.update(`${name} ${bytes}\n`);
      return (chunk) => void found.hash.update(chunk);
    },
    count(part, rows) {
      const found = parts.get(part)?.part;
      if (found) found.rows = (found.rows ?? 0) + rows;
    },
    end: () => Array.from(parts.values(), ({ part, hash }) => ({ ...part, sha256: hash.digest("hex") })),
  };
}

/** Passes entries on and sums them. */
export async function* summed(entries: AsyncIterable<Entry>, sums: PartSums): AsyncGenerator<Entry> {
  for await (const entry of entries) {
    const add = sums.begin(entry);
    async function* content(): AsyncGenerator<Uint8Array> {
      for await (const chunk of entry.content) {
        add(chunk);
        yield chunk;
      }
    }
    yield { ...entry, content: content() };
  }
}

/** A file that is read from an archive. Its content has to be read before the next one. */
export type ArchivedFile = { name: string; bytes: number; content: Bytes };

/**
 * Reads the entries of an archive in order. The last step fails if any byte of the archive was changed or is absent.
 *
 * @throws ArchiveError
 */
export async function* readEntries(source: Bytes, passphrase: string | undefined): AsyncGenerator<ArchivedFile> {
  for await (const { name, type, size, content } of checked(readTar(gunzipped(unsealed(gzipOnly(decrypted(source, passphrase))))))) {
    if (type !== "file" || !isEntryName(name)) throw new ArchiveError("is not a backup of this program");
    yield { name, bytes: size, content: checked(content) };
  }
}

async function* checked<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    if (!(error instanceof UnreadableArchive)) throw error;
    throw new ArchiveError(`is damaged or incomplete: it ${error.message}`, { cause: error });
  }
}

async function* gzipOnly(source: Bytes): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of source) {
    if (isFirst && (chunk[0] !== 0x1f || chunk[1] !== 0x8b)) throw new ArchiveError("is not a backup of this program");
    isFirst = false;
    yield chunk;
  }
  if (isFirst) throw new ArchiveError("is empty");
}

/** The text of a small entry. @throws ArchiveError if it is larger */
export async function textOf({ name, content }: ArchivedFile, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    if ((bytes += chunk.length) > bytesMax) throw new ArchiveError(`is damaged: ${name} is too large`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The longest line of an entry: a row with the list of a deployment's files has up to 3 MB. */
const lineBytesMax = 16 << 20;
const newline = 0x0a;

/** The lines of an entry, one at a time. @throws ArchiveError if one is longer than any that a backup has */
export async function* linesOf({ name, content }: ArchivedFile): AsyncGenerator<string> {
  let kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    let begin = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, begin)) {
      kept.push(chunk.subarray(begin, end));
      yield Buffer.concat(kept).toString("utf8");
      [kept, bytes, begin] = [[], 0, end + 1];
    }
    if ((bytes += chunk.length - begin) > lineBytesMax) throw new ArchiveError(`is damaged: a line of ${name} is too long`);
    if (begin < chunk.length) kept.push(chunk.subarray(begin));
  }
  if (bytes > 0) throw new ArchiveError(`is damaged: the last line of ${name} is not complete`);
}

/**
 * The seal of an archive: an empty gzip member (RFC 1952) whose comment is the SHA-256 of all bytes before it. gzip ignores some bits of
 * its own format and everything after its data, so its checksum alone would not notice each changed byte.
 */
const sealBegin = Buffer.from([0x1f, 0x8b, 0x08, 0x10, 0, 0, 0, 0, 0, 0xff]);
const sealEnd = Buffer.from([0, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const sealLabel = "sha256=";
const sealBytes = sealBegin.length + sealLabel.length + 64 + sealEnd.length;

function sealOf(sha256: string): Buffer {
  return Buffer.concat([sealBegin, Buffer.from(sealLabel + sha256, "latin1"), sealEnd]);
}

/** Appends the seal. */
export async function* sealed(source: Bytes): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
  yield sealOf(hash.digest("hex"));
}

/** Checks and removes the seal. Ends with an error if any byte differs or is absent. @throws ArchiveError */
async function* unsealed(source: Bytes): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let kept: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const all = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
    const ready = Math.max(0, all.length - sealBytes);
    kept = Buffer.from(all.subarray(ready));
    if (ready === 0) continue;
    const passed = all.subarray(0, ready);
    hash.update(passed);
    yield passed;
  }
  if (!kept.equals(sealOf(hash.digest("hex")))) throw new ArchiveError("is not a complete backup of this program: its checksum is wrong");
}
