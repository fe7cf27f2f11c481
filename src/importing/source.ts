import { Problem } from "../platform/problem.ts";
import { petOf, isPet, sourceIdOf } from "./pets.ts";
import type { Pet } from "./pets.ts";
import type { CsvRow } from "./csv.ts";
import { checkColumns } from "./mapping.ts";
import type { Mapping } from "./mapping.ts";

/** A row to load; its line and cells are kept for the reject file. */
export type Row = CsvRow & { pet: Pet };
export type Reject = CsvRow & { reason: string };
/**
 * The contents of a file: the last row of each pet, and the rejected rows. `superseded` is the number of earlier rows of the same pets,
 * and `repeated` the first id that occurs a second time.
 */
export type Source = {
  header: string[];
  rowsRead: number;
  superseded: number;
  repeated: string | undefined;
  rows: Row[];
  rejects: Reject[];
};

/** The most pets of one import, including rejected rows: all are in memory until the last row is read. */
export const petsMax = 1_000_000;

/**
 * Maps a file's rows, the header first. The last row of a source id wins, even if it is rejected.
 *
 * @throws Problem `invalid_request` if the header lacks a column of the mapping, or there are too many pets
 */
export async function readSource(csv: AsyncIterable<CsvRow>, mapping: Mapping, file: string): Promise<Source> {
  let header: string[] | undefined;
  let idOf: (cells: readonly string[], line: number) => string = () => "";
  let rowsRead = 0;
  let superseded = 0;
  let repeated: string | undefined;
  const rejects: Reject[] = [];
  const last = new Map<string, CsvRow>();
  for await (const row of csv) {
    if (header === undefined) {
      header = checkedHeader(row.cells, mapping, file);
      // Without an id column, each row is a pet.
      idOf = mapping.id === undefined ? (_cells, line) => String(line) : sourceIdOf(mapping.id, header);
      continue;
    }
    rowsRead += 1;
    const id = idOf(row.cells, row.line);
    if (row.cells.length !== header.length) rejects.push(ragged(row, header.length));
    else if (id === "") rejects.push({ ...row, reason: `no id: the column ${mapping.id ?? ""} is empty` });
    else {
      if (last.has(id)) {
        superseded += 1;
        repeated ??= id;
      }
      last.set(id, row);
    }
    if (last.size + rejects.length > petsMax)
      throw new Problem("invalid_request", `${file} contains more than ${petsMax} pets, including rejected rows. Split it.`);
  }
  header ??= [];
  const { rows, refused } = mapped(last.values(), mapping, header);
  return { header, rowsRead, superseded, repeated, rows, rejects: rejects.concat(refused) };
}

function mapped(csvRows: Iterable<CsvRow>, mapping: Mapping, header: string[]): { rows: Row[]; refused: Reject[] } {
  const toPet = petOf(mapping, header);
  const rows: Row[] = [];
  const refused: Reject[] = [];
  for (const row of csvRows) {
    const pet = toPet(row.cells);
    if (isPet(pet)) rows.push({ ...row, pet });
    else refused.push({ ...row, reason: pet.reason });
  }
  return { rows, refused };
}

function checkedHeader(cells: string[], mapping: Mapping, file: string): string[] {
  const header = cells.map((cell) => cell.trim());
  const twice = header.find((column, index) => column !== "" && header.indexOf(column) !== index);
  if (twice !== undefined) throw new Problem("invalid_request", `${file} has the column “${twice.slice(0, 100)}” twice.`);
  checkColumns(mapping, header, file);
  return header;
}

function ragged(row: CsvRow, cells: number): Reject {
  const surplus = row.cells.slice(cells).join(",").slice(0, 200);
  const reason = `has ${row.cells.length} cells where the header has ${cells}${surplus === "" ? "" : `; too many: ${surplus}`}`;
  return { ...row, reason };
}
