import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { OutputInfo, Sharp, SharpOptions } from "sharp";
import {
  iconSide,
  isSquareEnough,
  logoSide,
  pixelsRefusal,
  plannedForms,
  type PictureFormat,
  type PhotoForm,
  type PicturePurpose,
  type ProcessAnswer,
} from "./photos.ts";

/**
 * Decodes a picture and encodes its forms, in a separate process: a file that makes the decoder hang, crash or use too much memory harms
 * nothing else. Its arguments are the purpose of the picture, its format, and the number of its bytes, which it reads from standard input.
 * Writes one line of JSON (`ProcessAnswer`), then the bytes of the forms one after another. Ends at once if standard input does.
 */
const loaders: Record<PictureFormat, string> = {
  jpeg: "VipsForeignLoadJpegBuffer",
  png: "VipsForeignLoadPngBuffer",
  webp: "VipsForeignLoadWebpBuffer",
  avif: "VipsForeignLoadHeifBuffer",
};
/** At these low efforts a photo takes about a second of one core. The highest would take ten times as long to save a few per cent. */
const encoders = {
  "image/webp": (picture: Sharp) => picture.webp({ quality: 78, effort: 3 }),
  "image/avif": (picture: Sharp) => picture.avif({ quality: 52, effort: 2, chromaSubsampling: "4:2:0" }),
};
const [purpose, format, length] = process.argv.slice(2) as [PicturePurpose, PictureFormat, string];
const isLogo = purpose === "logo";
const sideMax = isLogo ? logoSide : 1600;

offerToBeKilled();
const answer = await convert(await readInput(Number(length))).catch((error: unknown): ConvertedPicture => ({
  head: { refusal: firstLine((error as Error).message) },
  bodies: [],
}));
process.stdout.write(`${JSON.stringify(answer.head)}\n`);
for (const body of answer.bodies) if (!process.stdout.write(body)) await once(process.stdout, "drain");
process.stdin.unref();

function firstLine(message: string): string {
  return message.split("\n", 1)[0]!.slice(0, 200).replace(/[:.]$/, "");
}

type ConvertedPicture = { head: ProcessAnswer; bodies: Buffer[] };

/** Makes this process the first that Linux kills when memory runs out. Other systems have no such file. */
function offerToBeKilled(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {}
}

/** Reads the picture. From then on, the end of standard input means that the service has ended. */
async function readInput(bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let missing = bytes;
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  process.stdin.on("end", () => process.kill(process.pid, "SIGKILL"));
  process.stdin.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    missing -= chunk.length;
    if (missing <= 0) resolve(Buffer.concat(chunks));
  });
  return promise;
}

async function convert(bytes: Buffer): Promise<ConvertedPicture> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  sharp.concurrency(1);
  // Allow only the decoder of the recognised format. All others, such as those of SVG and PDF, stay blocked.
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: [loaders[format]] });
  // one page: the first picture of an animation
  const options: SharpOptions = { limitInputPixels: false, failOn: "error", sequentialRead: true, pages: 1 };
  const { width, height, isProgressive, orientation = 1 } = await sharp(bytes, options).metadata();
  const refusal = pixelsRefusal({ format, width, height, isProgressive });
  if (refusal !== undefined) return { head: { refusal }, bodies: [] };
  // Decodes once. The forms are made from the reduced picture, which has no metadata.
  const reduced = await sharp(bytes, options)
    .resize({ width: sideMax, height: sideMax, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  // Turns the picture as its metadata says, once it is small: to turn it, all of it has to be in memory.
  const { data, info } = await turned(sharp(reduced.data, { raw: rawOf(reduced.info) }), orientation)
    .raw()
    .toBuffer({ resolveWithObject: true });
  const upright = (): Sharp => sharp(data, { raw: rawOf(info) });
  const forms: PhotoForm[] = [];
  const bodies: Buffer[] = [];
  for (const { type, picture } of isLogo ? logoForms(upright, info) : photoForms(upright, info)) {
    const made = await picture.toBuffer({ resolveWithObject: true });
    bodies.push(made.data);
    const hash = createHash("sha256").update(made.data).digest("hex");
    forms.push({ type, width: made.info.width, height: made.info.height, hash, bytes: made.data.length });
  }
  return { head: { width: info.width, height: info.height, forms }, bodies };
}

function rawOf({ width, height, channels }: OutputInfo) {
  return { width, height, channels };
}

/** Applies an orientation of EXIF: the even ones of the first four and the odd ones of the others are mirrored. `flop` comes before `rotate`. */
function turned(picture: Sharp, orientation: number): Sharp {
  const degrees = [0, 0, 180, 180, 270, 90, 90, 270][orientation - 1] ?? 0;
  return picture.flop([2, 4, 5, 7].includes(orientation)).rotate(degrees);
}

type Size = { width: number; height: number };
type PlannedForm = { type: string; picture: Sharp };

function photoForms(reduced: () => Sharp, size: Size): PlannedForm[] {
  return plannedForms(size).map(({ type, width }) => ({ type, picture: encoders[type](reduced().resize({ width })) }));
}

/** The logo itself, and a square PNG, which every browser takes as the icon of a site. Both keep their transparency. */
function logoForms(reduced: () => Sharp, size: Size): PlannedForm[] {
  const logo = { type: "image/webp", picture: reduced().webp({ quality: 90, effort: 3 }) };
  if (!isSquareEnough(size)) return [logo];
  const background = { r: 0, g: 0, b: 0, alpha: 0 };
  const square = reduced().resize({ width: iconSide, height: iconSide, fit: "contain", background });
  return [logo, { type: "image/png", picture: square.png({ compressionLevel: 9 }) }];
}
