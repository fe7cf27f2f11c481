import { Problem } from "../../platform/problem.ts";
import type { ArchiveEntry } from "../../platform/archives/archive-entry.ts";
import { rowCharactersMax, type CsvRow } from "../csv.ts";

/** A sheet of a workbook; `path` says where its cells are. */
export type Sheet = { name: string; isHidden: boolean; path: string };
/** A file within a workbook. */
export type Part = Pick<ArchiveEntry, "size" | "content">;

export const columnsMax = 16_384;
const charactersMax = 8 * rowCharactersMax;
/** The most empty cells beyond the header, in all rows: a few odd rows have some. */
const fillersMax = 1_048_576;

/** Collects the cells of each row, and bounds them. Rows without text are left out, as empty lines of a CSV file are. */
export function openRows(file: string, emit: (row: CsvRow) => void) {
  let [header, fillers] = [-1, 0];
  let cells: string[] = [];
  let characters = 0;
  return {
    cell(column: number, text: string): void {
      if (text === "") return;
      if (column >= columnsMax) throw new Problem("invalid_request", `${file} has more than ${columnsMax} columns.`);
      characters += text.length;
      if (characters > charactersMax) throw new Problem("invalid_request", `${file} has a row of over ${charactersMax} characters.`);
      if (header >= 0 && column > header) fillers += Math.max(0, column - Math.max(header, cells.length));
      if (fillers > fillersMax) throw new Problem("invalid_request", `${file} has too many cells far to the right of its header.`);
      while (cells.length < column) cells.push("");
      cells[column] = text;
    },
    end(line: number, times = 1): void {
      if (cells.length > 0) {
        if (header < 0) header = cells.length;
        for (let time = 0; time < times; time++) emit({ line: line + time, cells: [...cells] });
      }
      cells = [];
      characters = 0;
    },
  };
}
