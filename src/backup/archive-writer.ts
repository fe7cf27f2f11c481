import { createHash } from "node:crypto";
import { once } from "node:events";
import { Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import { pack, type Pack } from "tar-stream";
import { encrypted } from "./encryption.ts";
import { partOf, type Part } from "./manifest.ts";
import { sealed } from "./seal.ts";

/** A file in an archive. `rows` is its number of rows, if it belongs to a table. */
export type Entry = { name: string; bytes: number; rows?: number; content: AsyncIterable<Uint8Array> | Iterable<Uint8Array> };

const gzipLevel = 3;

/** An entry of text. */
export function textEntry(name: string, text: string, rows?: number): Entry {
  const content = Buffer.from(text);
  return { name, bytes: content.length, content: [content], ...(rows !== undefined && { rows }) };
}

/** Returns the bytes of an archive of these entries: packed, compressed, sealed, and encrypted if there is a passphrase. */
export function archiveOf(entries: AsyncIterable<Entry>, modifiedAt: number, passphrase: string | undefined): AsyncIterable<Uint8Array> {
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
