import { readdirSync, readFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { until } from "./until.ts";

/** A picture of one colour with a bright corner. Default: a JPEG of 800 × 600. */
export function picture(
  colour: string,
  {
    width = 800,
    height = 600,
    format = "jpeg",
  }: { width?: number; height?: number; format?: "jpeg" | "png" | "webp" | "avif" | "gif" } = {},
): Promise<Buffer> {
  const corner = { create: { width: 10, height: 10, channels: 3 as const, background: "white" } };
  const background = { create: { width, height, channels: 3 as const, background: colour } };
  return sharp(background)
    .composite([{ input: corner, left: 0, top: 0 }])
    .toFormat(format)
    .toBuffer();
}

/** A photo as a phone writes it: its metadata says how to turn it, and where it was taken. */
export async function turnedPhoto(): Promise<Buffer> {
  return sharp(await picture("teal"))
    .withExif({ IFD0: { Make: "Secret Camera" }, IFD3: { GPSLatitude: "52/1 31/1 0/1" } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
}

/** A small PNG whose header announces this many pixels. */
export async function announced(width: number, height: number): Promise<Buffer> {
  const png = await picture("black", { width: 10, height: 10, format: "png" });
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  png.writeUInt32BE(crc32(png.subarray(12, 29)), 29);
  return png;
}

/** An AVIF with 10 bits and transparency whose header announces this many pixels. */
export async function announcedAvif(width: number, height: number): Promise<Buffer> {
  const background = { r: 10, g: 20, b: 30, alpha: 0.5 };
  const small = sharp({ create: { width: 64, height: 64, channels: 4, background } }).toColourspace("rgb16");
  const avif = await small.avif({ bitdepth: 10, effort: 0 }).toBuffer();
  for (let at = avif.indexOf("ispe"); at >= 0; at = avif.indexOf("ispe", at + 4)) {
    avif.writeUInt32BE(width, at + 8);
    avif.writeUInt32BE(height, at + 12);
  }
  return avif;
}

/** A small PNG of 7 MB with texts that take 7 GB once they are decompressed. */
export async function textBomb(): Promise<Buffer> {
  const png = await picture("teal", { width: 64, height: 64, format: "png" });
  const content = Buffer.concat([Buffer.from("zTXtComment\0\0"), deflateSync(Buffer.alloc(7_900_000, "A"), { level: 9 })]);
  const chunk = Buffer.alloc(content.length + 8);
  chunk.writeUInt32BE(content.length - 4, 0);
  content.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(content), content.length + 4);
  const afterHeader = 33;
  return Buffer.concat([png.subarray(0, afterHeader), ...Array<Buffer>(900).fill(chunk), png.subarray(afterHeader)]);
}

/** Waits for the process that encodes a picture for this one, and stops it until it gets SIGCONT. Returns its id. */
export async function stopPictureProcess(): Promise<number> {
  let found: number | undefined;
  await until(() => (found = childrenOf(process.pid).find((pid) => commandOf(pid).includes("picture-process"))) !== undefined);
  process.kill(found!, "SIGSTOP");
  return found!;
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" "))
    .filter((child) => child !== "")
    .map(Number);

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return ""; // it has ended
  }
}

/** The picture that the description's examples upload: 8 × 6 pixels. */
export const examplePicture = Buffer.from(
  "/9j/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAGAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAABf/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/ALAAhh//2Q==",
  "base64",
);
