import { countColumns, type Columns } from "./columns.ts";
import { detectFormat, type CsvFormat } from "./csv-format.ts";
import { csvRows, type CsvRow } from "./csv.ts";
import { guessMapping, type Guess } from "./guess.ts";
import { recognizedRowsMax } from "./own-export.ts";

/** A file that can be read more than once. `isForPage` refuses files with control characters, such as a picture chosen by mistake. */
export type InputFile = { name: string; bytes: () => AsyncIterable<Uint8Array>; isForPage?: boolean };
/** What a file shows before anything is sent: its format, columns, first rows, and a guess, unless it has no header. */
export type Inspected = Columns & { format: CsvFormat; header: string[]; first: CsvRow[]; guess: Guess | undefined };

/** Reads a whole file for its columns, from which it guesses a mapping. Default format: the one that it detects. @throws Problem `invalid_request` */
export async function inspectFile(file: InputFile, chosen?: CsvFormat): Promise<Inspected> {
  const format = chosen ?? (await detectFormat(file.bytes(), file.name, { isForPage: file.isForPage ?? false }));
  const counting = countColumns();
  const [first, header]: [CsvRow[], string[]] = [[], []];
  for await (const row of rowsOf(file, format)) {
    counting.add(row);
    if (header.length === 0) header.push(...row.cells);
    else if (first.length < recognizedRowsMax) first.push(row);
  }
  const read = counting.result();
  return { ...read, format, header, first, guess: guessMapping(read.columns) };
}

/** The rows of a file from its beginning, as `csvRows` gives them. */
export function rowsOf({ name, bytes }: InputFile, format: CsvFormat): AsyncGenerator<CsvRow> {
  return csvRows(bytes(), name, format);
}
