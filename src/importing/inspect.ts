import type { RandomAccess } from "../platform/archives/zip-directory.ts";
import { isZip } from "../platform/archives/zip-reader.ts";
import { Problem } from "../platform/problem.ts";
import { type Columns, readColumns } from "./columns.ts";
import {
  type CsvFormat,
  type CsvRow,
  csvRows,
  cutRow,
  type Delimiter,
  delimiters,
  endOfFile,
  formatDefault,
  fromHeader,
  namesDelimiter,
} from "./csv.ts";
import { decodeLeniently, type Encoding, type EncodingReading, guessEncoding, sampleCells } from "./encodings.ts";
import { type Guess, guessMapping } from "./guess.ts";

/** The rows that show where a file is from. */
const firstRowsMax = 100;

/**
 * A file that can be read more than once. `isForPage` refuses files with control characters, such as a picture chosen by mistake. `chosen` is what is known of
 * its format.
 */
export type InputFile = {
  name: string;
  bytes: () => AsyncIterable<Uint8Array>;
  access: RandomAccess;
  isForPage?: boolean;
  chosen?: Partial<CsvFormat>;
};
/**
 * What a file shows before anything is sent: its format, columns, first rows, and a guess, unless it has no header. `readings`: a person has to say which of
 * these encodings is right. `sheets`: the names of a workbook's sheets with rows.
 */
export type Inspected = Columns & Detection & { header: string[]; first: CsvRow[]; guess: Guess | undefined };

/** Reads a whole file for its columns, from which it guesses a mapping. Default format: the one that it detects. @throws Problem `invalid_request` */
export async function inspectFile(file: InputFile): Promise<Inspected> {
  const detection = await formatOf(file);
  const { format } = detection;
  const [first, header]: [CsvRow[], string[]] = [[], []];
  async function* noting(rows: AsyncIterable<CsvRow>): AsyncGenerator<CsvRow> {
    for await (const row of rows) {
      if (header.length === 0) header.push(...row.cells);
      else if (first.length < firstRowsMax) first.push(row);
      yield row;
    }
  }
  const read = await readColumns(noting(rowsOf(file, format)));
  return { ...read, ...detection, header, first, guess: guessMapping(read.columns) };
}

/**
 * Yields the rows of a file from its beginning, as `csvRows` does: of a workbook (.xlsx, .ods), as its first bytes say, those of one sheet. Default format: the
 * one that is detected.
 */
export async function* rowsOf(file: InputFile, format?: CsvFormat): AsyncGenerator<CsvRow> {
  const read = format ?? (await formatOf(file)).format;
  if (await isWorkbook(file)) yield* rowsOfWorkbook(file, read);
  else yield* csvRows(file.bytes(), file.name, read);
}

/** A workbook has no encoding or delimiter to choose. */
async function formatOf(file: InputFile): Promise<Detection> {
  const { name, chosen: { sheet, headerLine, encoding, delimiter } = {} } = file;
  if (!(await isWorkbook(file))) {
    if (sheet !== undefined) throw new Problem("invalid_request", `${name} is not a workbook, so it has no sheet to choose.`);
    if (encoding !== undefined && delimiter !== undefined && headerLine !== undefined)
      return { format: { encoding, delimiter, headerLine } };
    return detectFormat(file.bytes(), name, file);
  }
  const { openWorkbook, sheetOf, sheetsWithRows } = await import("./sheets/workbook.ts");
  const workbook = await openWorkbook(file.access, name);
  const read = { ...formatDefault, sheet: (await sheetOf(workbook, name, sheet)).name };
  const first: CsvRow[] = [];
  for await (const row of rowsOfWorkbook(file, read)) if (first.push(row) === layoutRowsMax) break;
  const sheets = (await sheetsWithRows(workbook)).map((one) => one.name);
  return { format: { ...read, headerLine: headerLine ?? headerLineOf(first) }, sheets };
}

async function isWorkbook({ access }: InputFile): Promise<boolean> {
  return isZip(await access.read(0, 4));
}

async function* rowsOfWorkbook({ access, name }: InputFile, { sheet, headerLine }: CsvFormat): AsyncGenerator<CsvRow> {
  const { openWorkbook, sheetOf } = await import("./sheets/workbook.ts");
  const workbook = await openWorkbook(access, name);
  yield* fromHeader(workbook.rows(await sheetOf(workbook, name, sheet)), name, headerLine);
}

/**
 * A file's format. `readings`: how several encodings that fit about as well read it, if the file does not show which is right. `sheets`: the names of a
 * workbook's sheets with rows.
 */
export type Detection = { format: CsvFormat; readings?: EncodingReading[]; sheets?: string[] };

/** The beginning of a file from which the layout is detected. */
const headBytesMax = 64 * 1024;
/** Text has at most this share of control characters. */
const controlShareMax = 0.005;

/**
 * Detects the encoding, the delimiter and the line of the header of a file, except those that are `chosen`. A byte order mark decides the encoding.
 * Without one the file is UTF-16 if its line feeds have two bytes; UTF-8 if the whole file is valid UTF-8; and otherwise the encoding is guessed from its
 * cells. Reads the whole file and keeps a bounded part of it.
 *
 * @param options.isForPage refuses UTF-8 files with control characters too, such as a picture chosen by mistake. Default: only their rows are refused, later
 * @throws Problem `invalid_request` for an old workbook, for a file that is not text, and for UTF-8 text with damaged characters
 */
export async function detectFormat(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  { isForPage = false, chosen = {} }: { isForPage?: boolean; chosen?: Partial<CsvFormat> } = {},
): Promise<Detection> {
  const utf8 = utf8Census();
  const cells = sampleCells();
  let head = new Uint8Array(0);
  for await (const chunk of bytes) {
    if (head.length < headBytesMax) head = joined(head, chunk.subarray(0, headBytesMax - head.length));
    if (chosen.encoding !== undefined && head.length === headBytesMax) break;
    utf8.add(chunk);
    cells.add(chunk);
  }
  refuseOldWorkbook(head, file);
  const certain = chosen.encoding ?? markedEncoding(head) ?? utf16Of(head) ?? utf8OrOther(utf8.end(), file);
  const guess = certain === undefined ? await guessEncoding(cells.bytes()) : undefined;
  const encoding = certain ?? guess?.readings[0]?.encoding ?? formatDefault.encoding;
  const text = textOf(head, encoding);
  if (isBinary(text, encoding, isForPage))
    throw new Problem("invalid_request", `${file} is not a text file. Save it as CSV, and choose that file.`);
  const { delimiter, headerLine } = layoutOf(text, chosen.delimiter);
  const format = { encoding, delimiter, headerLine: chosen.headerLine ?? headerLine };
  return { format, ...(guess?.isSure === false && { readings: guess.readings }) };
}

/** The beginning of a file as text, without a row that is cut. */
function textOf(head: Uint8Array, encoding: Encoding): string {
  const text = decodeLeniently(head, encoding).replaceAll(/\r\n?/g, "\n");
  if (head.length < headBytesMax) return text.endsWith(endOfFile) ? text.slice(0, -1) : text;
  return text.slice(0, text.lastIndexOf("\n") + 1) || text;
}

/** Whether text has too many control characters. UTF-8 may have many: each odd row is refused later. */
function isBinary(text: string, encoding: Encoding, isForPage: boolean): boolean {
  if (encoding === "utf-8" && !isForPage) return (text.split("\0").length - 1) * 2 > text.length;
  // oxlint-disable-next-line no-control-regex -- control characters are signs of a binary file
  return (text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0) > text.length * controlShareMax;
}

function refuseOldWorkbook(head: Uint8Array, file: string): void {
  const isOldWorkbook = head[0] === 0xd0 && head[1] === 0xcf && head[2] === 0x11 && head[3] === 0xe0;
  if (isOldWorkbook)
    throw new Problem(
      "invalid_request",
      `${file} is a workbook of an old spreadsheet program, or has a password. Save it as .xlsx or CSV without one, and choose that file.`,
    );
}

function markedEncoding([a, b, c]: Uint8Array): Encoding | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return undefined;
}

/** Detects UTF-16 by the two bytes of line feeds: in other encodings, hardly any has a zero byte beside it. */
function utf16Of(head: Uint8Array): Encoding | undefined {
  let [all, little, big] = [0, 0, 0];
  for (const [index, byte] of head.entries()) {
    if (byte !== 0x0a && byte !== 0x0d) continue;
    all += 1;
    if (index % 2 === 0 && head[index + 1] === 0) little += 1;
    if (index % 2 === 1 && head[index - 1] === 0) big += 1;
  }
  if (little > all / 2) return "utf-16le";
  return big > all / 2 ? "utf-16be" : undefined;
}

type Census = { isValid: boolean; damaged: number; intact: number; /** The line of the first damaged character. */ line: number };

/** UTF-8, or undefined for another encoding. Text in those hardly ever contains valid sequences of UTF-8, so many of them mean damaged UTF-8. */
function utf8OrOther({ isValid, damaged, intact, line }: Census, file: string): Encoding | undefined {
  if (isValid) return "utf-8";
  if (damaged > intact) return undefined;
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

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** A row of a file's beginning: the line where it begins, and its cells. */
type HeadRow = { line: number; cells: string[] };

/** The rows from which the layout is detected. */
const layoutRowsMax = 200;
/** The lines above the header, such as a title, that are looked through. */
const titleRowsMax = 20;
/** A row above the header has at most this share of the cells that the table's rows have. */
const titleShareMax = 0.5;

/**
 * Detects the delimiter of a text and the line of its header. The delimiter is the one that most rows have equally often; among equals the one with the
 * most cells. The header is the first row that does not look like a title: with more than half as many cells as the rows of the table have.
 */
function layoutOf(text: string, chosen?: Delimiter): { delimiter: Delimiter; headerLine: number } {
  const split = delimiters.map((delimiter) => ({ delimiter, rows: headRows(text, delimiter) }));
  const named = chosen ?? /^\uFEFF?"?sep=([,;\t|])"?\r?\n/.exec(text)?.[1];
  const scored = split.map(({ delimiter, rows }) => ({ delimiter, rows, ...agreement(rows) }));
  const [best] = scored.filter(({ cells }) => cells > 1).toSorted((a, b) => b.share - a.share || b.cells - a.cells);
  const { delimiter, rows } = scored.find((one) => one.delimiter === named) ?? best ?? scored[0]!;
  return { delimiter, headerLine: headerLineOf(rows) };
}

/** The most frequent number of cells, and the share of rows that have it. If that number is 1, the first row with several cells decides, with the share 0. */
function agreement(rows: readonly HeadRow[]): { cells: number; share: number } {
  const counts = new Map<number, number>();
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [[cells, count] = [1, 0]] = [...counts].toSorted((a, b) => b[1] - a[1] || b[0] - a[0]);
  if (cells > 1) return { cells, share: count / rows.length };
  return { cells: rows.find((row) => row.cells.length > 1)?.cells.length ?? 1, share: 0 };
}

/** The line of the first row that does not look like a title. */
function headerLineOf(rows: readonly HeadRow[]): number {
  const filled = rows.map(({ cells }) => cells.filter((cell) => cell.trim() !== "").length);
  const ordered = filled.filter((count) => count > 0).toSorted((a, b) => a - b);
  const typical = ordered[Math.floor(ordered.length / 2)] ?? 0;
  const first = filled.slice(0, titleRowsMax + 1).findIndex((count) => count > typical * titleShareMax);
  return rows[first]?.line ?? 1;
}

/** Splits the beginning of a text into rows and cells, as far as `layoutRowsMax`; leaves out empty lines. */
function headRows(text: string, delimiter: Delimiter): HeadRow[] {
  const rows: HeadRow[] = [];
  let line = 1;
  for (let at = 0; at < text.length && rows.length < layoutRowsMax;) {
    const { cells, next } = cutRow(text, at, { delimiter, isEnd: true })!;
    const row = { line, cells };
    if ((cells.length > 1 || cells[0] !== "") && !namesDelimiter(row, delimiter)) rows.push(row);
    line += text.slice(at, next).split("\n").length - 1;
    at = next;
  }
  return rows;
}
