import { valueKey, type Mapping, type PetStatus } from "../../src/importing/mapping.ts";
import type { Column } from "./columns.ts";

/** Words in headers, the most specific first. */
const idWords = ["id", "number", "no", "code", "sku", "ref"];
const nameWords = ["name", "title"];
const categoryWords = ["category", "type", "species", "kind", "breed", "group"];
const statusWords = ["status", "outcome", "state", "availability"];

/** Statuses by words in the values. */
const statusOfWord: [RegExp, PetStatus][] = [
  [/^$|avail|in stock|for sale|active|intake/, "available"],
  [/pend|reserv|hold|foster/, "pending"],
  [/sold|adopt|gone|unavail|return|transfer|rescue|died|euthan/, "sold"],
];

/** Guesses a mapping from the header and the values; undefined if no column looks like a name or a category. */
export function guessMapping(columns: readonly Column[]): Mapping | undefined {
  const names = columns.map(({ name }) => name).filter((name) => name !== "");
  const id = best(names, idWords, /animal|pet/) ?? names[0];
  const name = best(names, nameWords, /animal|pet/) ?? names.find((one) => one !== id) ?? id;
  const category = best(without(names, id, name), categoryWords, /animal|pet/);
  const status = best(without(names, id, name, category), statusWords, /type|status/);
  if (id === undefined || name === undefined) return undefined;
  const statusColumn = columns.find((column) => column.name === status);
  return {
    id,
    name: { columns: name === id ? [name] : [name, id], transforms: ["strip-stars"] },
    category: category === undefined ? { columns: [name], default: "other" } : { columns: [category] },
    ...(statusColumn?.values && { status: { columns: [statusColumn.name], values: valuesOf(statusColumn) } }),
  };
}

/** Guesses the status of each value of a column; values without a known word are left out for the user to choose. */
export function valuesOf({ name, values = [] }: Column): Record<string, PetStatus> {
  // an animal with an outcome has left the shop
  const otherwise = /outcome/i.test(name) ? "sold" : undefined;
  const guessed = values.flatMap(({ value }) => {
    const key = valueKey(value);
    const status = statusOfWord.find(([words]) => words.test(key))?.[1] ?? otherwise;
    return status === undefined ? [] : [[key, status] as const];
  });
  return Object.fromEntries(guessed);
}

/** The header that contains the first of the words; if there are several, the one that also contains `rather`. */
function best(headers: readonly string[], words: readonly string[], rather: RegExp): string | undefined {
  for (const word of words) {
    const found = headers.filter((header) => wordsIn(header).includes(word));
    if (found.length > 0) return found.find((header) => rather.test(header.toLowerCase())) ?? found[0];
  }
  return undefined;
}

/** Splits a header into words: `animal_id`, `Animal ID` and `animalId` give the same. */
function wordsIn(header: string): string[] {
  return header
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/);
}

function without(names: readonly string[], ...taken: (string | undefined)[]): string[] {
  return names.filter((name) => !taken.includes(name));
}
