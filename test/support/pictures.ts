import sharp from "sharp";

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

/** A PNG whose header announces this many pixels. */
export function announced(width: number, height: number): Buffer {
  const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000000000000000802000000000000000000000049454e44ae426082", "hex");
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

/** The picture that the description's examples upload: 8 × 6 pixels. */
export const examplePicture = Buffer.from(
  "/9j/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAGAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAABf/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/ALAAhh//2Q==",
  "base64",
);
