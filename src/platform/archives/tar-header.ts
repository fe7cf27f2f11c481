import { type Bytes, type EntryType, UnreadableArchive } from "./archive-bytes.ts";

/** A header that describes the next entry, or with `pax-global` all that follow. */
export type ExtensionType = "pax" | "pax-global" | "long-name" | "long-link";

/** `old-sparse` is a file of old GNU tar whose map of holes follows. */
export type TarHeader = { name: string; type: EntryType | ExtensionType | "old-sparse"; size: number };

export const blockBytes = 512;

const types: Record<string, TarHeader["type"]> = {
  "\0": "file",
  0: "file",
  1: "link",
  2: "symlink",
  3: "character-device",
  4: "block-device",
  5: "directory",
  6: "fifo",
  7: "file", // contiguous; an ordinary file to systems without such (POSIX ustar)
  S: "old-sparse",
  x: "pax",
  g: "pax-global",
  L: "long-name",
  N: "long-name",
  K: "long-link",
};

/**
 * Decodes a header block of any tar format: POSIX ustar and pax, GNU, Unix V7.
 *
 * @throws UnreadableArchive
 */
export function decodeHeader(block: Buffer): TarHeader {
  if (checksumOf(block) !== numberAt(block, 148, 8)) throw new UnreadableArchive("has a header with a wrong checksum");
  const name = textAt(block, 0, 100);
  // GNU's format, whose magic ends in a space, has other fields in the place of the prefix.
  const prefix = block.toString("latin1", 257, 263) === "ustar\0" ? textAt(block, 345, 155) : "";
  const type = types[String.fromCharCode(block[156]!)] ?? "unknown";
  return { name: prefix === "" ? name : `${prefix}/${name}`, type, size: numberAt(block, 124, 12) };
}

/** The sum of a header's bytes, with spaces in place of the checksum. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < 148; at++) sum += block[at]!;
  for (let at = 156; at < blockBytes; at++) sum += block[at]!;
  return sum;
}

function textAt(block: Buffer, from: number, length: number): string {
  const end = block.indexOf(0, from);
  return block.toString("utf8", from, end === -1 ? from + length : Math.min(end, from + length));
}

/** A number in octal digits, or, with the first bit set, in bytes with the highest first. */
function numberAt(block: Buffer, from: number, length: number): number {
  let number = 0;
  if (block[from]! & 0x80) {
    if (block[from] !== 0x80) throw damaged();
    for (let at = from + 1; at < from + length; at++) number = number * 256 + block[at]!;
    if (number > Number.MAX_SAFE_INTEGER) throw damaged();
    return number;
  }
  const digits = /^[ \0]*([0-7]*)(?:[ \0]|$)/.exec(block.toString("latin1", from, from + length));
  if (!digits) throw damaged();
  return Number.parseInt(`0${digits[1]}`, 8);
}

function damaged(): UnreadableArchive {
  return new UnreadableArchive("has a header with a number that makes no sense");
}

const ofPiece = new Set(["GNU.sparse.offset", "GNU.sparse.numbytes"]);
const [space, equals, newline] = [0x20, 0x3d, 0x0a];

/**
 * Parses the records of a pax header, `LENGTH KEY=VALUE\n` each, in linear time. Of two with one key the last counts. The offsets and lengths of
 * sparse files, whose keys repeat (form 0.0), are added to `pieces` in their order, and do not count as keys.
 *
 * @throws UnreadableArchive
 */
export function parsePax(content: Buffer, keysMax: number, pieces: string[] = []): Map<string, string> {
  const records = new Map<string, string>();
  let count = 0;
  for (let at = 0, end = 0; at < content.length; at = end) {
    const digits = content.toString("latin1", at, at + 7).split(" ", 1)[0]!;
    end = at + (/^\d{1,6}$/.test(digits) ? Number(digits) : 0);
    const keyAt = at + digits.length + 1;
    const valueAt = content.subarray(0, end).indexOf(equals, keyAt) + 1;
    if (content[keyAt - 1] !== space || valueAt <= keyAt + 1 || content[end - 1] !== newline) {
      throw new UnreadableArchive("has a pax header that cannot be read");
    }
    const [key, value] = [content.toString("utf8", keyAt, valueAt - 1), content.toString("utf8", valueAt, end - 1)];
    if (ofPiece.has(key)) pieces.push(value);
    else if (++count > keysMax) throw new UnreadableArchive(`has a pax header with more than ${keysMax} keys`);
    else records.set(key, value);
  }
  return records;
}

/** The bytes that records take in a header, without their lengths. */
export function bytesOfPax(records: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const [key, value] of records) bytes += Buffer.byteLength(key) + Buffer.byteLength(value) + 3;
  return bytes;
}

/*
 * Sparse files in tar archives: the data without the holes, and a map of where it belongs. There are four forms: that of old GNU tar, in the header and in
 * blocks behind it, and three of pax, in records (0.0 and 0.1) or in front of the data (1.0). See "Storing Sparse Files" in the manual of GNU tar.
 */

/** Where a piece of the data begins in the file, and its length. */
type Piece = { at: number; length: number };
/** `size`: of the file with its holes; `mapBytes`: of the map in front of the data. */
export type Sparse = { pieces: Piece[]; size: number; mapBytes: number };

/** The most pieces of one file: with one for each 8 KiB, more than any file of a site has. */
const piecesMax = 8_192;
const holeBytes = 64 * 1_024;
const digitsMax = 20;

/** Reads the next block of an archive. */
type ReadBlock = () => Promise<Buffer | undefined>;

/** Reads the map of old GNU tar from a header block and the blocks behind it. */
export async function readOldSparse(header: Buffer, next: ReadBlock): Promise<Sparse> {
  const pieces = piecesIn(header, 386, 4);
  let isContinued = header[482] !== 0;
  while (isContinued) {
    const block = (await next()) ?? noSense();
    pieces.push(...piecesIn(block, 0, 21));
    if (pieces.length > piecesMax) noSense();
    isContinued = block[504] !== 0;
  }
  return { pieces, size: numberAt(header, 483, 12), mapBytes: 0 };
}

function piecesIn(block: Buffer, from: number, count: number): Piece[] {
  const pieces: Piece[] = [];
  for (let at = from; pieces.length < count && block[at] !== 0; at += 24)
    pieces.push({ at: numberAt(block, at, 12), length: numberAt(block, at + 12, 12) });
  return pieces;
}

/** Reads the map that the records of a pax header describe; undefined if they describe none. */
export async function readPaxSparse(
  records: ReadonlyMap<string, string>,
  repeated: readonly string[],
  next: ReadBlock,
): Promise<Sparse | undefined> {
  const major = records.get("GNU.sparse.major");
  const size = records.get("GNU.sparse.realsize") ?? records.get("GNU.sparse.size");
  if (major === undefined && size === undefined) return undefined;
  if (size === undefined || (major !== undefined && major !== "1")) throw new UnreadableArchive("has a sparse file of an unknown form");
  if (major === "1") return { ...(await mapBefore(next)), size: numberOf(size) };
  const map = records.get("GNU.sparse.map")?.split(",") ?? repeated;
  return { pieces: piecesOf(map), size: numberOf(size), mapBytes: 0 };
}

/** The map of form 1.0: lines of decimal numbers in front of the data, filled up to a whole block. */
async function mapBefore(next: ReadBlock): Promise<Omit<Sparse, "size">> {
  let text = "";
  for (let mapBytes = blockBytes; ; mapBytes += blockBytes) {
    text += ((await next()) ?? noSense()).toString("latin1");
    const lines = text.split("\n");
    const count = lines.length > 1 ? numberOf(lines[0]!) : 0;
    if (count > piecesMax || mapBytes > 2 * piecesMax * digitsMax) noSense();
    if (lines.length > 2 * count + 1) return { pieces: piecesOf(lines.slice(1, 2 * count + 1)), mapBytes };
  }
}

function piecesOf(numbers: readonly string[]): Piece[] {
  if (numbers.length % 2 !== 0 || numbers.length > 2 * piecesMax) noSense();
  return Array.from({ length: numbers.length / 2 }, (_, index) => ({
    at: numberOf(numbers[2 * index]!),
    length: numberOf(numbers[2 * index + 1]!),
  }));
}

function numberOf(text: string): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : noSense();
}

/** Checks that the pieces follow each other within the file, and have all the data. */
export function checkSparse({ pieces, size }: Sparse, dataBytes: number): void {
  let [end, data] = [0, 0];
  for (const { at, length } of pieces) {
    if (at < end) noSense();
    end = at + length;
    data += length;
  }
  if (end > size || data !== dataBytes) noSense();
}

/** The file with its holes, which are zeros. */
export async function* withHoles(data: Bytes, { pieces, size }: Sparse): AsyncGenerator<Uint8Array> {
  const source = data[Symbol.asyncIterator]();
  let [at, rest] = [0, new Uint8Array(0)];
  for (const piece of pieces) {
    yield* zeros(piece.at - at);
    for (let left = piece.length; left > 0;) {
      if (rest.length === 0) {
        const next = await source.next();
        rest = next.done === true ? noSense() : new Uint8Array(next.value);
      }
      const part = rest.subarray(0, left);
      yield part;
      left -= part.length;
      rest = rest.subarray(part.length);
    }
    at = piece.at + piece.length;
  }
  yield* zeros(size - at);
}

const hole = new Uint8Array(holeBytes);

function* zeros(count: number): Generator<Uint8Array> {
  for (let left = count; left > 0; left -= holeBytes) yield hole.subarray(0, Math.min(left, holeBytes));
}

function noSense(): never {
  throw new UnreadableArchive("has a sparse file whose map makes no sense");
}
