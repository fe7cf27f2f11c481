import { crc32, deflateRawSync } from "node:zlib";

/** An entry of a zip file; the fields that differ from those of an ordinary deflated file. */
export type RawZipEntry = {
  name: string | Buffer;
  content?: string | Buffer;
  method?: number;
  flags?: number;
  /** The system that made it: 0 is Windows, 3 Unix, 19 macOS. */
  system?: number;
  mode?: number;
  extra?: Buffer;
  /** Writes the sizes and the checksum behind the content, as tools do that write to a stream. */
  follow?: boolean;
  /** Writes the sizes in zip64 fields. */
  long?: boolean;
  /** What the directory says. */
  claims?: { size?: number; packedSize?: number; crc?: number; position?: number };
  /** What the entry's own header says. */
  own?: { name?: string; method?: number; size?: number };
};

const u16 = (number: number): Buffer => Buffer.from([number & 0xff, number >>> 8]);
function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}
function u64(number: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes;
}
const none32 = 0xffff_ffff;
const longField = (...numbers: number[]): Buffer => Buffer.concat([u16(1), u16(8 * numbers.length), ...numbers.map(u64)]);

/** A zip file, byte by byte, so that tests can write what no program writes. */
export function rawZip(entries: RawZipEntry[], { comment = "", count = entries.length, long = false } = {}): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let position = 0;
  for (const entry of entries) {
    const { local, central } = rawZipEntry(entry, position);
    files.push(local);
    directory.push(central);
    position += local.length;
  }
  const listed = Buffer.concat(directory);
  const place = [u16(count), u16(count), u32(listed.length), u32(position)];
  const longEnd = [u32(0x06064b50), u64(44), u16(45), u16(45), u32(0), u32(0), u64(count), u64(count), u64(listed.length), u64(position)];
  const locator = [u32(0x07064b50), u32(0), u64(position + listed.length), u32(1)];
  const end = [u32(0x06054b50), u32(0), ...(long ? [u16(0xffff), u16(0xffff), u32(none32), u32(none32)] : place)];
  return Buffer.concat([
    ...files,
    listed,
    ...(long ? [...longEnd, ...locator] : []),
    ...end,
    u16(Buffer.byteLength(comment)),
    Buffer.from(comment),
  ]);
}

function rawZipEntry(entry: RawZipEntry, position: number): { local: Buffer; central: Buffer } {
  const { method = 8, system = 3, mode = 0o100644, extra = Buffer.alloc(0), follow = false, long = false, claims = {}, own = {} } = entry;
  const name = Buffer.from(entry.name);
  const content = Buffer.from(entry.content ?? "");
  const packed = method === 8 ? deflateRawSync(content) : content;
  const flags = (entry.flags ?? 0) | (follow ? 8 : 0);
  const crc = crc32(content);
  const ownName = Buffer.from(own.name ?? name);
  const ownSize = own.size ?? content.length;
  const ownSizes = follow ? [0, 0, 0] : long ? [crc, none32, none32] : [crc, packed.length, ownSize];
  const ownExtra = Buffer.concat([long && !follow ? longField(ownSize, packed.length) : Buffer.alloc(0), extra]);
  const behind = follow ? Buffer.concat([u32(0x08074b50), u32(crc), u32(packed.length), u32(content.length)]) : Buffer.alloc(0);
  const ownHead = [u32(0x04034b50), u16(20), u16(flags), u16(own.method ?? method), u32(0), ...ownSizes.map(u32)];
  const local = Buffer.concat([...ownHead, u16(ownName.length), u16(ownExtra.length), ownName, ownExtra, packed, behind]);

  const [size, packedSize] = [claims.size ?? content.length, claims.packedSize ?? packed.length];
  const sizes = long ? [claims.crc ?? crc, none32, none32] : [claims.crc ?? crc, packedSize, size];
  const field = Buffer.concat([long ? longField(size, packedSize) : Buffer.alloc(0), extra]);
  const head = [u32(0x02014b50), u16(20 | (system << 8)), u16(20), u16(flags), u16(method), u32(0), ...sizes.map(u32)];
  const rest = [
    u16(name.length),
    u16(field.length),
    u16(0),
    u16(0),
    u16(0),
    u32(system === 0 ? 0 : mode * 0x10000),
    u32(claims.position ?? position),
  ];
  return { local, central: Buffer.concat([...head, ...rest, name, field]) };
}
