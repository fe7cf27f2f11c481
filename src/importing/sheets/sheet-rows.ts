import { Problem } from "../../platform/problem.ts";
import type { ArchiveEntry } from "../../platform/archives/archive-bytes.ts";
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
