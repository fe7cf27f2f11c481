import { Problem } from "../platform/problem.ts";
import { cutRow, type Delimiter } from "./csv-cells.ts";
import { endOfFile, formatDefault, type CsvFormat } from "./csv-format.ts";
import { namesDelimiter } from "./csv-layout.ts";
import type { Encoding } from "./encoding-names.ts";
import { hasUnusedBytes, strictDecoder } from "./encodings.ts";

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
