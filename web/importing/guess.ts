import { valueKey, type Mapping, type PetStatus } from "../../src/importing/mapping.ts";
import type { Column } from "./columns.ts";

/** Words in headers, the most specific first. They are in several European languages, whose spreadsheets write semicolon-separated files. */
const idWords = ["id", "number", "no", "nr", "nummer", "numéro", "code", "sku", "ref"];
const nameWords = ["name", "title", "tiername", "nom", "nombre", "nome", "naam", "navn", "namn"];
const categoryWords =
  "category type species kind breed group kategorie catégorie categoría categoria categorie tierart art espèce especie soort rasse race raza".split(
    " ",
  );
const statusWords = ["status", "outcome", "state", "availability", "zustand", "statut", "état", "estado", "stato"];
/** The category of all pets of a file without a category column. */
export const otherCategory = "Other";

/** The status for words in the values. */
const statusOfWord: [RegExp, PetStatus][] = [
  [/^$|avail|in stock|for sale|active|intake|verfügbar|disponib|beschikbaar/, "available"],
  [/pend|reserv|hold|foster/, "pending"],
  [/sold|adopt|gone|unavail|return|transfer|rescue|died|euthan|verkauft|vendu|vendid|verkocht/, "sold"],
];

/** Guesses a mapping from the header and the values; undefined without a header. A column is the id only if its header has an id word. */
export function guessMapping(columns: readonly Column[]): Mapping | undefined {
  const names = columns.map(({ name }) => name).filter((name) => name !== "");
  const id = names.length > 1 ? best(names, idWords, /animal|pet/) : undefined;
  const name = best(without(names, id), nameWords, /animal|pet/) ?? without(names, id)[0];
  if (name === undefined) return undefined;
  const category = best(without(names, id, name), categoryWords, /animal|pet/);
  const status = best(without(names, id, name, category), statusWords, /type|status/);
  const statusColumn = columns.find((column) => column.name === status);
  return {
    ...(id !== undefined && { id }),
    name: { columns: id === undefined ? [name] : [name, id], transforms: ["strip-stars"] },
    category: category === undefined ? { columns: [], default: otherCategory } : { columns: [category] },
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
    .normalize("NFC")
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}]+/u);
}

function without(names: readonly string[], ...taken: (string | undefined)[]): string[] {
  return names.filter((name) => !taken.includes(name));
}
