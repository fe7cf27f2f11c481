/** Fields of a tar header that differ from those of an empty file. */
export type RawHeader = {
  name?: string | Buffer;
  /** Written as octal digits; a buffer is written as it is. */
  size?: number | Buffer;
  type?: string;
  linkname?: string;
  /** `ustar` of POSIX, GNU tar's own, or none, as tar of Unix V7 wrote it. */
  format?: "ustar" | "gnu" | "v7";
  prefix?: string;
  /** Added to the checksum. */
  checksumError?: number;
};

const blockBytes = 512;
const magics = { ustar: "ustar\x0000", gnu: "ustar  \0", v7: "" };

/** One tar header, byte by byte, so that tests can write what no program writes. */
export function rawHeader({ name = "a.txt", size = 0, type = "0", format = "ustar", checksumError = 0, ...more }: RawHeader): Buffer {
  const block = Buffer.alloc(blockBytes);
  Buffer.from(name).copy(block, 0, 0, 100);
  block.write("0000644\x000000000\x000000000\0", 100, "latin1");
  if (typeof size === "number") block.write(size.toString(8).padStart(11, "0"), 124, "latin1");
  else size.copy(block, 124, 0, 12);
  block.write("00000000000\0        ", 136, "latin1");
  block.write(type, 156, "latin1");
  block.write(more.linkname ?? "", 157, 100);
  block.write(magics[format], 257, "latin1");
  block.write(more.prefix ?? "", 345, 155);
  const sum = block.reduce((total, byte) => total + byte, 0) + checksumError;
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

/** A header and its content, padded to whole blocks. */
export function rawEntry(header: RawHeader, content: string | Buffer = ""): Buffer {
  const body = Buffer.from(content);
  const padding = Buffer.alloc((blockBytes - (body.length % blockBytes)) % blockBytes);
  return Buffer.concat([rawHeader({ size: body.length, ...header }), body, padding]);
}

/** The two blocks of zeros that end an archive. */
export const endMarker = Buffer.alloc(2 * blockBytes);

/** A pax record: its length in decimal digits, which count too, its key and its value. */
export function paxRecord(key: string, value: string | Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from("\n")]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

/** A pax header (`x` for the next entry, `g` for all that follow) with these records. */
export function paxHeader(records: Iterable<readonly [string, string | Buffer]>, type: "x" | "g" = "x"): Buffer {
  const content = Buffer.concat(Array.from(records, ([key, value]) => paxRecord(key, value)));
  return rawEntry({ name: "PaxHeaders/a", type }, content);
}

/** GNU tar's long name (`L`) or long link (`K`) of the next entry. */
export function gnuLong(text: string | Buffer, type: "L" | "K" = "L"): Buffer {
  return rawEntry({ name: "././@LongLink", type, format: "gnu" }, Buffer.concat([Buffer.from(text), Buffer.alloc(1)]));
}
