import { decodeLeniently, encodingNamed, encodings, hasUnusedBytes, strictDecoder, type Encoding } from "./encodings.ts";

/** Cells of a file as an encoding reads them. */
export type EncodingReading = { encoding: Encoding; cells: string[] };
/** The readings of a file, the most likely first. `isSure`: the others are much less likely. */
export type EncodingGuess = { readings: EncodingReading[]; isSure: boolean };

/** The most bytes of different cells with letters beyond ASCII that are kept of a file, and of one of them. */
const sampleBytesMax = 16 * 1024;
const cellBytesMax = 512;
const readingsShown = 5;
const cellsShown = 3;
const cellCharactersShown = 40;
/** How much likelier than the detector says an encoding is, because of how often files have it. Default: 1. */
const weights: [RegExp, number][] = [
  [/^windows-1252$/, 1.9],
  [/^windows-|^(shift_jis|euc-|gb18030|big5)/, 1.2],
  [/^x-mac-cyrillic$/, 0.9],
  [/^iso-/, 0.8],
];
/** Each odd place makes a reading half as likely. */
const oddWeight = 0.5;
const oddMax = 8;
/** The likelihood of an East Asian encoding that fits all bytes and that the detector leaves out because they vary too little. */
const fittingConfidence = 0.01;
const eastAsian = new Set<Encoding>(["shift_jis", "euc-jp", "gb18030", "big5", "euc-kr"]);
/** These are rare, and differ from the windows code pages in so few letters that they would make those unsure. They can be chosen. */
const notGuessed = /^(utf-.*|windows-1258|iso-8859-([3468]|1\d))$/;

/** Collects the different cells of a file that have bytes beyond ASCII, up to a bound, as its bytes arrive. */
export function sampleCells(): { add: (chunk: Uint8Array) => void; bytes: () => Uint8Array } {
  const cells = new Set<string>();
  let size = 0;
  let [cell, isBeyondAscii] = ["", false];
  const endCell = () => {
    if (isBeyondAscii && !cells.has(cell)) {
      cells.add(cell);
      size += cell.length + 1;
    }
    [cell, isBeyondAscii] = ["", false];
  };
  return {
    add(chunk) {
      let from = 0;
      for (const [at, byte] of chunk.entries()) {
        if (size >= sampleBytesMax) break;
        if (byte >= 0x80) isBeyondAscii = true;
        else if (isBoundary(byte)) {
          if (isBeyondAscii) cell += latin1(chunk.subarray(from, at), cell.length);
          endCell();
          from = at + 1;
        }
      }
      cell += latin1(chunk.subarray(from), cell.length);
    },
    bytes() {
      endCell();
      return Uint8Array.from([...cells].join("\n"), (letter) => letter.charCodeAt(0));
    },
  };
}

/** Line ends, tabs, quotes, commas and semicolons, which are never the second byte of a letter. Bars may be. */
function isBoundary(byte: number): boolean {
  return byte === 0x0a || byte === 0x2c || byte === 0x3b || byte === 0x09 || byte === 0x22 || byte === 0x0d;
}

function latin1(bytes: Uint8Array, before: number): string {
  return String.fromCharCode(...bytes.subarray(0, Math.max(0, cellBytesMax - before)));
}

/** Guesses the encoding of cells that are not UTF-8, which line feeds separate. */
export async function guessEncoding(sample: Uint8Array): Promise<EncodingGuess> {
  const guessed = encodings.filter((encoding) => !notGuessed.test(encoding));
  const { detectAll } = await import("jschardet");
  const confidences = new Map<Encoding, number>();
  for (const { encoding: name, confidence } of detectAll(sample, { minimumThreshold: 0, detectEncodings: guessed })) {
    const encoding = name === null ? undefined : encodingNamed(name);
    if (encoding !== undefined && confidence > (confidences.get(encoding) ?? 0)) confidences.set(encoding, confidence);
  }
  for (const encoding of eastAsian) if (!confidences.has(encoding) && fits(sample, encoding)) confidences.set(encoding, fittingConfidence);

  // Encodings that read the same text are one reading, under the most usual name.
  const readings = new Map<string, { encoding: Encoding; likelihood: number }>();
  for (const encoding of guessed) {
    const text = decodeLeniently(sample, encoding);
    const likelihood = (confidences.get(encoding) ?? 0) * weightOf(encoding) * oddWeight ** Math.min(oddMax, oddPlaces(text));
    const same = readings.get(text);
    if (same === undefined) readings.set(text, { encoding, likelihood });
    else same.likelihood = Math.max(same.likelihood, likelihood);
  }
  const ranked = [...readings].toSorted(([, a], [, b]) => b.likelihood - a.likelihood);
  const [first, second] = ranked.map(([, { likelihood }]) => likelihood);
  const beyondAscii = sample.filter((byte) => byte >= 0x80).length;
  const best = ranked[0]?.[0] ?? "";
  const isSure = (first ?? 0) > (second ?? 0) * (1.15 + 3 / Math.max(1, beyondAscii)) && isClean(best, ranked[0]![1].encoding);
  return { isSure, readings: shown(ranked.map(([text, { encoding }]) => ({ encoding, text }))) };
}

function fits(bytes: Uint8Array, encoding: Encoding): boolean {
  try {
    strictDecoder(encoding).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function isClean(text: string, encoding: Encoding): boolean {
  return !text.includes("\uFFFD") && !hasUnusedBytes(text, encoding);
}

function weightOf(encoding: Encoding): number {
  return weights.find(([names]) => names.test(encoding))?.[1] ?? 1;
}

const alphabets = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Hebrew}/u, /\p{Script=Arabic}/u].concat(
  /\p{Script=Thai}/u,
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u,
);
/** A symbol beside a letter, a small letter before a capital, lines of boxes, control characters, and characters that stand for none. */
const odd =
  /\p{L}[\u00A2-\u00A9\u00AC-\u00B9\u00BC-\u00BE\u00D7\u00F7\u02B0-\u02FF\u2020-\u2022\u2030\u20A0-\u20CF\u2100-\u23FF]|[\u00A2-\u00A9\u00AC-\u00B9\u00BC-\u00BE\u00D7\u00F7\u02B0-\u02FF\u2020-\u2022\u2030\u20A0-\u20CF\u2100-\u23FF](?=\p{L})|\p{Ll}(?=\p{Lu})|[\u2500-\u25FF\u0080-\u009F\uFFFD\uE000-\uF8FF]/gu;

/** Counts the places where a text looks as if it was read in the wrong encoding: `odd`, and words with letters of several alphabets. */
function oddPlaces(text: string): number {
  const words = text.match(/[\p{L}\p{M}]+/gu) ?? [];
  const mixed = words.filter((word) => alphabets.filter((alphabet) => alphabet.test(word)).length > 1).length;
  return mixed + (text.match(odd)?.length ?? 0);
}

/** The likeliest readings, with the first cells in which the first two differ. */
function shown(ranked: { encoding: Encoding; text: string }[]): EncodingReading[] {
  const cells = ranked.slice(0, readingsShown).map(({ encoding, text }) => ({ encoding, cells: text.split("\n") }));
  const [first, second] = cells;
  const differing = (first?.cells ?? []).flatMap((cell, index) => (cell === second?.cells[index] ? [] : [index])).slice(0, cellsShown);
  return cells.map((reading) => ({
    encoding: reading.encoding,
    cells: differing.map((index) => (reading.cells[index] ?? "").trim().slice(0, cellCharactersShown)),
  }));
}
