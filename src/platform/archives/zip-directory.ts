import { type EntryType, UnreadableArchive } from "./archive-bytes.ts";

/** Bytes that can be read at any position. `read` returns fewer only at the end. */
export type RandomAccess = { size: number; read: (position: number, bytes: number) => Promise<Uint8Array> };

/** What the directory at the end of a zip file says of an entry. */
export type ZipEntry = {
  name: string;
  rawName: Uint8Array;
  type: EntryType;
  flags: number;
  method: number;
  crc: number;
  packedSize: number;
  size: number;
  /** The position of the entry's own header. */
  position: number;
};

const endBytes = 22;
const commentBytesMax = 0xffff;
const directoryBytesMax = 16 * 1_024 * 1_024;
const nameBytesMax = 4_096;
const [none16, none32] = [0xffff, 0xffff_ffff];
/** Made by a system whose attributes are those of Unix: Unix and macOS. */
const unixSystems = new Set([3, 19]);

export function damaged(what: string): UnreadableArchive {
  return new UnreadableArchive(`is a zip file ${what}`);
}

/** The numbers of 16, 32 and 64 bits in some bytes, the lowest byte first. */
export function numbersIn(bytes: Uint8Array): Record<"u16" | "u32" | "u64", (at: number) => number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const isLittleEndian = true;
  return {
    u16: (at) => view.getUint16(at, isLittleEndian),
    u32: (at) => view.getUint32(at, isLittleEndian),
    u64(at) {
      const number = view.getBigUint64(at, isLittleEndian);
      if (number > Number.MAX_SAFE_INTEGER) throw damaged("with a number that makes no sense");
      return Number(number);
    },
  };
}

/** @throws UnreadableArchive if the file ends before */
export async function readExactly(file: RandomAccess, position: number, count: number): Promise<Uint8Array> {
  const bytes = position >= 0 && position + count <= file.size ? await file.read(position, count) : undefined;
  if (bytes?.length !== count) throw damaged("that breaks off");
  return bytes;
}

/**
 * Reads the directory of a zip file (PKWARE's APPNOTE, with zip64), which is bounded before it is read.
 *
 * @throws UnreadableArchive
 */
export async function readDirectory(
  file: RandomAccess,
  entriesMax: number,
  giveTurn: (() => Promise<void> | undefined) | undefined,
): Promise<{ entries: ZipEntry[]; position: number }> {
  const { count, bytes, position } = await findDirectory(file);
  if (count > entriesMax) throw new UnreadableArchive(`has more than ${entriesMax.toLocaleString("en")} entries`);
  if (bytes > directoryBytesMax) throw damaged("whose directory is larger than 16 MiB");
  if (position + bytes > file.size) throw damaged("whose directory lies behind its end");
  const directory = await readExactly(file, position, bytes);
  const entries: ZipEntry[] = [];
  let at = 0;
  for (; entries.length < count; at += lengthOf(numbersIn(directory), at)) {
    await giveTurn?.();
    entries.push(decodeEntry(directory, at));
  }
  if (at !== bytes) throw damaged("whose directory has other data in it");
  return { entries, position };
}

/** The directory's place is written behind it, before a comment that ends the file. Zeros may follow, with which bsdtar fills a block. */
async function findDirectory(file: RandomAccess): Promise<{ count: number; bytes: number; position: number }> {
  const tailBytes = Math.min(file.size, endBytes + commentBytesMax);
  const last = await readExactly(file, file.size - tailBytes, tailBytes);
  const tail = numbersIn(last);
  const dataEnd = last.findLastIndex((byte) => byte !== 0) + 1;
  const isEnd = (at: number): boolean => {
    if (tail.u32(at) !== 0x0605_4b50) return false;
    const end = at + endBytes + tail.u16(at + 20);
    return end >= dataEnd && end <= tailBytes;
  };
  let at = tailBytes - endBytes;
  while (at >= 0 && !isEnd(at)) at--;
  if (at < 0) throw damaged("that breaks off, or has other data behind its end");
  const place = { count: tail.u16(at + 10), bytes: tail.u32(at + 12), position: tail.u32(at + 16) };
  const endPosition = file.size - tailBytes + at;
  const isLong = place.count === none16 || place.bytes === none32 || place.position === none32;
  if (isLong && endPosition >= 20) {
    const locator = numbersIn(await readExactly(file, endPosition - 20, 20));
    if (locator.u32(0) === 0x0706_4b50) return findLongDirectory(file, locator.u64(8));
  }
  const isSplit = tail.u16(at + 4) !== 0 || tail.u16(at + 6) !== 0 || tail.u16(at + 8) !== place.count;
  if (isSplit) throw split();
  return place;
}

async function findLongDirectory(file: RandomAccess, at: number): Promise<{ count: number; bytes: number; position: number }> {
  if (at + 56 > file.size) throw damaged("whose directory lies behind its end");
  const end = numbersIn(await readExactly(file, at, 56));
  if (end.u32(0) !== 0x0606_4b50) throw damaged("whose directory cannot be found");
  if (end.u32(16) !== 0 || end.u32(20) !== 0 || end.u64(24) !== end.u64(32)) throw split();
  return { count: end.u64(32), bytes: end.u64(40), position: end.u64(48) };
}

const split = (): UnreadableArchive => damaged("in several parts");

function lengthOf(directory: ReturnType<typeof numbersIn>, at: number): number {
  return 46 + directory.u16(at + 28) + directory.u16(at + 30) + directory.u16(at + 32);
}

function decodeEntry(directory: Uint8Array, at: number): ZipEntry {
  const numbers = numbersIn(directory);
  if (at + 46 > directory.length || numbers.u32(at) !== 0x0201_4b50 || at + lengthOf(numbers, at) > directory.length) {
    throw damaged("whose directory is damaged");
  }
  const system = directory[at + 5]!;
  const rawName = directory.subarray(at + 46, at + 46 + numbers.u16(at + 28));
  if (rawName.length > nameBytesMax) throw damaged(`with a name of more than ${nameBytesMax.toLocaleString("en")} bytes`);
  const extraAt = at + 46 + rawName.length;
  const extra = extraFields(directory.subarray(extraAt, extraAt + numbers.u16(at + 30)));
  const flags = numbers.u16(at + 8);
  const name = zipNameOf(rawName, { isUtf8: (flags & 0x800) !== 0, isFromDos: system === 0, unicode: unicodeName(rawName, extra) });
  const short = [numbers.u32(at + 24), numbers.u32(at + 20), numbers.u32(at + 42)];
  const [size, packedSize, position] = longNumbers(short, extra.get(0x0001)) as [number, number, number];
  if (numbers.u16(at + 34) !== 0) throw split();
  const method = numbers.u16(at + 10);
  const type = typeOf(name, unixSystems.has(system) ? numbers.u32(at + 38) >>> 16 : 0);
  return { name, rawName, type, flags, method, crc: numbers.u32(at + 16), packedSize, size, position };
}

/** The name in UTF-8 that a field has in addition, if it belongs to the entry's name. */
function unicodeName(rawName: Uint8Array, extra: Map<number, Uint8Array>): Uint8Array | undefined {
  const field = extra.get(0x7075);
  const isOwn = field !== undefined && field.length > 5 && field[0] === 1 && numbersIn(field).u32(1) === crc32(rawName);
  return isOwn ? field.subarray(5) : undefined;
}

/** Replaces the numbers that are too large for 32 bits by those of the zip64 field, in order. */
export function longNumbers(short: readonly number[], field: Uint8Array | undefined): number[] {
  let at = 0;
  return short.map((number) => {
    if (number !== none32 || field === undefined) return number;
    if (at + 8 > field.length) throw damaged("with a number that makes no sense");
    return numbersIn(field).u64((at += 8) - 8);
  });
}

export function extraFields(bytes: Uint8Array): Map<number, Uint8Array> {
  const numbers = numbersIn(bytes);
  const fields = new Map<number, Uint8Array>();
  for (let at = 0; at + 4 <= bytes.length;) {
    const end = at + 4 + numbers.u16(at + 2);
    if (end > bytes.length) break; // some tools pad the fields
    fields.set(numbers.u16(at), bytes.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

function typeOf(name: string, mode: number): EntryType {
  const kind = mode & 0o170000;
  const kinds: Record<number, EntryType> = {
    0o120000: "symlink",
    0o020000: "character-device",
    0o060000: "block-device",
    0o010000: "fifo",
  };
  return kinds[kind] ?? (name.endsWith("/") || kind === 0o040000 ? "directory" : "file");
}

const upperHalf =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0";
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Decodes the name of an entry of a zip file. Names are UTF-8 if a flag or field says so, or if they are valid UTF-8, which macOS does not mark;
 * else of code page 437, as the format's specification says. Tools of Windows write backslashes between folders.
 *
 * @param unicode the name in UTF-8 that a field has in addition
 */
function zipNameOf(raw: Uint8Array, name: { isUtf8: boolean; isFromDos: boolean; unicode: Uint8Array | undefined }): string {
  const text = utf8.decode(name.unicode ?? raw);
  const isMarked = name.isUtf8 || name.unicode !== undefined;
  const decoded = !isMarked && text.includes("\uFFFD") ? codePage437(raw) : text;
  return name.isFromDos || !decoded.includes("/") ? decoded.replaceAll("\\", "/") : decoded;
}

function codePage437(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : upperHalf[byte - 0x80])).join("");
}

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb8_8320 : rest >>> 1;
  return rest;
});

/** The CRC-32 of ISO 3309 that zip files use, also in a browser. Goes on from the sum of the bytes before. */
export function crc32(bytes: Uint8Array, before = 0): number {
  let sum = ~before;
  for (let at = 0; at < bytes.length; at++) sum = table[(sum ^ bytes[at]!) & 0xff]! ^ (sum >>> 8);
  return ~sum >>> 0;
}
