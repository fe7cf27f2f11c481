/** The pictures that a shop shows of its animals, as they are published (specification 2.7). */
export type PictureFormat = "jpeg" | "png" | "webp" | "avif";
export type PhotoType = "image/webp" | "image/avif";
/** The use of an uploaded picture: a photo of an animal, or the logo of a shop. */
export type PicturePurpose = "photo" | "logo";

/** One form of a photo: a size in a format, published under the SHA-256 of its bytes. */
export type PhotoForm = { type: string; width: number; height: number; hash: string; bytes: number };

/** The result of the encoding process: the forms of the picture, or why it cannot be used. */
export type ProcessAnswer = { width: number; height: number; forms: PhotoForm[] } | { refusal: string };

/** The label below the platform domain at which the photos of all accounts are served. */
export const photosHost = "photos";

/**
 * The most megapixels of each kind of picture, so that decoding it takes at most 512 MiB (decision 0096). Most are decoded row by row, the
 * others as a whole.
 */
const megapixelsMax = { jpeg: 50, png: 50, webp: 50, avif: 13 };
const progressiveMax = { ...megapixelsMax, jpeg: 40, png: 30 };
/** The most pixels of a side: the decoder holds several whole rows. */
const sideMax = 30_000;

const extensions: Record<PhotoType, string> = { "image/webp": "webp", "image/avif": "avif" };
/** The widths that pages choose from. AVIF, which takes long to encode, is not made in the largest. */
const widths: { width: number; types: PhotoType[] }[] = [
  { width: 480, types: ["image/avif", "image/webp"] },
  { width: 960, types: ["image/avif", "image/webp"] },
  { width: 1600, types: ["image/webp"] },
];
const pathPattern = /^photos\/([0-9a-f]{64})\.(webp|avif)$/;

/** The format of a picture by its first bytes, whatever it is called; undefined for any other file, such as SVG. */
export function formatOf(bytes: Buffer): PictureFormat | undefined {
  if (bytes.length < 16) return undefined;
  if (bytes.readUIntBE(0, 3) === 0xffd8ff) return "jpeg";
  if (bytes.subarray(0, 8).toString("latin1") === "\x89PNG\r\n\x1a\n") return "png";
  if (bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP") return "webp";
  return bytes.toString("latin1", 4, 8) === "ftyp" && /^avi[fs]$/.test(bytes.toString("latin1", 8, 12)) ? "avif" : undefined;
}

/** Why a picture has too many pixels to be decoded; undefined if it has not. `isProgressive` also means interlaced. */
export function pixelsRefusal(picture: {
  format: PictureFormat;
  width: number;
  height: number;
  isProgressive: boolean;
}): string | undefined {
  const { format, width, height, isProgressive } = picture;
  const max = (isProgressive ? progressiveMax : megapixelsMax)[format];
  const form = { jpeg: "progressive JPEG", png: "interlaced PNG", webp: "WebP", avif: "AVIF" }[format];
  const size = `it has ${width} × ${height} pixels`;
  if (width * height > max * 1_000_000) return `${size}; the limit is ${max} megapixels${max < 50 ? ` for ${form}` : ""}`;
  return Math.max(width, height) > sideMax ? `${size}; the limit is ${sideMax} on a side` : undefined;
}

/** The forms to make of a picture: no wider than it is, and at least one of each type. */
export function plannedForms({ width }: { width: number }): { type: PhotoType; width: number }[] {
  const planned = widths.flatMap((size, index) => {
    const isNeeded = index === 0 || width > widths[index - 1]!.width;
    return isNeeded ? size.types.map((type) => ({ type, width: Math.min(size.width, width) })) : [];
  });
  return planned;
}

/** In pixels: the largest side of a shop's logo, and the side of the icon that is made from a logo which is square enough. */
export const logoSide = 480;
export const iconSide = 192;
const squareRatioMax = 1.25;

/** Whether a logo fits into a square icon without becoming too small to recognise. */
export function isSquareEnough({ width, height }: { width: number; height: number }): boolean {
  return Math.max(width, height) <= squareRatioMax * Math.min(width, height);
}

/** The path of a form, the same at every address that serves it. */
export function photoPath({ hash, type }: { hash: string; type: string }): string {
  return `/photos/${hash}.${extensions[type as PhotoType]}`;
}

/** The hash and type in a path without its leading slash; undefined if it is not that of a photo. */
export function photoAt(path: string): { hash: string; type: PhotoType } | undefined {
  const match = pathPattern.exec(path);
  if (match === null) return undefined;
  return { hash: match[1]!, type: match[2] === "webp" ? "image/webp" : "image/avif" };
}
