import type { ArchiveEntry } from "../../platform/archives/archive-bytes.ts";
import { Problem } from "../../platform/problem.ts";
import { rowCharactersMax, type CsvRow } from "../csv.ts";

/** A sheet of a workbook; `path` says where its cells are. `hasRows` is undefined where only reading the cells shows it. */
export type Sheet = { name: string; isHidden: boolean; path: string; hasRows?: boolean };
/** A file within a workbook. */
export type Part = Pick<ArchiveEntry, "size" | "content">;

export const columnsMax = 16_384;
/** The most characters of a row's cells. A row with more is a reject. */
export const cellsCharactersMax = 8 * rowCharactersMax;
/** How much is kept of the cell with which a row is too long. */
const keptCharactersMax = 1_000;
/** The most empty cells beyond the header, in all rows: a few odd rows have some. */
const fillersMax = 1_048_576;

/** Collects the cells of each row, and bounds them. Rows without text are left out, as empty lines of a CSV file are. */
export function openRows(file: string, emit: (row: CsvRow) => void) {
  let [header, fillers] = [-1, 0];
  let cells: string[] = [];
  let [characters, problem]: [number, string | undefined] = [0, undefined];
  return {
    cell(column: number, text: string): void {
      if (text === "" || problem !== undefined) return;
      if (column >= columnsMax) throw new Problem("invalid_request", `${file} has more than ${columnsMax} columns.`);
      characters += text.length;
      if (characters > cellsCharactersMax) problem = `is over ${cellsCharactersMax} characters`;
      if (header >= 0 && column > header) fillers += Math.max(0, column - Math.max(header, cells.length));
      if (fillers > fillersMax) throw new Problem("invalid_request", `${file} has too many cells far to the right of its header.`);
      while (cells.length < column) cells.push("");
      cells[column] = problem === undefined ? text : text.slice(0, keptCharactersMax);
    },
    end(line: number, times = 1): void {
      if (cells.length > 0) {
        if (header < 0) header = cells.length;
        for (let time = 0; time < times; time++) emit({ line: line + time, cells: [...cells], ...(problem !== undefined && { problem }) });
      }
      [cells, characters, problem] = [[], 0, undefined];
    },
  };
}

const dayMs = 86_400_000;
const builtInDates = /^(?:1[4-9]|2[0-2]|2[7-9]|3[0-6]|4[5-7]|5[0-8])$/;

/** Whether a number format of a spreadsheet shows a date or a time. */
export function isDateFormat(id: string, code: string | undefined): boolean {
  if (code === undefined) return builtInDates.test(id);
  const shown = code.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\][]*\]/gi, "").split(";", 1)[0]!;
  return /[ymdhs]/i.test(shown.replaceAll(/general/gi, ""));
}

/** A number as text: integers with all digits that it has, others with the 15 digits that spreadsheets keep. */
export function numberText(text: string): string {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) return text;
  if (Number.isSafeInteger(number)) return String(number);
  return Number.isInteger(number) ? text : String(Number(number.toPrecision(15)));
}

/** The ISO date of a day counted from 1900 or 1904, with the time if it has one; only the time on day 0. */
export function dateText(text: string, isFrom1904: boolean): string {
  const days = Number(text);
  if (text.trim() === "" || !(days >= 0 && days < 2_958_466)) return text;
  // 1900 counts as a leap year, as Lotus 1-2-3 had it.
  const epoch = isFrom1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const iso = new Date(epoch + Math.round((days * dayMs) / 1_000) * 1_000).toISOString();
  if (days < 1 && days > 0) return iso.slice(11, 19);
  return iso.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : iso.slice(0, 19);
}
