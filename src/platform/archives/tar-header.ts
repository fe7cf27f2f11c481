import { UnreadableArchive, type EntryType } from "./archive-entry.ts";

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
export function numberAt(block: Buffer, from: number, length: number): number {
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
