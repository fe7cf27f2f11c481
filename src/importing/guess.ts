import type { Column } from "./columns.ts";
import {
  factNames,
  guessedFields,
  hasWordOf,
  headerScore,
  isAboutStatus,
  namesCurrency,
  namesFact,
  type GuessedField,
} from "./header-words.ts";
import type { Mapping, PetStatus } from "./mapping-schema.ts";
import { valueKey } from "./mapping.ts";
import { currenciesOf, currencyInHeader } from "./prices.ts";
import { statusOf, wordsOf } from "./status-words.ts";

/** `unsure` has the fields for which two columns fit about as well. */
export type Guess = { mapping: Mapping; unsure: GuessedField[] };

/** The category of all pets of a file without a category column. */
export const otherCategory = "Other";

/** Two columns whose scores differ by less than this share fit about as well. */
const closeShare = 0.12;
/** The least score of a column that is chosen. */
const scoreMin: Record<GuessedField, number> = {
  id: 0.3,
  name: 0.15,
  category: 0.25,
  status: 0.2,
  description: 0.3,
  price: 0.3,
  photos: 0.3,
  stock: 0.3,
};
/** The least share of a column's values that the field can read. The others become rejects. */
const fittingShareMin = 0.5;
/** The most columns with photos. */
export const photoColumnsMax = 10;
/** The best columns of each field that are compared with each other. */
const candidatesMax = 4;

/**
 * Guesses a mapping from the header and the values; undefined without a header. Every column is scored for every field, by the words of its header
 * and by its values; the choice with the greatest sum of scores wins.
 */
export function guessMapping(columns: readonly Column[]): Guess | undefined {
  const named = columns.filter(({ name }, index) => name !== "" && columns.findIndex((one) => one.name === name) === index);
  if (named.length === 0) return undefined;
  const ranked = Object.fromEntries(guessedFields.map((field) => [field, rankedFor(field, named)])) as Record<GuessedField, Scored[]>;
  const found = bestChoice(ranked);
  const { id, category, status, description, price, stock } = found;
  const name = found.name ?? named.find((column) => !Object.values(found).includes(column)) ?? named[0]!;
  const chosen: ColumnChoice = { ...found, name };
  const photos = found.photos
    ? ranked.photos.map(({ column }) => column).filter((one) => one === found.photos || !isChosen(one, chosen))
    : [];
  const facts = factsIn(named.filter((column) => !isChosen(column, chosen) && !photos.includes(column)));
  const mapping: Mapping = {
    ...(id && { id: id.name }),
    name: { columns: id ? [name.name, id.name] : [name.name], transforms: ["strip-stars"] },
    category: category ? { columns: [category.name] } : { columns: [], default: otherCategory },
    ...(status?.values && { status: { columns: [status.name], values: valuesOf(status) } }),
    ...(stock && { stock: { column: stock.name } }),
    ...(description && { description: { columns: [description.name] } }),
    ...(price && { price: priceOf(price, named) }),
    ...(photos.length > 0 && { photos: { columns: namesOf(named.filter((column) => photos.includes(column)).slice(0, photoColumnsMax)) } }),
    ...(Object.keys(facts).length > 0 && { facts }),
  };
  const inFacts = new Set(factNames.flatMap((fact) => facts[fact]?.columns ?? []));
  const others = named.filter((column) => !isChosen(column, chosen) && !inFacts.has(column.name));
  return { mapping, unsure: guessedFields.filter((field) => isUnsure(field, ranked[field], chosen[field], others)) };
}

/** The facts that these columns have by their headers. A column counts only if the fact can have each of its values. */
function factsIn(columns: readonly Column[]): NonNullable<Mapping["facts"]> {
  const facts: NonNullable<Mapping["facts"]> = {};
  for (const fact of factNames) {
    const column = columns.find(
      (one) => namesFact(fact, one.name) && one.filled > 0 && one.shares[fact === "born" ? "born" : "fact"] === 1,
    );
    if (column) facts[fact] = { columns: [column.name] };
  }
  return facts;
}

/** Guesses the status of each value of a column. An ambiguous value has none, and neither has an empty cell. */
export function valuesOf({ name, values = [] }: Column): Record<string, PetStatus> {
  // an animal with an outcome has left the shop
  const isOutcome = wordsOf(name).includes("outcome");
  const guessed = values.flatMap(({ value }) => {
    const status = statusOf(value) ?? (isOutcome && hasOtherWords(value) ? "sold" : undefined);
    return status === undefined ? [] : [[valueKey(value), status] as const];
  });
  return Object.fromEntries(guessed);
}

/** How the prices of a column are read, as far as the file shows it. */
export function priceOf({ name, prices }: Column, columns: readonly Column[]): NonNullable<Mapping["price"]> {
  const isCurrency = ({ value }: { value: string }) => value === "" || currenciesOf(value)?.length === 1;
  const named = columns.find((one) => namesCurrency(one.name) && one.filled > 0 && one.values?.every(isCurrency));
  const currency = currencyInHeader(name);
  return {
    column: name,
    ...(currency !== undefined && { currency }),
    ...(named && { currencyColumn: named.name }),
    ...(prices?.decimal && { decimal: prices.decimal }),
  };
}

type Scored = { column: Column; score: number };
type ColumnChoice = Partial<Record<GuessedField, Column>>;

function rankedFor(field: GuessedField, columns: readonly Column[]): Scored[] {
  // Without a row that can be read, there is only the header.
  const isBare = (field === "id" || field === "name" || field === "category") && columns.every(({ filled }) => filled === 0);
  const scoreOf = (column: Column): number => headerScore(field, column.name) * (isBare ? 1 : contentScore(field, column));
  const scored = columns.map((column) => ({ column, score: scoreOf(column) }));
  return scored.filter(({ score }) => score >= scoreMin[field]).toSorted((a, b) => b.score - a.score);
}

/** Chooses a column for each field, or none, so that the sum of their scores is the greatest. */
function bestChoice(ranked: Record<GuessedField, Scored[]>): ColumnChoice {
  let [best, bestSum]: [ColumnChoice, number] = [{}, -1];
  /** For each field, the most that it and the fields after it can add. */
  const atMost = guessedFields.map((_, index) =>
    guessedFields.slice(index).reduce((sum, field) => sum + (ranked[field][0]?.score ?? 0), 0),
  );
  function choose(index: number, chosen: ColumnChoice, sum: number): void {
    const field = guessedFields[index];
    if (field === undefined) [best, bestSum] = [chosen, sum];
    else
      for (const { column, score } of [...ranked[field].slice(0, candidatesMax), { column: undefined, score: 0 }]) {
        const isPossible = column === undefined || !isChosen(column, chosen);
        const next = sum + score;
        if (isPossible && next + (atMost[index + 1] ?? 0) > bestSum)
          choose(index + 1, column ? { ...chosen, [field]: column } : chosen, next);
      }
  }
  choose(0, {}, 0);
  return best;
}

function isChosen(column: Column, chosen: ColumnChoice): boolean {
  return Object.values(chosen).includes(column);
}

function namesOf(columns: readonly Column[]): string[] {
  return columns.map(({ name }) => name);
}

/** Whether another column fits about as well as the chosen one; for the status also whether none is chosen although a header is about it. */
function isUnsure(field: GuessedField, ranked: readonly Scored[], column: Column | undefined, others: readonly Column[]): boolean {
  if (column === undefined) return field === "status" && others.some((one) => one.filled > 0 && isAboutStatus(one.name));
  if (field === "photos") return false; // every column that fits is chosen
  const own = ranked.find((one) => one.column === column)?.score ?? 0;
  return own === 0 || ranked.some((one) => others.includes(one.column) && one.score > own * (1 - closeShare));
}

function contentScore(field: GuessedField, column: Column): number {
  const { values, filled, distinct, shares } = column;
  const fitting = (share: number): number => (share >= fittingShareMin ? share : 0);
  switch (field) {
    case "id":
      return filled * (0.2 + 0.8 * distinct);
    case "name":
      return (0.3 + 0.7 * filled) * (0.3 + 0.7 * Math.min(1, 2 * distinct));
    case "category":
      return filled === 0 ? 0 : (0.25 + 0.75 * filled) * (values === undefined ? 0.5 : 1) * (distinct > 0.8 ? 0.6 : 1);
    case "status":
      return values === undefined || filled === 0 ? 0 : (0.5 + 0.5 * filled) * (0.4 + 0.6 * shareKnown(values));
    case "description":
      return filled === 0 ? 0 : (0.5 + 0.5 * filled) * (1 - Math.max(shares.price, shares.address));
    case "price":
      return fitting(hasWordOf(field, column.name) ? shares.price : shares.currency);
    case "photos":
      return fitting(hasWordOf(field, column.name) ? shares.address : shares.picture);
    case "stock":
      return fitting(shares.whole);
  }
}

/** The share of rows with a value whose status is clear. */
function shareKnown(values: NonNullable<Column["values"]>): number {
  let [all, known] = [0, 0];
  for (const { value, rows } of values) {
    if (value === "") continue;
    all += rows;
    if (statusOf(value) !== undefined) known += rows;
  }
  return all === 0 ? 0 : known / all;
}

/** Whether a value has words, and none that leaves it open what they mean. */
function hasOtherWords(value: string): boolean {
  return /\p{L}/u.test(value) && !/\b(not?|non|unknown|pending|none|n a)\b/.test(wordsOf(value).join(" "));
}
