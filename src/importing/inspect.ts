import type { RandomAccess } from "../platform/archives/zip-directory.ts";
import { isZip } from "../platform/archives/zip-reader.ts";
import { Problem } from "../platform/problem.ts";
import { readColumns, type Columns } from "./columns.ts";
import { detectFormat, headerLineOf, layoutRowsMax, type Detection } from "./csv-format.ts";
import { csvRows, formatDefault, fromHeader, type CsvFormat, type CsvRow } from "./csv.ts";
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
