import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Schemas } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { PetStoreError } from "../../client/errors.ts";
import { pages } from "../../client/pages.ts";
import { batchesOf, categoryNames } from "./load.ts";
import { valueKey } from "./mapping.ts";

/** The most ids that one list takes as a filter. */
export const idsMax = 100;

/** An animal as an export has it. `stock` is null while it is not counted. */
export type PetState = Schemas["Pet"] & { stock: number | null };

/** Adds to each pet of a list the name of its category, its stock, and a digest of each field. @throws PetStoreError */
export async function* withCategoryAndStock(client: PetStore, read: AsyncIterable<Schemas["Pet"][]>): AsyncGenerator<object[]> {
  const names = await categoryNames(client);
  for await (const page of read)
    yield (await withStock(client, page)).map((pet) => {
      const row = { ...pet, category: names.get(pet.categoryId) ?? "", stock: pet.stock ?? "" };
      const { name, status, category } = row;
      return {
        ...row,
        exported: exportedCell(pet.id, { name, status, category, categoryId: String(pet.categoryId), stock: String(row.stock) }),
      };
    });
}

/** The animals with these ids, as far as there are any, with their stock. @throws PetStoreError */
export async function readPets(client: PetStore, ids: readonly number[]): Promise<PetState[]> {
  const found: PetState[] = [];
  for (const some of batchesOf(ids, idsMax))
    for await (const page of pages(client, "/pets", { id: some })) found.push(...(await withStock(client, page)));
  return found;
}

/** Adds the stock; it stays unknown to a key that may not read the inventory. */
async function withStock(client: PetStore, pets: readonly Schemas["Pet"][]): Promise<PetState[]> {
  const stock = new Map<number, number>();
  const read = pages(client, "/store/inventory", { petId: pets.map(({ id }) => id) });
  try {
    if (pets.length > 0) for await (const page of read) for (const { petId, quantity } of page) stock.set(petId, quantity);
  } catch (error) {
    if (!(error instanceof PetStoreError && error.code === "forbidden")) throw error;
  }
  return pets.map((pet) => ({ ...pet, stock: stock.get(pet.id) ?? null }));
}

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
function exportedCell(id: number, values: Record<ExportedField, string>): string {
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
