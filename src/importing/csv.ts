import { CsvError, parse } from "csv-parse";
import { Problem } from "../platform/problem.ts";
import { endOfFile, formatDefault, type CsvFormat } from "./csv-format.ts";
import { namesDelimiter } from "./csv-layout.ts";
import type { Encoding } from "./encoding-names.ts";
import { hasUnusedBytes, strictDecoder } from "./encodings.ts";

/** A row of the file; `line` is its first line, counted from 1. */
export type CsvRow = { line: number; cells: string[] };

/** The longest row that becomes a pet, in characters; a longer one is rejected. */
export const rowCharactersMax = 128_000;
/** The longest text that is read as one row. Bounds how much a quote that is never closed can take in. */
const readCharactersMax = 8 * rowCharactersMax;

const options = {
  info: true,
  relax_column_count: true,
  relax_quotes: true, // in a cell that is not quoted, such as 12" leash, a quote is a character like others
  skip_empty_lines: true,
  record_delimiter: "\n",
  max_record_size: readCharactersMax,
};

type Parsed = { record: string[]; info: { lines: number } };

/**
 * Yields the rows of a CSV file (RFC 4180) as its bytes arrive, the header first. Line ends may be mixed, and rows may have more or fewer cells than
 * the header. Skips a byte order mark, the lines above the header, and a first line such as `sep=;`, which spreadsheets write. `file` is the file's name in errors. Default
 * format: UTF-8 with commas.
 *
 * @throws Problem `invalid_request` with a message of one line if the file is empty, is not in the format's encoding, or has unmatched quotes
 */
export async function* csvRows(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  { encoding, delimiter, headerLine }: CsvFormat = formatDefault,
): AsyncGenerator<CsvRow> {
  let line = 0;
  let isHeaderless = true;
  try {
    for await (const { record, info } of parsed(textOf(bytes, file, encoding), delimiter)) {
      line = info.lines;
      const row = { line: line - record.join("").split("\n").length + 1, cells: record };
      if (row.line < headerLine || namesDelimiter(row, delimiter)) continue;
      isHeaderless = false;
      yield row;
    }
  } catch (error) {
    throw error instanceof CsvError ? malformed(file, error, line) : error;
  }
  if (line === 0) throw new Problem("invalid_request", `${file} is empty: not even a header line.`);
  if (isHeaderless) throw new Problem("invalid_request", `${file} has no line ${headerLine}, which should be the header.`);
}

/** Parses text with the parser's events, which its browser build has too. */
async function* parsed(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<Parsed> {
  const parser = parse({ ...options, delimiter });
  let rows: Parsed[] = [];
  let failure: Error | undefined;
  const ended = new Promise<void>((resolve) => {
    parser.on("data", (row: Parsed) => rows.push(row));
    parser.on("end", resolve);
    parser.on("error", (error) => resolve(void (failure ??= error)));
  });
  for await (const chunk of text) {
    await Promise.race([new Promise((resolve) => void parser.write(chunk, resolve)), ended]);
    yield* rows;
    rows = [];
    if (failure) throw failure;
  }
  parser.end();
  await ended;
  yield* rows;
  if (failure) throw failure;
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
    lines += complete.split("\n").length - 1;
    yield complete;
  }
  const end = heldBack + decode();
  if (end !== endOfFile) yield end.replace("\r", "\n");
}

function malformed(file: string, error: CsvError, lineBefore: number): Problem {
  const after = lineBefore === 0 ? "in the header" : `after line ${lineBefore}`;
  switch (error.code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return new Problem("invalid_request", `${file}: a quote is opened ${after} and never closed. Nothing was sent.`);
    case "CSV_MAX_RECORD_SIZE":
      return new Problem(
        "invalid_request",
        `${file}: ${lineBefore === 0 ? "the header" : `the row ${after}`} is over ${readCharactersMax} characters; a quote may not be closed. Nothing was sent.`,
      );
    default:
      return new Problem("invalid_request", `${file}: a quote is in the wrong place ${after}. Nothing was sent.`);
  }
}
