import { Problem } from "../platform/problem.ts";

export const encodings = ["utf-8", "utf-16le", "utf-16be", "windows-1252"] as const;
export const delimiters = [",", ";", "\t", "|"] as const;
export type Encoding = (typeof encodings)[number];
type Delimiter = (typeof delimiters)[number];
/** How a file's bytes become cells. */
export type CsvFormat = { encoding: Encoding; delimiter: Delimiter };

/** The format of files that nothing is known of. */
export const formatDefault: CsvFormat = { encoding: "utf-8", delimiter: "," };

/** The part of a file from which the delimiter is detected. */
const headBytesMax = 64 * 1024;
const headRowsMax = 200;

/**
 * Detects the encoding and the delimiter of a file. A byte order mark decides the encoding; else the file is UTF-16 if every second byte of its
 * beginning is zero, UTF-8 if all of it is valid, and windows-1252 otherwise.
 *
 * @param isForPage refuses control characters in UTF-8 too, as in a picture that somebody has chosen. Default: only their rows are refused, later
 * @throws Problem `invalid_request` for a workbook, for a file that is not text, and for UTF-8 text with damaged characters
 */
export async function detectFormat(bytes: AsyncIterable<Uint8Array>, file: string, isForPage = false): Promise<CsvFormat> {
  const utf8 = utf8Census();
  let head = new Uint8Array(0);
  for await (const some of bytes) {
    if (head.length < headBytesMax) head = joined(head, some.subarray(0, headBytesMax - head.length));
    utf8.add(some);
  }
  refuseWorkbook(head, file);
  const encoding = markedEncoding(head) ?? utf16Of(head) ?? eightBitEncoding(utf8.end(), file);
  const text = new TextDecoder(encoding).decode(head);
  if (isForPage || encoding !== "utf-8" ? hasControls(text) : isMostlyNul(text))
    throw new Problem("invalid_request", `${file} is not a text file. Save it as CSV, and choose that file.`);
  return { encoding, delimiter: delimiterOf(text) };
}

function hasControls(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters tell a binary file
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

/** Most Latin letters have a zero byte in UTF-16, all on the same side, and so has each line feed. */
function utf16Of(head: Uint8Array): Encoding | undefined {
  if (head.length < 2) return undefined;
  const zeros = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2]! += 1;
  const [even = 0, odd = 0] = zeros;
  const many = head.length / 8;
  if (odd > many && even < odd / 20 && !hasLoneLineFeed(head, 0)) return "utf-16le";
  return even > many && odd < even / 20 && !hasLoneLineFeed(head, 1) ? "utf-16be" : undefined;
}

/** Whether a line feed is elsewhere than on the `side` of the letters, or has no zero beside it. Cells of NUL characters look like UTF-16 but for that. */
function hasLoneLineFeed(head: Uint8Array, side: 0 | 1): boolean {
  const zero = side === 0 ? 1 : -1;
  return head.some((byte, index) => byte === 0x0a && (index % 2 !== side || head[index + zero] !== 0));
}

type Census = { isValid: boolean; damaged: number; intact: number; /** Where the first damage is. */ line: number };

/** Text in windows-1252 hardly ever contains valid sequences of UTF-8, so many of them mean a damaged UTF-8 file. */
function eightBitEncoding({ isValid, damaged, intact, line }: Census, file: string): Encoding {
  if (isValid) return "utf-8";
  if (damaged > intact) return "windows-1252";
  throw new Problem(
    "invalid_request",
    `${file} is UTF-8 text with ${damaged} damaged characters, the first in line ${line}. Save it as CSV again, in UTF-8.`,
  );
}

/** Counts the valid and the damaged characters beyond ASCII of a file in UTF-8. */
function utf8Census(): { add: (some: Uint8Array) => void; end: () => Census } {
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
  function check(some?: Uint8Array): void {
    if (!census.isValid) return;
    try {
      if (some === undefined) strict.decode();
      else strict.decode(some, { stream: true });
    } catch {
      census.isValid = false;
    }
  }
  return {
    add(some) {
      check(some);
      count(lenient.decode(some, { stream: true }));
    },
    end() {
      check();
      count(lenient.decode());
      return census;
    },
  };
}

/** The delimiter that cuts the most rows into as many cells as the header has, and the header into the most cells. */
function delimiterOf(text: string): Delimiter {
  const named = /^\uFEFF?sep=([,;\t|])\r?$/m.exec(text.slice(0, 10));
  if (named && text.replace("\uFEFF", "").startsWith("sep=")) return named[1] as Delimiter;
  const scored = delimiters.map((delimiter) => ({ delimiter, ...agreement(text, delimiter) }));
  const [best] = scored.filter(({ more }) => more > 0).toSorted((a, b) => b.agreeing - a.agreeing || b.more - a.more);
  return best?.delimiter ?? formatDefault.delimiter;
}

/** The number of delimiters in the header, and the share of the first rows that have as many. Delimiters within quotes do not count. */
function agreement(text: string, delimiter: Delimiter): { more: number; agreeing: number } {
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
  const [header = 0] = counts;
  return { more: header, agreeing: counts.filter((one) => one === header).length / counts.length };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
