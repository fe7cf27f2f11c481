import { type ArchiveEntry, type Bytes, type EntryType, UnreadableArchive } from "./archive-bytes.ts";
import { type ByteReader, openByteReader } from "./byte-reader.ts";
import {
  blockBytes,
  bytesOfPax,
  checkSparse,
  decodeHeader,
  type ExtensionType,
  parsePax,
  readOldSparse,
  readPaxSparse,
  type Sparse,
  type TarHeader,
  withHoles,
} from "./tar-header.ts";

const oneKiB = 1_024;
/** The bounds of extended headers: of each pax header, long name and long link, of all global pax headers, and of all together. */
export const extensionLimits = {
  bytesEach: 64 * oneKiB,
  keysMax: 64,
  globalsMax: 16,
  /** The records of all global pax headers, of which a later one replaces those with its keys. */
  globalBytesMax: 64 * oneKiB,
  bytesMax: 8 * oneKiB * oneKiB,
};
const { bytesEach, keysMax, globalsMax, globalBytesMax, bytesMax } = extensionLimits;
/** Records that would name the content of every entry that follows. */
const ofOneEntry = /^(?:path|linkpath|size|GNU\.sparse\..*)$/;

type State = {
  bytes: ByteReader;
  isBegin: boolean;
  /** The extended headers of the next entry. */
  next: Map<Exclude<ExtensionType, "pax-global">, Buffer>;
  globals: number;
  globalRecords: Map<string, string>;
  extensionBytes: number;
};

/**
 * Reads the entries of a tar archive in order: ustar, pax, GNU and V7. Skips what is left of an entry's content before the next. Bounds everything that it keeps before it reads it, whatever the archive
 * claims, and gives the event loop a turn at least every 10 ms (specification 6.3, decision 0097).
 *
 * @throws UnreadableArchive
 */
export async function* readTar(source: Bytes, entriesMax = Infinity): AsyncGenerator<ArchiveEntry> {
  const bytes = openByteReader(source);
  const state: State = { bytes, isBegin: true, next: new Map(), globals: 0, globalRecords: new Map(), extensionBytes: 0 };
  try {
    for (let entries = 1; ; entries++) {
      const header = await readHeader(state);
      if (header === undefined) break;
      if (entries > entriesMax) throw new UnreadableArchive(`has more than ${entriesMax.toLocaleString("en")} entries`);
      const { name, type, size, sparse, stored } = header;
      const body = openBody(bytes, stored);
      yield { name, type, size, content: sparse ? withHoles(body.content(), sparse) : body.content() };
      await body.skip();
    }
    await requireEnd(bytes);
  } finally {
    await bytes.close();
  }
}

/** An entry without its content. `stored`: the bytes of its data in the archive, which for a sparse file are fewer than its size. */
type MemberHead = { name: string; type: EntryType; size: number; stored: number; sparse: Sparse | undefined };

/** Reads the extended headers of an entry and its own; undefined at the end of the archive. */
async function readHeader(state: State): Promise<MemberHead | undefined> {
  for (;;) {
    const block = await state.bytes.exactly(blockBytes);
    if (block === undefined || isZero(block)) {
      if (state.next.size > 0) throw new UnreadableArchive("breaks off");
      return undefined;
    }
    const { name, type, size } = state.isBegin ? decodeFirst(block) : decodeHeader(block);
    state.isBegin = false;
    if (type === "pax" || type === "pax-global" || type === "long-name" || type === "long-link") await readExtension(state, type, size);
    else if (type === "old-sparse") return describe(state, { name, type: "file", size }, await readOldSparse(block, mapReader(state)));
    else return describe(state, { name, type, size });
  }
}

function decodeFirst(block: Buffer): TarHeader {
  try {
    return decodeHeader(block);
  } catch (error) {
    throw new UnreadableArchive("contains no readable tar archive", { cause: error });
  }
}

async function readExtension(state: State, type: ExtensionType, size: number): Promise<void> {
  const kind = { pax: "pax header", "pax-global": "global pax header", "long-name": "long name", "long-link": "long link" }[type];
  if (type !== "pax-global" && state.next.has(type)) throw new UnreadableArchive(`has more than one ${kind} for an entry`);
  if (size > bytesEach) throw new UnreadableArchive(`has a ${kind} of more than ${bytesEach / oneKiB} KiB`);
  countExtension(state, size);
  const body = openBody(state.bytes, size);
  const content = Buffer.concat(await Array.fromAsync(body.content()));
  await body.skip();
  if (type === "pax-global") mergeGlobal(state, content);
  else state.next.set(type, content);
}

function countExtension(state: State, count: number): void {
  state.extensionBytes += count;
  if (state.extensionBytes > bytesMax)
    throw new UnreadableArchive(`has extended headers of more than ${bytesMax / oneKiB / oneKiB} MiB together`);
}

/** Reads the blocks of a sparse file's map, which count as extended headers. */
function mapReader(state: State): () => Promise<Buffer | undefined> {
  return () => {
    countExtension(state, blockBytes);
    return state.bytes.exactly(blockBytes);
  };
}

function mergeGlobal(state: State, content: Buffer): void {
  if (++state.globals > globalsMax) throw new UnreadableArchive(`has more than ${globalsMax} global pax headers`);
  for (const [key, value] of parsePax(content, Infinity)) {
    if (ofOneEntry.test(key)) throw new UnreadableArchive(`has a global pax header with the ${key} of a single entry`);
    state.globalRecords.set(key, value);
  }
  if (bytesOfPax(state.globalRecords) > globalBytesMax) {
    throw new UnreadableArchive(`has global pax headers of more than ${globalBytesMax / oneKiB} KiB together`);
  }
}

/** Applies the extended headers of an entry to its own header. */
async function describe(state: State, header: TarHeader & { type: EntryType }, old?: Sparse): Promise<MemberHead> {
  const { next } = state;
  const pieces: string[] = [];
  const records = parsePax(next.get("pax") ?? Buffer.alloc(0), keysMax, pieces);
  const longName = next.get("long-name");
  next.clear();
  // An empty value of pax removes a record.
  const name = records.get("GNU.sparse.name") || records.get("path") || (longName && textOf(longName)) || header.name;
  const size = sizeOf(records.get("size")) ?? header.size;
  const { type } = header;
  const sparse = type === "file" ? (old ?? (await readPaxSparse(records, pieces, mapReader(state)))) : undefined;
  if (sparse) {
    const stored = size - sparse.mapBytes;
    checkSparse(sparse, stored);
    return { name, type, size: sparse.size, stored, sparse };
  }
  // Tar of Unix V7 has no type for folders.
  const isFolder = type === "file" && name.endsWith("/");
  if (isFolder && size > 0) throw new UnreadableArchive("has a folder with content");
  return { name, type: isFolder ? "directory" : type, size, stored: type === "directory" ? 0 : size, sparse };
}

function textOf(content: Buffer): string {
  const end = content.indexOf(0);
  return content.toString("utf8", 0, end === -1 ? content.length : end);
}

function sizeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const size = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(size)) throw new UnreadableArchive("has a header with a number that makes no sense");
  return size;
}

/** The content of an entry and the padding behind it. */
function openBody(bytes: ByteReader, size: number): { content: () => AsyncGenerator<Uint8Array>; skip: () => Promise<void> } {
  let left = size;
  let padding = (blockBytes - (size % blockBytes)) % blockBytes;

  async function* content(): AsyncGenerator<Uint8Array> {
    while (left > 0) {
      const chunk = (await bytes.some(left)) ?? brokenOff();
      left -= chunk.length;
      yield chunk;
    }
  }

  async function skip(): Promise<void> {
    while (left > 0) left -= ((await bytes.some(left)) ?? brokenOff()).length;
    while (padding > 0) padding -= ((await bytes.some(padding)) ?? brokenOff()).length;
  }

  return { content, skip };
}

/** Reads the rest: an archive that a tool reads to its end marker and another beyond would have two contents. */
async function requireEnd(bytes: ByteReader): Promise<void> {
  for (let rest = await bytes.some(Infinity); rest; rest = await bytes.some(Infinity)) {
    if (!isZero(rest)) throw new UnreadableArchive("has other data behind its end, as archives have that were joined");
  }
}

const zeros = Buffer.alloc(64 * oneKiB);

function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const piece = bytes.subarray(at, at + zeros.length);
    if (zeros.compare(piece, 0, piece.length, 0, piece.length) !== 0) return false;
  }
  return true;
}

function brokenOff(): never {
  throw new UnreadableArchive("breaks off");
}
