import { Problem } from "../platform/problem.ts";

export const encodings = ["utf-8", "utf-16le", "utf-16be", "windows-1252"] as const;
export const delimiters = [",", ";", "\t", "|"] as const;
export type Encoding = (typeof encodings)[number];
type Delimiter = (typeof delimiters)[number];
/** How to read a file's bytes as cells. */
export type CsvFormat = { encoding: Encoding; delimiter: Delimiter };

/** The format of a file about which nothing else is known. */
export const formatDefault: CsvFormat = { encoding: "utf-8", delimiter: "," };

/** The character with which MS-DOS ended text files, and some programs still do. */
export const endOfFile = "\u001A";

/** The beginning of a file from which the delimiter is detected. */
const headBytesMax = 64 * 1024;
const headRowsMax = 200;

/**
 * Detects the encoding and the delimiter of a file. A byte order mark decides the encoding. Without one the file is UTF-16 if its beginning has many
 * zero bytes, nearly all of them at even or at odd positions; UTF-8 if the whole file is valid UTF-8; and windows-1252 otherwise.
 *
 * @param options.isForPage refuses UTF-8 files with control characters too, such as a picture chosen by mistake. Default: only their rows are refused, later
 * @throws Problem `invalid_request` for a workbook, for a file that is not text, and for UTF-8 text with damaged characters
 */
export async function detectFormat(bytes: AsyncIterable<Uint8Array>, file: string, { isForPage = false } = {}): Promise<CsvFormat> {
  const utf8 = utf8Census();
  let head = new Uint8Array(0);
  for await (const chunk of bytes) {
    if (head.length < headBytesMax) head = joined(head, chunk.subarray(0, headBytesMax - head.length));
    utf8.add(chunk);
  }
  refuseWorkbook(head, file);
  const encoding = markedEncoding(head) ?? utf16Of(head) ?? eightBitEncoding(utf8.end(), file);
  const read = new TextDecoder(encoding).decode(head);
  const text = read.endsWith(endOfFile) ? read.slice(0, -1) : read;
  if (isForPage || encoding !== "utf-8" ? hasControls(text) : isMostlyNul(text))
    throw new Problem("invalid_request", `${file} is not a text file. Save it as CSV, and choose that file.`);
  return { encoding, delimiter: delimiterOf(text) };
}

function hasControls(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are signs of a binary file
  return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text);
}

function isMostlyNul(text: string): boolean {
  return (text.split("\0").length - 1) * 2 > text.length;
}

function refuseWorkbook(head: Uint8Array, file: string): void {
  const isZip = head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4;
  const isOldWorkbook = head[0] === 0xd0 && head[1] === 0xcf && head[2] === 0x11 && head[3] === 0xe0;
  if (isZip || isOldWorkbook)
    throw new Problem(
      "invalid_request",
      `${file} is a workbook of a spreadsheet program, not a CSV file. Save it as CSV, and choose that file.`,
    );
}

function markedEncoding([a, b, c]: Uint8Array): Encoding | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return undefined;
}

/** Detects UTF-16: most Latin letters and all line feeds have a zero byte in it, always the first of the two bytes or always the second. */
function utf16Of(head: Uint8Array): Encoding | undefined {
  if (head.length < 2) return undefined;
  const zeros = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2]! += 1;
  const [even = 0, odd = 0] = zeros;
  const many = head.length / 8;
  if (odd > many && even < odd / 20 && !hasLoneLineFeed(head, 0)) return "utf-16le";
  return even > many && odd < even / 20 && !hasLoneLineFeed(head, 1) ? "utf-16be" : undefined;
}

/** Whether a line feed is not on the letters' `side` of a byte pair, or has no zero beside it. Only this tells cells of NULs from UTF-16. */
function hasLoneLineFeed(head: Uint8Array, side: 0 | 1): boolean {
  const zero = side === 0 ? 1 : -1;
  return head.some((byte, index) => byte === 0x0a && (index % 2 !== side || head[index + zero] !== 0));
}

type Census = { isValid: boolean; damaged: number; intact: number; /** The line of the first damaged character. */ line: number };

/** Text in windows-1252 hardly ever contains valid sequences of UTF-8, so many of them mean a damaged UTF-8 file. */
function eightBitEncoding({ isValid, damaged, intact, line }: Census, file: string): Encoding {
  if (isValid) return "utf-8";
  if (damaged > intact) return "windows-1252";
  throw new Problem(
    "invalid_request",
    `${file} is UTF-8 text with ${damaged} damaged characters, the first in line ${line}. Save it as CSV again, in UTF-8.`,
  );
}

/** Counts the intact and the damaged non-ASCII characters of a file, read as UTF-8. */
function utf8Census(): { add: (chunk: Uint8Array) => void; end: () => Census } {
  const lenient = new TextDecoder("utf-8");
  const strict = new TextDecoder("utf-8", { fatal: true });
  const census: Census = { isValid: true, damaged: 0, intact: 0, line: 1 };
  function count(text: string): void {
    if (census.damaged === 0) census.line += text.split("\uFFFD", 1)[0]!.split("\n").length - 1;
    const damaged = text.split("\uFFFD").length - 1;
    // oxlint-disable-next-line no-control-regex -- everything beyond ASCII
    census.intact += (text.match(/[^\x00-\x7f]/gu)?.length ?? 0) - damaged;
    census.damaged += damaged;
  }
  function check(chunk?: Uint8Array): void {
    if (!census.isValid) return;
    try {
      if (chunk === undefined) strict.decode();
      else strict.decode(chunk, { stream: true });
    } catch {
      census.isValid = false;
    }
  }
  return {
    add(chunk) {
      check(chunk);
      count(lenient.decode(chunk, { stream: true }));
    },
    end() {
      check();
      count(lenient.decode());
      return census;
    },
  };
}

/** Returns the delimiter by which the most rows have as many cells as the header; if several do equally well, the one that gives the most cells. */
function delimiterOf(text: string): Delimiter {
  const named = /^\uFEFF?sep=([,;\t|])\r?$/m.exec(text.slice(0, 10));
  if (named && text.replace("\uFEFF", "").startsWith("sep=")) return named[1] as Delimiter;
  const scored = delimiters.map((delimiter) => ({ delimiter, ...agreement(text, delimiter) }));
  const [best] = scored.filter(({ inHeader }) => inHeader > 0).toSorted((a, b) => b.agreeing - a.agreeing || b.inHeader - a.inHeader);
  return best?.delimiter ?? formatDefault.delimiter;
}

/** Returns the number of delimiters in the header, and the share of the first rows that have the same number. Ignores delimiters within quotes. */
function agreement(text: string, delimiter: Delimiter): { inHeader: number; agreeing: number } {
  const counts: number[] = [];
  let [count, isQuoted, isEmpty] = [0, false, true];
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character === delimiter) count += 1;
    if (!isQuoted && (character === "\n" || character === "\r")) {
      if (!isEmpty) counts.push(count);
      if (counts.length === headRowsMax) break;
      [count, isEmpty] = [0, true];
    } else isEmpty = false;
  }
  if (counts.length === 0 || (!isEmpty && text.length < headBytesMax / 4)) counts.push(count);
  const [inHeader = 0] = counts;
  return { inHeader, agreeing: counts.filter((one) => one === inHeader).length / counts.length };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
