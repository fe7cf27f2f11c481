import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { Problem } from "../platform/problem.ts";

/** A row of the file; `line` is where it begins, counted from 1. */
export type CsvRow = { line: number; cells: string[] };

/** The most characters of a row: a quote that is never closed takes no more of the file than this. */
const rowCharactersMax = 128_000;

/**
 * The rows of a CSV file (RFC 4180; line ends may be mixed, a byte order mark is skipped), the header first, as they are
 * read. Rows may have more or fewer cells than the header. Raises `invalid_request` with one line for a file that is absent,
 * not a file, not UTF-8, or whose quotes do not match.
 */
export async function* readCsv(file: string): AsyncGenerator<CsvRow> {
  await checkIsFile(file);
  const options = {
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: "\n",
    max_record_size: rowCharactersMax,
  };
  const parser = parse(options);
  pipeline(readText(file), parser, () => {});
  let line = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      line = info.lines;
      yield { line: line - record.join("").split("\n").length + 1, cells: record };
    }
  } catch (error) {
    throw error instanceof CsvError ? malformed(file, error, line) : error;
  }
  if (line === 0) throw new Problem("invalid_request", `${file} is empty: not even a header line.`);
}

async function checkIsFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "there is no such file" : (error.code ?? error.message);
    throw new Problem("invalid_request", `${file} cannot be read: ${why}.`);
  });
  if (!found.isFile()) throw new Problem("invalid_request", `${file} is not a file.`);
}

/** The file as text with `\n` as the only line end, so that lines are counted as an editor counts them. */
async function* readText(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let lines = 1;
  let heldBack = "";
  const decode = (bytes?: Uint8Array) => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch {
      throw new Problem("invalid_request", `${file} is not UTF-8 text (after line ${lines}). Save it as UTF-8 first.`);
    }
  };
  try {
    for await (const bytes of createReadStream(file) as AsyncIterable<Buffer>) {
      const text = heldBack + decode(bytes);
      heldBack = text.endsWith("\r") ? "\r" : "";
      const normal = text.slice(0, text.length - heldBack.length).replace(/\r\n?/g, "\n");
      lines += normal.split("\n").length - 1;
      yield normal;
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("invalid_request", `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`);
  }
  yield (heldBack + decode()).replace("\r", "\n");
}

function malformed(file: string, error: CsvError, lineBefore: number): Problem {
  const after = lineBefore === 0 ? "in the header" : `after line ${lineBefore}`;
  switch (error.code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return new Problem("invalid_request", `${file}: a quote is opened ${after} and never closed. Nothing was sent.`);
    case "CSV_MAX_RECORD_SIZE":
      return new Problem(
        "invalid_request",
        `${file}: a row ${after} is over ${rowCharactersMax} characters; a quote may not be closed. Nothing was sent.`,
      );
    default:
      return new Problem("invalid_request", `${file}: a quote is in the wrong place ${after}. Nothing was sent.`);
  }
}
