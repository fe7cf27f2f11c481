import { chunksOf } from "../../client/chunks.ts";
import { texts } from "../texts/texts.ts";

/** A file by its path in the archive, with `/` between folders; `size` in bytes. */
export type TarFile = { path: string; size: number; content: () => ReadableStream<Uint8Array<ArrayBuffer>> };

const blockBytes = 512;
const modified = 0;
const encoder = new TextEncoder();

/**
 * Yields the blocks of a tar (POSIX.1-2001, ustar with pax headers) of these files, in their order. The same files give the same bytes:
 * times and owners are left out. @throws Error if a file cannot be read or its size has changed
 */
export async function* tarOf(files: Iterable<TarFile>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const { path, size, content } of files) {
    const name = encoder.encode(path);
    const isPlain = name.length <= 100 && /^[\u0020-\u007E]*$/.test(path);
    if (!isPlain) {
      const record = paxRecord("path", path);
      yield header(encoder.encode("pax"), record.length, "x");
      yield record;
      yield padding(record.length);
    }
    yield header(isPlain ? name : encoder.encode("file"), size, "0");
    let read = 0;
    for await (const chunk of chunksOf(content())) {
      read += chunk.length;
      if (read > size) break;
      yield chunk;
    }
    if (read !== size) throw new Error(texts.projects.upload.changed(path));
    yield padding(size);
  }
  yield new Uint8Array(2 * blockBytes);
}

/** A ustar header: name, mode, owner, size, time, checksum, type; numbers are octal digits and a NUL. */
function header(name: Uint8Array, size: number, type: "0" | "x"): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(blockBytes);
  const write = (text: string, at: number): void => block.set(encoder.encode(text), at);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  block.set(name, 0);
  write(octal(0o644, 7), 100);
  write(octal(0, 7), 108);
  write(octal(0, 7), 116);
  write(octal(size, 11), 124);
  write(octal(modified, 11), 136);
  write(" ".repeat(8), 148);
  write(type, 156);
  write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  write(`${octal(sum, 6)} `, 148);
  return block;
}

/** `LENGTH key=value\n`, where LENGTH counts itself. */
function paxRecord(key: string, value: string): Uint8Array<ArrayBuffer> {
  const rest = encoder.encode(` ${key}=${value}\n`);
  const lengthWith = (digits: number): number => digits + rest.length;
  let digits = 1;
  while (String(lengthWith(digits)).length > digits) digits++;
  const record = new Uint8Array(lengthWith(digits));
  record.set(encoder.encode(String(record.length)));
  record.set(rest, digits);
  return record;
}

function padding(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((blockBytes - (size % blockBytes)) % blockBytes);
}
