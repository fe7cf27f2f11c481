import { UnreadableArchive, type Bytes } from "./archive-entry.ts";
import { blockBytes, numberAt } from "./tar-header.ts";

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
