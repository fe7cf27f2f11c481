import { stringify } from "csv-stringify/sync";
import { Problem } from "../platform/problem.ts";
import { isReason, type Reason } from "./cells.ts";
import { rowCharactersMax, type CsvRow } from "./csv.ts";
import type { Mapping } from "./mapping-schema.ts";
import { checkColumns, columnsOf } from "./mapping.ts";
import { isPet, petOf, sourceIdOf, type Pet } from "./pets.ts";
import { profileReader, type Profile } from "./profiles.ts";

/** A row to load. Its cells and its profile are not kept, so that a large file fits into memory; they are read again. */
export type Row = { line: number; pet: Pet };
export type Reject = Omit<CsvRow, "problem"> & { reason: string };
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
  /** Reads the profile of a row; undefined if the mapping has none. */
  profileOf: ((cells: readonly string[]) => Profile) | undefined;
};

/** The most pets that keep their profiles, for the preview. */
const shownMax = 8;
/** The most characters that a reject keeps of each cell of a row that does not fit. */
const cellCharactersMax = 1_000;
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
  const last = new Map<string, Row | Reject>();
  let toPet: ReturnType<typeof petOf> = () => ({ reason: "" });
  for await (const row of csv) {
    if (header === undefined) {
      header = checkedHeader(row.cells, mapping, file);
      toPet = petOf(mapping, header);
      // Without an id column, each row is a pet.
      idOf = mapping.id === undefined ? (_cells, line) => String(line) : sourceIdOf(mapping.id, header);
      continue;
    }
    if (isBlank(row)) continue;
    rowsRead += 1;
    const cells = fittedCells(row, header.length);
    const id = idOf(row.cells, row.line);
    const { line } = row;
    if (typeof cells === "string") rejects.push({ line, cells: row.cells.slice(0, header.length).map(shortened), reason: cells });
    else if (id === "") rejects.push({ line, cells: row.cells.map(ownText), reason: `no id: the column ${mapping.id ?? ""} is empty` });
    else {
      if (last.has(id)) {
        superseded += 1;
        repeated ??= id;
      }
      const pet = toPet(cells);
      last.set(
        ownText(id),
        isPet(pet) ? { line, pet: last.size < shownMax ? pet : keptPet(pet) } : { line, cells: cells.map(ownText), reason: pet.reason },
      );
    }
    if (last.size + rejects.length > petsMax)
      throw new Problem("invalid_request", `${file} contains more than ${petsMax} pets, including rejected rows. Split it.`);
  }
  const rows: Row[] = [];
  for (const row of last.values()) {
    if ("pet" in row) rows.push(row);
    else rejects.push(row);
  }
  const read = profileReader(mapping, header ?? []);
  const profileOf = read && ((cells: readonly string[]) => profileIn(read(cells), file));
  return { header: header ?? [], rowsRead, superseded, repeated, rows, rejects, profileOf };
}

/** @throws Problem `invalid_request` if a row that had a profile has none now */
function profileIn(read: Profile | Reason, file: string): Profile {
  if (isReason(read)) throw new Problem("invalid_request", `${file} has changed while it was imported. Import it again.`);
  return read;
}

/** Adds rows of the file that the service refused to the rejects, with their cells, which are read again. */
export async function addRejects(source: Source, csv: AsyncIterable<CsvRow>, refused: ReadonlyMap<number, string>): Promise<void> {
  if (refused.size === 0) return;
  for await (const { line, cells } of csv) {
    const reason = refused.get(line);
    if (reason !== undefined) source.rejects.push({ line, cells, reason });
  }
  source.rows = source.rows.filter(({ line }) => !refused.has(line));
}

/** A pet without its profile. */
function keptPet({ sourceId, name, category, status, quantity }: Pet): Pet {
  const texts = { sourceId: ownText(sourceId), name: ownText(name), category: ownText(category) };
  return { ...texts, status, ...(quantity !== undefined && { quantity }) };
}

/** Copies a text: in V8, a longer part of a string keeps the whole string in memory. */
function ownText(text: string): string {
  return text.length < shortCharacters ? text : Array.from(text).join("");
}
const shortCharacters = 13;

function checkedHeader(cells: string[], mapping: Mapping, file: string): string[] {
  const header = cells.map((cell) => cell.trim());
  const twice = columnsOf(mapping).find((column) => header.indexOf(column) !== header.lastIndexOf(column));
  if (twice !== undefined) throw new Problem("invalid_request", `${file} has the column “${twice.slice(0, 100)}” twice.`);
  checkColumns(mapping, header, file);
  return header;
}

/** Whether a row has no data: only empty cells, as spreadsheets leave below a table. */
export function isBlank({ cells }: CsvRow): boolean {
  return cells.every((cell) => cell.trim() === "");
}

/**
 * The cells of a row, as many as the header has. Spreadsheets leave out empty cells at the end of a row, and add some where another row is longer.
 * Returns the reason if the row has further cells with data, is too long, or cannot be cut into cells.
 */
export function fittedCells({ cells, problem }: CsvRow, width: number): string[] | string {
  if (problem !== undefined) return problem;
  if (cells.reduce((sum, cell) => sum + cell.length, 0) > rowCharactersMax) return `is over ${rowCharactersMax} characters`;
  const surplus = cells.slice(width);
  if (surplus.some((cell) => cell.trim() !== ""))
    return `has ${cells.length} cells where the header has ${width}; too many: ${surplus.join(",").slice(0, 200)}`;
  return Array.from({ length: width }, (_, index) => cells[index] ?? "");
}

/** A cell of a rejected row, which may be enormous. */
function shortened(cell: string): string {
  return ownText(cell.slice(0, cellCharactersMax));
}

/**
 * The text of the reject file: the source's columns, then `line` and `reason`, in line order. If the source is a reject file itself, these two columns
 * replace its own. If it has other columns with these names, the new ones get a number.
 */
export function formatRejects(header: readonly string[], rejects: readonly Reject[]): string {
  const own = /^line\b.*\nreason\b/.test(header.slice(-2).join("\n")) ? header.slice(0, -2) : header;
  const rows = rejects
    .toSorted((a, b) => a.line - b.line)
    .map(({ cells, line, reason }) => own.map((_, index) => cells[index] ?? "").concat(String(line), reason));
  return stringify([[...own, free("line", own), free("reason", own)], ...rows]);
}

function free(name: string, taken: readonly string[]): string {
  for (let number = 1, one = name; ; one = `${name} ${++number}`) if (!taken.includes(one)) return one;
}
