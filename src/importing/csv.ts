import { Problem } from "../platform/problem.ts";
import { hasUnusedBytes, strictDecoder, type Encoding } from "./encodings.ts";

/** How to read a file's bytes as cells. The lines before `headerLine`, counted from 1, are left out. `sheet` is the name of a workbook's sheet. */
export type CsvFormat = { encoding: Encoding; delimiter: Delimiter; headerLine: number; sheet?: string };
/** The format of a file about which nothing else is known. */
export const formatDefault: CsvFormat = { encoding: "utf-8", delimiter: ",", headerLine: 1 };

/** The character with which MS-DOS ended text files, and some programs still do. */
export const endOfFile = "\u001A";

/** A row of the file; `line` is its first line, counted from 1. A row that cannot be cut into cells has a `problem`, in words that follow “line 4”. */
export type CsvRow = { line: number; cells: string[]; problem?: string };

/** The longest row that becomes a pet, in characters; a longer one is rejected. */
export const rowCharactersMax = 128_000;
/** The longest text that is read as one row, also after a quote that is never closed. */
const readCharactersMax = 8 * rowCharactersMax;
/** The most that is kept of a longer line. */
const keptCharactersMax = 1_000;

/**
 * Yields the rows of a CSV file (RFC 4180) as its bytes arrive, the header first. Line ends may be mixed, and rows may have more or fewer cells than
 * the header. Skips a byte order mark, the lines above the header, empty lines, and a first line such as `sep=;`, which spreadsheets write. `file` is the file's
 * name in errors. Default format: UTF-8 with commas.
 *
 * @throws Problem `invalid_request` with a message of one line if the file is empty, is not in the format's encoding, or has a header that cannot be read
 */
export async function* csvRows(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  { encoding, delimiter, headerLine }: CsvFormat = formatDefault,
): AsyncGenerator<CsvRow> {
  yield* fromHeader(contentOf(rowsIn(textOf(bytes, file, encoding), delimiter), delimiter), file, headerLine);
}

async function* contentOf(rows: AsyncIterable<CsvRow>, delimiter: Delimiter): AsyncGenerator<CsvRow> {
  for await (const row of rows) if (!namesDelimiter(row, delimiter)) yield row;
}

/**
 * Yields the rows from the line of the header on.
 *
 * @throws Problem `invalid_request` if there are none, or if the header cannot be read
 */
export async function* fromHeader(rows: AsyncIterable<CsvRow>, file: string, headerLine: number): AsyncGenerator<CsvRow> {
  let isEmpty = true;
  let isHeaderless = true;
  for await (const row of rows) {
    isEmpty = false;
    if (row.line < headerLine) continue;
    if (isHeaderless) requireReadable(row, file);
    isHeaderless = false;
    yield row;
  }
  if (isEmpty) throw new Problem("invalid_request", `${file} is empty: not even a header line.`);
  if (isHeaderless) throw new Problem("invalid_request", `${file} has no line ${headerLine}, which should be the header.`);
}

/** @throws Problem `invalid_request` if a header has a problem */
function requireReadable({ line, problem }: CsvRow, file: string): void {
  if (problem === undefined) return;
  throw new Problem("invalid_request", `${file} has a header that cannot be read: line ${line} ${problem}. Nothing was sent.`);
}

/** Cuts text into rows as it arrives. Keeps at most `readCharactersMax` of it and one chunk. */
async function* rowsIn(text: AsyncIterable<string>, delimiter: Delimiter): AsyncGenerator<CsvRow> {
  let [waiting, line, wanted, isSkipping] = ["", 1, 0, false];
  function* cut(isEnd: boolean): Generator<CsvRow> {
    let at = 0;
    while (at < waiting.length) {
      const rest = isSkipping ? afterLine(waiting, at) : undefined;
      if (isSkipping && rest === undefined) at = waiting.length;
      else if (rest !== undefined) [at, isSkipping, line] = [rest, false, line + 1];
      else {
        const isTooLong = waiting.length - at > readCharactersMax;
        const row = cutRow(waiting, at, { delimiter, isEnd: isEnd || isTooLong });
        if (row === undefined) break;
        const raw = waiting.slice(at, row.next);
        if (isTooLong && row.next === waiting.length && !isEnd) isSkipping = !raw.endsWith("\n");
        if (isSkipping)
          yield { line, cells: raw.slice(0, keptCharactersMax).split(delimiter), problem: `is over ${readCharactersMax} characters` };
        else if (!isEmptyLine(row.cells)) yield { line, cells: row.cells, ...(row.problem !== undefined && { problem: row.problem }) };
        if (!isSkipping) line += lineEndsIn(raw);
        at = row.next;
      }
    }
    waiting = waiting.slice(at);
    // Waits until it is twice as long: to cut a long row anew for each chunk would take quadratic time.
    wanted = Math.min(2 * waiting.length, readCharactersMax + 1);
  }
  for await (const chunk of text) {
    waiting += chunk;
    if (waiting.length >= wanted) yield* cut(false);
  }
  yield* cut(true);
}

function afterLine(text: string, from: number): number | undefined {
  const end = text.indexOf("\n", from);
  return end < 0 ? undefined : end + 1;
}

function lineEndsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Whether a row is an empty line, or the mark with which MS-DOS ended files. */
function isEmptyLine(cells: readonly string[]): boolean {
  return cells.length === 1 && (cells[0] === "" || cells[0] === endOfFile);
}

/** Decodes the file with `\n` as the only line end, so that line numbers match those of an editor. */
async function* textOf(bytes: AsyncIterable<Uint8Array>, file: string, encoding: Encoding): AsyncGenerator<string> {
  const decoder = strictDecoder(encoding);
  let lines = 1;
  let heldBack = "";
  const refuse = (why: string): never => {
    throw new Problem("invalid_request", `${file} ${why} (line ${lines}). Name its encoding, or save it as CSV again, in UTF-8.`);
  };
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      const name = encoding.toUpperCase();
      return refuse(chunk === undefined ? `ends in the middle of a ${name} character` : `is not ${name} text`);
    }
  };
  for await (const chunk of bytes) {
    const text = heldBack + decode(chunk);
    heldBack = text.endsWith("\r") || text.endsWith(endOfFile) ? text.slice(-1) : "";
    const complete = text.slice(0, text.length - heldBack.length).replace(/\r\n?/g, "\n");
    if (hasUnusedBytes(complete, encoding)) refuse(`has bytes that are no characters in ${encoding}`);
    lines += lineEndsIn(complete);
    yield complete;
  }
  const end = heldBack + decode();
  if (end !== endOfFile) yield end.replace("\r", "\n");
}

/** Whether a row is the first line with which a spreadsheet names the delimiter, such as `sep=;`. */
export function namesDelimiter({ line, cells }: Pick<CsvRow, "line" | "cells">, delimiter: string): boolean {
  return line === 1 && /^\uFEFF?sep=[,;\t|]$/.test(cells.join(delimiter));
}

export const delimiters = [",", ";", "\t", "|"] as const;
export type Delimiter = (typeof delimiters)[number];

/** A row of a text, and where the next one begins. A row with a `problem` is one line, cut at its delimiters. */
export type CutRow = { cells: string[]; next: number; problem?: string };

/** `isEnd` says that nothing follows the text. */
type RowCut = { delimiter: Delimiter; isEnd: boolean };
type Cell = { value: string; end: number };

const unclosed = "has a quote that is opened and not closed";

/**
 * Cuts the row that begins at `from` (RFC 4180, with `\n` as the only line end). Returns undefined if the row may go on beyond the text.
 * Quotes are ordinary characters in a cell that does not begin with one, as in `12" leash`, and in `"5" collar`, where it is still clear where the cell
 * ends. Where it is not clear, the row is its first line alone, with a problem, so that the next line is read as a row (decision 0110).
 */
export function cutRow(text: string, from: number, cutting: RowCut): CutRow | undefined {
  const cells: string[] = [];
  for (let at = from; ; at += 1) {
    const cell = cutCell(text, at, cutting);
    if (cell === undefined) return undefined;
    if (typeof cell === "string") return cutLine(text, from, cell, cutting);
    cells.push(cell.value);
    at = cell.end;
    if (at === text.length) return cutting.isEnd ? { cells, next: at } : undefined;
    if (text[at] === "\n") return { cells, next: at + 1 };
  }
}

/** Cuts the line that begins at `from` at every delimiter, in quotes or not. */
function cutLine(text: string, from: number, problem: string, { delimiter, isEnd }: RowCut): CutRow | undefined {
  const found = text.indexOf("\n", from);
  if (found < 0 && !isEnd) return undefined;
  const end = found < 0 ? text.length : found;
  return { cells: text.slice(from, end).split(delimiter), next: Math.min(text.length, end + 1), problem };
}

/** Returns the cell that begins at `start`; undefined if it may go on beyond the text, or the problem if it is unclear where it ends. */
function cutCell(text: string, start: number, { delimiter, isEnd }: RowCut): Cell | string | undefined {
  const opening = afterSpaces(text, start);
  if (text[opening] !== '"') return plainCell(text, start, delimiter);
  let value = "";
  for (let from = opening + 1; ;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return isEnd ? unclosed : undefined;
    const next = text[quote + 1] === '"' ? quote + 1 : afterSpaces(text, quote + 1);
    if (next === text.length && !isEnd) return undefined;
    value += text.slice(from, quote);
    if (next === text.length || text[next] === delimiter || text[next] === "\n") return { value, end: next };
    if (text[next] !== '"' || next > quote + 1) {
      const plain = plainCell(text, start, delimiter);
      if (plain.end > quote) return plain;
      return text.slice(start, quote).includes("\n") ? unclosed : "has a quote in the wrong place";
    }
    value += '"';
    from = quote + 2;
  }
}

/** Returns a cell without quotes: the text up to the next delimiter or line end. */
function plainCell(text: string, start: number, delimiter: Delimiter): Cell {
  const mark = delimiter.charCodeAt(0);
  let end = start;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === mark || code === 10) break;
  }
  return { value: text.slice(start, end), end };
}

/** Some programs write spaces around quotes. */
function afterSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === " ") at += 1;
  return at;
}
