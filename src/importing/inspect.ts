import { readColumns, type Columns } from "./columns.ts";
import { detectFormat, type CsvFormat, type Detection } from "./csv-format.ts";
import { csvRows, type CsvRow } from "./csv.ts";
import type { Reading } from "./encoding-guess.ts";
import { guessMapping, type Guess } from "./guess.ts";
import { recognizedRowsMax } from "./own-export.ts";

/**
 * A file that can be read more than once. `isForPage` refuses files with control characters, such as a picture chosen by mistake. `chosen` is what is known of
 * its format.
 */
export type InputFile = { name: string; bytes: () => AsyncIterable<Uint8Array>; isForPage?: boolean; chosen?: Partial<CsvFormat> };
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
      else if (first.length < recognizedRowsMax) first.push(row);
      yield row;
    }
  }
  const read = await readColumns(noting(rowsOf(file, format)));
  return { ...read, format, ...(readings && { readings }), header, first, guess: guessMapping(read.columns) };
}

/** Yields the rows of a file from its beginning, as `csvRows` does. Default format: the one that is detected. */
export async function* rowsOf(file: InputFile, format?: CsvFormat): AsyncGenerator<CsvRow> {
  yield* csvRows(file.bytes(), file.name, format ?? (await formatOf(file)).format);
}

function formatOf({ name, bytes, ...how }: InputFile): Promise<Detection> {
  return detectFormat(bytes(), name, how);
}
