import { type ArchiveEntry, UnreadableArchive } from "./archive-bytes.ts";
import {
  crc32,
  damaged,
  extraFields,
  longNumbers,
  numbersIn,
  type RandomAccess,
  readDirectory,
  readExactly,
  type ZipEntry,
} from "./zip-directory.ts";

const [stored, deflated] = [0, 8];
const encryptedFlags = 0x0001 | 0x0040 | 0x2000;
/** The sizes and the checksum follow the content. */
const sizesFollow = 0x0008;
/** Browsers inflate each chunk at once, to a thousand times its size. */
const chunkBytes = 16 * 1_024;

/** Whether a file begins like a zip file, an empty one included. */
export function isZip(begin: Uint8Array): boolean {
  const [first, second, third, fourth] = begin;
  return first === 0x50 && second === 0x4b && ((third === 3 && fourth === 4) || (third === 5 && fourth === 6));
}

/**
 * Reads the entries of a zip file, in a browser too. Checks all headers before it returns: tools that trust the directory and tools that trust
 * each entry's own header must find the same files, and no two entries share bytes, as those of a decompression bomb do (specification 6.3).
 * Entries may be read in any order.
 *
 * @param giveTurn called for each entry, so that other work has its turn
 * @throws UnreadableArchive
 */
export async function readZip(file: RandomAccess, entriesMax: number, giveTurn?: () => Promise<void> | undefined): Promise<ArchiveEntry[]> {
  const { entries, position: end } = await readDirectory(file, entriesMax, giveTurn);
  const checked: ArchiveEntry[] = [];
  let free = 0;
  for (const entry of entries.toSorted((a, b) => a.position - b.position)) {
    await giveTurn?.();
    if (entry.position < free) throw damaged("whose entries overlap");
    const from = await requireSameHeader(file, entry);
    free = from + entry.packedSize;
    if (free > end) throw damaged("whose entries overlap its directory, or that breaks off");
    const { name, type, size } = entry;
    checked.push({ name, type, size, content: { [Symbol.asyncIterator]: () => contentOf(file, entry, from) } });
  }
  return checked;
}

/** Returns the position of an entry's content. */
async function requireSameHeader(file: RandomAccess, entry: ZipEntry): Promise<number> {
  const { position, name, rawName, flags, method, crc, size, packedSize, type } = entry;
  const quoted = JSON.stringify(name.slice(0, 120));
  if ((flags & encryptedFlags) !== 0) throw damaged(`in which ${quoted} is encrypted`);
  if (method !== stored && method !== deflated) throw damaged(`in which ${quoted} is compressed by a method other than deflate`);
  if (method === stored && size !== packedSize) throw damaged(`in which ${quoted} has two sizes`);
  if (type === "directory" && size > 0) throw new UnreadableArchive("has a folder with content");
  const header = numbersIn(await readExactly(file, position, 30));
  const nameBytes = header.u16(26);
  const extraBytes = header.u16(28);
  if (header.u32(0) !== 0x0403_4b50) throw damaged(`in which ${quoted} cannot be found`);
  const rest = await readExactly(file, position + 30, nameBytes + extraBytes);
  const own = [header.u32(22), header.u32(18)];
  const [ownSize, ownPackedSize] = longNumbers(own, extraFields(rest.subarray(nameBytes)).get(0x0001));
  const ownFlags = header.u16(6);
  const follow = (ownFlags & sizesFollow) !== 0;
  const isSame = (a: number | undefined, b: number): boolean => a === b || (follow && (a === 0 || a === 0xffff_ffff));
  if (
    nameBytes !== rawName.length ||
    rawName.some((byte, at) => byte !== rest[at]) ||
    header.u16(8) !== method ||
    (ownFlags & encryptedFlags) !== 0 ||
    !isSame(header.u32(14), crc) ||
    !isSame(ownSize, size) ||
    !isSame(ownPackedSize, packedSize)
  ) {
    throw damaged(`in which the two headers of ${quoted} differ`);
  }
  return position + 30 + nameBytes + extraBytes;
}

/** The unpacked bytes of an entry, never more than its header says. */
async function* contentOf(file: RandomAccess, entry: ZipEntry, from: number): AsyncGenerator<Uint8Array> {
  const wrong = damaged(`in which ${JSON.stringify(entry.name.slice(0, 120))} is damaged`);
  const packed = packedBytes(file, entry, from);
  let sum = 0;
  let bytes = 0;
  for await (const chunk of entry.method === stored ? packed : inflated(packed, wrong)) {
    bytes += chunk.length;
    if (bytes > entry.size) throw wrong;
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (bytes !== entry.size || sum !== entry.crc) throw wrong;
}

async function* packedBytes(file: RandomAccess, { packedSize }: ZipEntry, from: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < packedSize; at += chunkBytes) {
    yield (await readExactly(file, from + at, Math.min(chunkBytes, packedSize - at))) as Uint8Array<ArrayBuffer>;
  }
}

/** Inflates bytes. Refuses data that ends early, or that has other bytes behind its end. */
async function* inflated(packed: AsyncGenerator<Uint8Array<ArrayBuffer>>, wrong: UnreadableArchive): AsyncGenerator<Uint8Array> {
  let unread: { error: unknown } | undefined;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const step = await packed.next();
          if (step.done === true) controller.close();
          else controller.enqueue(step.value);
        } catch (error) {
          unread = { error };
          throw error;
        }
      },
    },
    { highWaterMark: 0 },
  );
  const reader = source.pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const next = () =>
    reader.read().catch(() => {
      throw unread ? unread.error : wrong;
    });
  try {
    for (let step = await next(); !step.done; step = await next()) yield step.value;
  } finally {
    await reader.cancel().catch(() => undefined); // an error was reported above
  }
}
