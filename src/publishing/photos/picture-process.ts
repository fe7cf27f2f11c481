import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Sharp, SharpOptions } from "sharp";
import {
  formatOf,
  iconSide,
  isSquareEnough,
  logoSide,
  pixelsMax,
  plannedForms,
  type PictureFormat,
  type PhotoForm,
  type ProcessAnswer,
} from "./photos.ts";

/**
 * Decodes a picture and encodes its forms, in a separate process: a file that makes the decoder hang, crash or use too much memory harms
 * nothing else. Its arguments are the purpose of the picture, and the CPU time (ms) after which it kills itself. Reads the picture from
 * standard input. Writes one line of JSON (`ProcessAnswer`), then the bytes of the forms one after another.
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
const isLogo = process.argv[2] === "logo";
const cpuMsMax = Number(process.argv[3]);
const cpuCheckMs = 100;
const sideMax = isLogo ? logoSide : 1600;

setInterval(endOverCpuTime, cpuCheckMs).unref(); // the decoder works in threads beside this one
const input = Buffer.concat(await Array.fromAsync(process.stdin as AsyncIterable<Buffer>));
const answer = await convert(input).catch((error: unknown): { head: ProcessAnswer; bodies: Buffer[] } => ({
  head: {
    refusal: (error as Error).message.split("\n", 1)[0]!.slice(0, 200),
  },
  bodies: [],
}));
endOverCpuTime();
process.stdout.write(`${JSON.stringify(answer.head)}\n`);
for (const body of answer.bodies) if (!process.stdout.write(body)) await once(process.stdout, "drain");

function endOverCpuTime(): void {
  const { user, system } = process.cpuUsage();
  if ((user + system) / 1_000 > cpuMsMax) process.kill(process.pid, "SIGKILL");
}

async function convert(bytes: Buffer): Promise<{ head: ProcessAnswer; bodies: Buffer[] }> {
  const format = formatOf(bytes);
  if (format === undefined) return { head: { refusal: "it is not a JPEG, PNG, WebP or AVIF picture" }, bodies: [] };
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  sharp.concurrency(1);
  // Allow only the decoder of the recognised format. All others, such as those of SVG and PDF, stay blocked.
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: [loaders[format]] });
  // one page: the first picture of an animation
  const options: SharpOptions = { limitInputPixels: pixelsMax, failOn: "error", sequentialRead: true, pages: 1 };
  const { width, height } = await sharp(bytes, options).metadata();
  if (width * height > pixelsMax)
    return { head: { refusal: `it has ${width} × ${height} pixels; the limit is 50 megapixels` }, bodies: [] };
  // Decodes once, and turns the picture as its metadata says. The forms are made from the reduced picture, which has no metadata.
  const reduced = await sharp(bytes, options)
    .autoOrient()
    .resize({ width: sideMax, height: sideMax, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { info } = reduced;
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const pictures = isLogo ? logoForms(() => sharp(reduced.data, { raw }), info) : photoForms(() => sharp(reduced.data, { raw }), info);
  const bodies: Buffer[] = [];
  const forms: PhotoForm[] = [];
  for (const { type, picture } of pictures) {
    const made = await picture.toBuffer({ resolveWithObject: true });
    bodies.push(made.data);
    const hash = createHash("sha256").update(made.data).digest("hex");
    forms.push({ type, width: made.info.width, height: made.info.height, hash, bytes: made.data.length });
  }
  return { head: { width: info.width, height: info.height, forms }, bodies };
}

type Size = { width: number; height: number };
type Planned = { type: string; picture: Sharp };

function photoForms(reduced: () => Sharp, size: Size): Planned[] {
  return plannedForms(size).map(({ type, width }) => ({ type, picture: encoders[type](reduced().resize({ width })) }));
}

/** The logo itself, and a square PNG, which every browser takes as the icon of a site. Both keep their transparency. */
function logoForms(reduced: () => Sharp, size: Size): Planned[] {
  const logo = { type: "image/webp", picture: reduced().webp({ quality: 90, effort: 3 }) };
  if (!isSquareEnough(size)) return [logo];
  const background = { r: 0, g: 0, b: 0, alpha: 0 };
  const square = reduced().resize({ width: iconSide, height: iconSide, fit: "contain", background });
  return [logo, { type: "image/png", picture: square.png({ compressionLevel: 9 }) }];
}
