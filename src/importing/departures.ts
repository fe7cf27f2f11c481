import type { Reason } from "./cells.ts";
import { dateWords, departureInHeader, hasWordOf, wordsIn } from "./header-words.ts";
import type { Mapping } from "./mapping-schema.ts";
import { columnsOf } from "./mapping.ts";
import { departureOf, isUnclear, statusOf, wordsOf, yesWords, type Departure } from "./status-words.ts";

/** A column beside the status that says whether an animal can be bought. `isOfDays`: its header names days, as “Adoption date” does. */
type Witness = { name: string; index: number; says: Departure | "available"; isOfDays: boolean };

const columnsMax = 1_000;
/** Longer headers and cells are texts, which may mention anything. */
const charactersMax = 100;
/** The different values of the columns whose meaning is kept: nearly all rows have the same few. */
const keptMax = 1_000;

/**
 * Returns the function that says why the row of an animal that the mapping makes available contradicts itself, as one with `Deceased: Yes` does.
 * Columns that the mapping uses or ignores do not count.
 */
export function contradictionReader(mapping: Mapping, header: readonly string[]): (cells: readonly string[]) => Reason | undefined {
  const used = new Set(columnsOf(mapping));
  const witnesses = header.slice(0, columnsMax).flatMap((name, index) => (used.has(name) ? [] : (witnessIn(name, index) ?? [])));
  const known = new Map<string, boolean>();
  const contradicts = (witness: Witness, value: string): boolean => {
    const key = `${witness.index} ${value}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const answer = saysGone(value, witness);
    if (known.size < keptMax) known.set(key, answer);
    return answer;
  };
  return (cells) => {
    for (const witness of witnesses) {
      const value = (cells[witness.index] ?? "").trim();
      if (value === "" || value.length > charactersMax || !contradicts(witness, value)) continue;
      return { reason: `“${witness.name.slice(0, 50)}” says “${value}”, but ${statusIn(mapping.status, header, cells)}` };
    }
    return undefined;
  };
}

function witnessIn(name: string, index: number): Witness | undefined {
  if (name === "" || name.length > charactersMax) return undefined;
  const words = wordsIn(name);
  const isOffer = statusOf(words.join(" ")) === "available" && !hasWordOf("stock", name);
  const says = isOffer ? "available" : departureInHeader(name);
  return says && { name, index, says, isOfDays: words.some((word) => dateWords.has(word)) };
}

/** Animals that came back keep an earlier “Adoption date” or “Outcome date”, so that only the day of a sale or a death says that they are gone. */
function saysGone(value: string, { says, isOfDays }: Witness): boolean {
  const words = wordsOf(value);
  if (says === "available") return words.length === 1 && noWords.has(words[0]!);
  const departure = departureOf(words);
  if (says === "outcome") return departure !== undefined;
  if (departure !== undefined || isYes(value, words)) return true;
  return (says === "sold" || !isOfDays) && isDay(value, isOfDays) && !isUnclear(words);
}

const noWords = new Set("no n 0 f false nein falsch non faux falso nee onwaar nao nie".split(" "));
/** What people put into a cell for yes. */
const marks = new Set("1 x y j t s ✓ ✔ ✔️ ☑ ✅".split(" "));

function isYes(value: string, words: readonly string[]): boolean {
  return marks.has(value.toLowerCase()) || (yesWords.has(words[0] ?? "") && !isUnclear(words));
}

const dayCharactersMax = 40;
/** A year, a day in digits, or a time, anywhere or at the beginning. */
const dayForms = [/\b(?:19|20)\d\d\b/, /^\d{1,2}([./-])\d{1,2}\1\d\d\b/, /^(?:19|20)\d{6}(?:\d{6})?$/, /^\d{1,2}:\d\d/];
/** What programs write where there is no day. */
const noDays = /^[0:./ -]+$|\b(?:1899|1900)\b|^1970-01-01|^0?1[./]0?1[./]1970/;
/** The number of a day in a spreadsheet. */
const serialDay = /^[2-6]\d{4}(?:\.\d+)?$/;

function isDay(value: string, isOfDays: boolean): boolean {
  if (value.length > dayCharactersMax || noDays.test(value)) return false;
  return dayForms.some((form) => form.test(value)) || (isOfDays && serialDay.test(value));
}

/** What makes the animal of a row available, in words that follow “but”. */
function statusIn(status: Mapping["status"], header: readonly string[], cells: readonly string[]): string {
  if (status === undefined) return "without a status column every animal is available";
  const cellOf = (name: string): string => (cells[header.indexOf(name)] ?? "").trim();
  const column = status.columns.find((name) => cellOf(name) !== "");
  return column === undefined
    ? `“${status.columns[0]!.slice(0, 50)}” is empty`
    : `“${column.slice(0, 50)}” says “${cellOf(column).slice(0, 100)}”`;
}
