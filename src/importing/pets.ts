import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { earlierKey } from "../platform/folding.ts";
import { idProblem, isReason, isTooLong, textReader, type Reason } from "./cells.ts";
import { contradictionReader } from "./departures.ts";
import { petStatuses, type Mapping, type PetStatus } from "./mapping-schema.ts";
import { valueKey } from "./mapping.ts";
import { profileReader, type Profile } from "./profiles.ts";

/** A pet in the file: `sourceId` is the file's own identifier, `category` a name. Without `quantity` the file does not count it. */
export type Pet = { sourceId: string; name: string; category: string; status: PetStatus; quantity?: number; profile?: Profile };
export type MappedPet = Pet | Reason;

/** The longest name the service accepts, in code points. */
export const nameCharactersMax = 200;

/** Whether a row became a pet. Otherwise `reason` says in plain words why not. */
export function isPet(mapped: MappedPet): mapped is Pet {
  return !("reason" in mapped);
}

/** Returns the function that reads a row's source id. `readSource` compares ids before it maps rows, because it maps only each pet's last row. */
export function sourceIdOf(idColumn: string, header: readonly string[]): (cells: readonly string[]) => string {
  const index = header.indexOf(idColumn);
  return (cells) => (cells[index] ?? "").trim();
}

/**
 * Returns the function that makes source ids for a file without an id column: from a row's name and category, and its number among the rows with the
 * same name and category. When the file is loaded again, its rows have the same ids, even if other rows were inserted between them.
 */
function idsByOccurrence(): (pet: Omit<Pet, "sourceId">) => string {
  const seen = new Map<string, number>();
  return ({ name, category }) => {
    const key = bytesToHex(sha256(utf8ToBytes(JSON.stringify([name, earlierKey(category)])))).slice(0, 32);
    const occurrence = (seen.get(key) ?? 0) + 1;
    seen.set(key, occurrence);
    return `row ${key} ${occurrence}`;
  };
}

/** Returns the function that turns a row's cells into a pet or a reason why not. The header must have all of the mapping's columns. */
export function petOf(mapping: Mapping, header: readonly string[]): (cells: readonly string[]) => MappedPet {
  const idOf = mapping.id === undefined ? undefined : sourceIdOf(mapping.id, header);
  const newId = idsByOccurrence();
  const nameOf = textReader(mapping.name, header);
  const categoryOf = textReader(mapping.category, header);
  const statusOf = statusReader(mapping.status, header);
  const contradictionIn = contradictionReader(mapping, header);
  const quantityOf = quantityReader(mapping.stock, header);
  const profileOf = profileReader(mapping, header);
  return (cells) => {
    const ownId = idOf?.(cells);
    if (ownId === "") return { reason: `no id: the column ${mapping.id ?? ""} is empty` };
    const problem = ownId === undefined ? undefined : idProblem(ownId);
    if (problem !== undefined) return { reason: problem };
    const name = nameOf(cells);
    if (name === "") return { reason: `no name: ${mapping.name.columns.join(", ")} empty` };
    if (isTooLong(name, nameCharactersMax)) return { reason: `the name is over ${nameCharactersMax} characters` };
    const category = categoryOf(cells);
    if (category === "")
      return { reason: `no category${mapping.category.columns.length === 0 ? "" : `: ${mapping.category.columns.join(", ")} empty`}` };
    if (isTooLong(category, nameCharactersMax)) return { reason: `the category is over ${nameCharactersMax} characters` };
    const status = statusOf(cells);
    if (typeof status !== "string") return status;
    const contradiction = status === "available" ? contradictionIn(cells) : undefined;
    if (contradiction) return contradiction;
    const quantity = quantityOf(cells);
    if (isReason(quantity)) return quantity;
    const profile = profileOf?.(cells);
    if (isReason(profile)) return profile;
    // Units of an animal that is not available would be for sale.
    const counted = status === "available" && quantity !== undefined ? { quantity } : {};
    return { sourceId: ownId ?? newId({ name, category, status }), name, category, status, ...counted, ...(profile && { profile }) };
  };
}

/** Returns the function that reads a row's stock; undefined if the cell is empty or the file does not count. */
function quantityReader(stock: Mapping["stock"], header: readonly string[]): (cells: readonly string[]) => number | undefined | Reason {
  if (stock === undefined) return () => 1;
  if (stock === "not counted") return () => undefined;
  const index = header.indexOf(stock.column);
  return (cells) => {
    const cell = (cells[index] ?? "").trim();
    if (cell === "") return undefined;
    const [, whole] = /^(\d{1,9})(?:[.,]0{1,2})?$/.exec(cell) ?? [];
    return whole === undefined ? { reason: `the stock “${cell.slice(0, 50)}” is not a whole number` } : Number(whole);
  };
}

function statusReader(field: Mapping["status"], header: readonly string[]): (cells: readonly string[]) => PetStatus | Reason {
  if (field === undefined) return () => "available";
  const valueOf = textReader({ columns: field.columns, transforms: field.transforms ?? [] }, header);
  const values = new Map(field.values ? Object.entries(field.values) : petStatuses.map((one) => [one, one] as const));
  const byKey = new Map([...values].map(([value, status]) => [valueKey(value), status]));
  return (cells) => {
    const value = valueOf(cells);
    const status = byKey.get(valueKey(value)) ?? field.default;
    if (status !== undefined && status !== "reject") return status;
    return {
      reason: `${status === undefined ? "unknown" : "rejected"} status value “${value.slice(0, 100)}” in ${field.columns.join(", ")}`,
    };
  };
}
