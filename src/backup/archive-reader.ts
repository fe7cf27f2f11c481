import { gunzipped } from "../platform/archives/archive-bytes.ts";
import { UnreadableArchive, type Bytes } from "../platform/archives/archive-entry.ts";
import { readTar } from "../platform/archives/tar-reader.ts";
import { decrypted } from "./encryption.ts";
import { ArchiveError, isEntryName } from "./manifest.ts";
import { unsealed } from "./seal.ts";

/** A file in an archive. Its content has to be read before the next one. */
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
