import type { RandomAccess } from "../platform/archives/zip-directory.ts";
import { isZip } from "../platform/archives/zip-reader.ts";
import { Problem } from "../platform/problem.ts";
import { readColumns, type Columns } from "./columns.ts";
import { detectFormat, formatDefault, type CsvFormat, type Detection } from "./csv-format.ts";
import { headerLineOf, layoutRowsMax } from "./csv-layout.ts";
import { csvRows, type CsvRow } from "./csv.ts";
import type { Reading } from "./encoding-guess.ts";
import { guessMapping, type Guess } from "./guess.ts";

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
 * these encodings is right.
 */
export type Inspected = Columns & { format: CsvFormat; readings?: Reading[]; header: string[]; first: CsvRow[]; guess: Guess | undefined };

/** Reads a whole file for its columns, from which it guesses a mapping. Default format: the one that it detects. @throws Problem `invalid_request` */
export async function inspectFile(file: InputFile, chosen?: CsvFormat): Promise<Inspected> {
  const { format, readings }: Detection = chosen ? { format: chosen } : await formatOf(file);
  const [first, header]: [CsvRow[], string[]] = [[], []];
  async function* noting(rows: AsyncIterable<CsvRow>): AsyncGenerator<CsvRow> {
    for await (const row of rows) {
      if (header.length === 0) header.push(...row.cells);
      else if (first.length < firstRowsMax) first.push(row);
      yield row;
    }
  }
  const read = await readColumns(noting(rowsOf(file, format)));
  return { ...read, format, ...(readings && { readings }), header, first, guess: guessMapping(read.columns) };
}

/**
 * Yields the rows of a file from its beginning, as `csvRows` does: of a workbook (.xlsx, .ods), as its first bytes say, those of its first visible
 * sheet. Default format: the one that is detected.
 */
export async function* rowsOf(file: InputFile, format?: CsvFormat): AsyncGenerator<CsvRow> {
  if (await isWorkbook(file)) yield* rowsOfWorkbook(file, (format ?? (await formatOf(file)).format).headerLine);
  else yield* csvRows(file.bytes(), file.name, format ?? (await formatOf(file)).format);
}

/** A workbook has no encoding or delimiter to choose. */
async function formatOf(file: InputFile): Promise<Detection> {
  if (!(await isWorkbook(file))) return detectFormat(file.bytes(), file.name, file);
  const first: CsvRow[] = [];
  for await (const row of rowsOfWorkbook(file, 1)) if (first.push(row) === layoutRowsMax) break;
  return { format: { ...formatDefault, headerLine: file.chosen?.headerLine ?? headerLineOf(first) } };
}

async function isWorkbook({ access }: InputFile): Promise<boolean> {
  return isZip(await access.read(0, 4));
}

async function* rowsOfWorkbook({ access, name }: InputFile, headerLine: number): AsyncGenerator<CsvRow> {
  const { openWorkbook, sheetOf } = await import("./sheets/workbook.ts");
  const workbook = await openWorkbook(access, name);
  let isEmpty = true;
  for await (const row of workbook.rows(sheetOf(workbook, name))) {
    isEmpty = false;
    if (row.line >= headerLine) yield row;
  }
  if (isEmpty) throw new Problem("invalid_request", `${name} is empty: not even a header line.`);
}
