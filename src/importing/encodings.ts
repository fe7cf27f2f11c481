/**
 * The encodings in which a text file can be read, the most likely first. Those of the Encoding Standard have its names, and `TextDecoder` reads them;
 * the standard's windows-1252 and windows-1254 include ISO-8859-1 and ISO-8859-9.
 */
export const encodings = [
  ...(["utf-8", "utf-16le", "utf-16be"] as const),
  ...(["windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1255", "windows-1256"] as const),
  ...(["windows-1257", "windows-1258", "windows-874", "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr"] as const),
  ...(["macintosh", "x-mac-cyrillic", "cp437", "cp850", "cp852", "ibm866", "koi8-r", "koi8-u"] as const),
  ...(["iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8"] as const),
  ...(["iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16"] as const),
] as const;
export type Encoding = (typeof encodings)[number];

export type Decoder = Pick<TextDecoder, "decode">;

/** The characters of the bytes 128 to 255 in the DOS code pages, which the Encoding Standard lacks. */
const codePages: Partial<Record<Encoding, string>> = {
  cp437:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0",
  cp850:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00AD±‗¾¶§÷¸°¨·¹³²■\u00A0",
  cp852:
    "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00AD˝˛ˇ˘§÷¸°¨˙űŘř■\u00A0",
};

/** Names that are in use beside those of the Encoding Standard. */
const otherNames: Record<string, Encoding> = {
  macroman: "macintosh",
  "mac-roman": "macintosh",
  maccyrillic: "x-mac-cyrillic",
  utf16: "utf-16le",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
  cp874: "windows-874",
  cp932: "shift_jis",
  cp936: "gb18030",
  gbk: "gb18030",
  cp949: "euc-kr",
  cp950: "big5",
};

/** Returns the encoding with a name, such as `windows-1251`, `cp1251`, `latin1` or `IBM850`; undefined if there is none. */
export function encodingNamed(name: string): Encoding | undefined {
  const lower = name.trim().toLowerCase();
  const own = otherNames[lower] ?? lower.replace(/^(?:ibm|dos-?|cp-)?(437|850|852)$/, "cp$1");
  return encodings.find((encoding) => encoding === own) ?? encodings.find((encoding) => encoding === standardName(own));
}

function standardName(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === "gbk" ? "gb18030" : encoding;
  } catch {
    return undefined;
  }
}

/** Returns a decoder, which throws where bytes are no character of the encoding. */
export function strictDecoder(encoding: Encoding): Decoder {
  const upper = codePages[encoding];
  if (upper === undefined) return new TextDecoder(encoding, { fatal: true });
  const letters = Array.from({ length: 128 }, (_, byte) => String.fromCharCode(byte)).concat(...upper);
  return { decode: (bytes) => Array.from((bytes as Uint8Array | undefined) ?? [], (byte) => letters[byte]).join("") };
}

/** Decodes bytes; a replacement character stands for those that are no character of the encoding. */
export function decodeLeniently(bytes: Uint8Array, encoding: Encoding): string {
  return (encoding in codePages ? strictDecoder(encoding) : new TextDecoder(encoding)).decode(bytes);
}

/**
 * Whether text that was decoded has characters that no spreadsheet writes: most windows code pages leave a few bytes out, which become control
 * characters. UTF-8 and UTF-16 may say them on purpose.
 */
export function hasUnusedBytes(text: string, encoding: Encoding): boolean {
  return !encoding.startsWith("utf-") && /[\u0080-\u009F]/.test(text);
}

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
