import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { valueKey } from "./mapping.ts";

/*
 * What an export of animals says about itself, so that a later import knows which cells somebody edited (docs/importing.md).
 */

/** The fields of an exported animal that an edited file can change. */
const exportedFields = ["name", "categoryId", "status", "category", "stock"] as const;
export type ExportedField = (typeof exportedFields)[number];
/** The column with a digest of each exported field. */
export const exportedColumn = "exported";
/** The columns by which an export without digests is recognized. */
const markers = ["id", "name", "status"];

const digestCharacters = 8;
/** A digest for each exported field. */
const shape = /^x(?:-[0-9a-f]{8}){5}$/;

/** The cell of the column `exported`. It begins with a letter, so that a spreadsheet reads neither a number nor a formula. */
export function exportedCell(id: number, values: Record<ExportedField, string>): string {
  return ["x", ...exportedFields.map((field) => digestOf(id, field, values[field]))].join("-");
}

/** Where the columns of an export are, in any case and order. */
export function exportColumns(header: readonly string[]): ReadonlyMap<string, number> {
  const names = ["id", ...exportedFields, exportedColumn].map((name) => [name, valueKey(name)] as const);
  const keys = header.map(valueKey);
  return new Map(names.map(([name, key]) => [name, keys.indexOf(key)] as const).filter(([, index]) => index >= 0));
}

export function hasMarkers(columns: ReadonlyMap<string, number>): boolean {
  return markers.every((name) => columns.has(name));
}

export function isExportedCell(cell: string): boolean {
  return shape.test(cell);
}

/**
 * Whether a field has the value that it had in the export; undefined without a digest. Spreadsheets change line ends and put an apostrophe before a
 * formula, which is no edit.
 */
export function isAsExported(cell: string | undefined, id: number, field: ExportedField, value: string): boolean | undefined {
  const text = cell?.trim() ?? "";
  if (!shape.test(text)) return undefined;
  const digest = text.split("-")[exportedFields.indexOf(field) + 1];
  return digest === digestOf(id, field, value) || digest === digestOf(id, field, withoutApostrophe(value));
}

/** Whether a cell says the same as a value, apart from what programs change on the way through a file. */
export function isSameText(cell: string, value: string): boolean {
  return plain(cell) === plain(value) || plain(withoutApostrophe(cell)) === plain(value) || isLossyCopy(plain(cell), plain(value));
}

/** Whether a cell is a value with question marks for characters that its file's encoding lacks. */
function isLossyCopy(cell: string, value: string): boolean {
  let at = 0;
  for (const character of value) {
    if (cell.startsWith(character, at)) at += character.length;
    else if (character > "\u007F" && cell[at] === "?") at += cell.startsWith("??", at) ? character.length : 1;
    else return false;
  }
  return at === cell.length;
}

function digestOf(id: number, field: ExportedField, value: string): string {
  return bytesToHex(sha256(utf8ToBytes(`${id} ${field} ${plain(value)}`))).slice(0, digestCharacters);
}

/** A value with `\n` as its only line end, and without other control characters, which old names may have and files lose. */
function plain(value: string): string {
  return value
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/(?!\n)\p{Cc}/gu, "")
    .trim();
}

function withoutApostrophe(value: string): string {
  return /^'[=+\-@]/.test(value) ? value.slice(1) : value;
}
