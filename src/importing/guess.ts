import { valueKey, type Mapping, type PetStatus } from "./mapping.ts";
import type { Column } from "./columns.ts";
import { statusOf, wordsOf } from "./status-words.ts";

/** The fields that a column is chosen for. */
const guessedFields = ["id", "name", "category", "status"] as const;
export type GuessedField = (typeof guessedFields)[number];
/** `unsure` has the fields for which two columns fit about as well. */
export type Guess = { mapping: Mapping; unsure: GuessedField[] };

/** The category of all pets of a file without a category column. */
export const otherCategory = "Other";

/**
 * The words of headers that name each field, the most specific first, in the languages of European spreadsheets. They are whole words without
 * accents.
 */
const fieldWords: Record<GuessedField, string[]> = {
  id: "id sheltercode number no nr num nummer numero code sku ref reference identifier kennung numer".split(" "),
  name: "name title tiername rufname hundename katzenname nom nombre nome naam navn namn imie nazwa".split(" "),
  category:
    "category species kategorie categorie categoria tierart espece especie soort gatunek kategoria type kind art class tipo typ breed rasse race raza razza ras raca rasa group".split(
      " ",
    ),
  status:
    "status availability outcome verfugbarkeit disponibilite disponibilidad disponibilita zustand statut etat estado stato disponibilidade dostepnosc stan".split(
      " ",
    ),
};
/** Words that say no more than that a column is about the animals. */
const subjectWords = new Set(
  "animal animals pet pets tier tiere animaux animaux mascota mascotas animale animali dier dieren zwierze zwierzeta dog cat hund katze current the of de des del di der das la le el".split(
    " ",
  ),
);
/** Words of columns about something else, whatever their other words are. */
const foreignWords = new Set(
  `shelter owner insurance breeder vet veterinarian contact person customer client staff user agent finder microchip chip tag kennel cage street city town zip postal
  county country state location address phone mail email file photo image picture video url link date time day month year age born birth dob color colour coat sex
  gender size weight price intake sub subtype reason condition medical spay neuter altered health secondary previous former old parent mother father litter group tierheim besitzer halter farbe datum alter
  preis foto bild proprietaire couleur prix precio color dueno colore prezzo padrone eigenaar kleur prijs cor preco wlasciciel kolor cena`.split(
    /\s+/,
  ),
);
/** A header without a field's word scores this much less than the best, if its values speak for the field. */
const byContentAlone = 0.45;
/** Two columns whose scores differ by less than this share fit about as well. */
const closeShare = 0.12;
/** The score of a header that names a field, with hardly another word. */
const namesField = 0.7;
/** What each place in a list of words takes from the score. */
const placeCost = 0.015;
/** The least score of a column that is chosen. */
const scoreMin: Record<GuessedField, number> = { id: 0.3, name: 0.15, category: 0.25, status: 0.2 };
/** The best columns of each field that are compared with each other. */
const candidatesMax = 4;

/**
 * Guesses a mapping from the header and the values; undefined without a header. Every column is scored for every field, by the words of its header
 * and by its values, and the fields get the columns whose scores are best together.
 */
export function guessMapping(columns: readonly Column[]): Guess | undefined {
  const named = columns.filter(({ name }, index) => name !== "" && columns.findIndex((one) => one.name === name) === index);
  if (named.length === 0) return undefined;
  const ranked = Object.fromEntries(guessedFields.map((field) => [field, rankedFor(field, named)])) as Record<GuessedField, Scored[]>;
  const found = bestTogether(ranked);
  const { id, category, status } = found;
  const name = found.name ?? named.find((column) => column !== id && column !== category && column !== status) ?? named[0]!;
  const mapping: Mapping = {
    ...(id && { id: id.name }),
    name: { columns: id ? [name.name, id.name] : [name.name], transforms: ["strip-stars"] },
    category: category ? { columns: [category.name] } : { columns: [], default: otherCategory },
    ...(status?.values && { status: { columns: [status.name], values: valuesOf(status) } }),
  };
  const chosen: Chosen = { ...found, name };
  return { mapping, unsure: guessedFields.filter((field) => isUnsure(field, ranked[field], chosen, named)) };
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

type Scored = { column: Column; score: number };
type Chosen = Partial<Record<GuessedField, Column>>;

function rankedFor(field: GuessedField, columns: readonly Column[]): Scored[] {
  const scored = columns.map((column) => ({ column, score: headerScore(field, column) * contentScore(field, column) }));
  return scored.filter(({ score }) => score >= scoreMin[field]).toSorted((a, b) => b.score - a.score);
}

/** Chooses a column for each field, or none, so that the sum of their scores is the greatest. */
function bestTogether(ranked: Record<GuessedField, Scored[]>): Chosen {
  let [best, bestSum]: [Chosen, number] = [{}, -1];
  function choose(index: number, chosen: Chosen, sum: number): void {
    const field = guessedFields[index];
    if (field === undefined) {
      if (sum > bestSum) [best, bestSum] = [chosen, sum];
      return;
    }
    const taken = Object.values(chosen);
    for (const { column, score } of ranked[field].slice(0, candidatesMax))
      if (!taken.includes(column)) choose(index + 1, { ...chosen, [field]: column }, sum + score);
    choose(index + 1, chosen, sum);
  }
  choose(0, {}, 0);
  return best;
}

/** Whether another column fits about as well as the chosen one; or, for the status, whether no column has it whose header names it. */
function isUnsure(field: GuessedField, ranked: readonly Scored[], chosen: Chosen, columns: readonly Column[]): boolean {
  const column = chosen[field];
  const others = columns.filter((one) => !Object.values(chosen).includes(one));
  if (column === undefined) return field === "status" && others.some((one) => one.filled > 0 && headerScore(field, one) >= namesField);
  const own = ranked.find((one) => one.column === column)?.score ?? 0;
  return own === 0 || ranked.some((one) => others.includes(one.column) && one.score > own * (1 - closeShare));
}

/** How much a header says that its column is the field: 1 if it says nothing else, 0 if it has no word for it. */
function headerScore(field: GuessedField, { name }: Column): number {
  const words = wordsIn(name);
  const [rank = -1] = words
    .map((word) => fieldWords[field].indexOf(word))
    .filter((place) => place >= 0)
    .toSorted((a, b) => a - b);
  if (rank < 0) return field === "status" ? byContentAlone : 0;
  const own = new Set(fieldWords[field]);
  const others = words.filter((word) => !own.has(word) && !subjectWords.has(word));
  // The words of other fields, as in "animal type name", say less than unknown ones.
  const foreign = words.filter((word) => foreignWords.has(word) && !own.has(word)).length;
  return (1 - placeCost * rank) * 0.75 ** (others.length - foreign) * 0.25 ** foreign;
}

function contentScore(field: GuessedField, { values, filled, distinct }: Column): number {
  switch (field) {
    case "id":
      return filled * (0.2 + 0.8 * distinct);
    case "name":
      return (0.3 + 0.7 * filled) * (0.3 + 0.7 * Math.min(1, 2 * distinct));
    case "category":
      return filled * (values === undefined ? 0.5 : 1) * (distinct > 0.8 ? 0.6 : 1);
    case "status":
      return values === undefined || filled === 0 ? 0 : (0.5 + 0.5 * filled) * (0.4 + 0.6 * shareKnown(values));
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

const knownWords = new Set([...Object.values(fieldWords).flat(), ...subjectWords, ...foreignWords]);

/**
 * The words of a header: `animal_id`, `Animal ID`, `animalId` and `ANIMALID` give the same, and `Animal #` gives those of `animal number`.
 */
function wordsIn(header: string): string[] {
  const spaced = header.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replaceAll(/#|№|\bn[º°]/giu, " number ");
  return wordsOf(spaced).flatMap((word) => (knownWords.has(word) ? [word] : (compound(word) ?? [word])));
}

/** Splits a word into two known ones, as in ANIMALNAME or INSURANCESTATUS. */
function compound(word: string): string[] | undefined {
  for (let at = 3; at <= word.length - 2; at++) {
    const parts = [word.slice(0, at), word.slice(at)];
    if (parts.every((part) => knownWords.has(part))) return parts;
  }
  return undefined;
}
