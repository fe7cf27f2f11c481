import type { Column } from "./columns.ts";
import type { Guess } from "./guess.ts";
import type { GuessedField } from "./header-words.ts";
import { petStatuses, type Mapping, type ValueStatus } from "./mapping-schema.ts";
import { columnsOf, valueKey } from "./mapping.ts";
import { isAmbiguous } from "./prices.ts";

/** A value of the status column, the number of its rows, and what it becomes: undefined until somebody answers. `key` has its form in a mapping. */
export type StatusValue = { key: string; value: string; rows: number; status: ValueStatus | undefined };
/** What a mapping makes of a file's columns: the columns that it leaves out, and the values of the status. */
export type MappingPlan = { mapping: Mapping; unused: string[]; statuses: StatusValue[] };

/** In a mapping to complete, stands for the status of a value that nobody has answered. */
const unanswered = "?";
const valuesShown = 10;

export function planMapping(columns: readonly Column[], mapping: Mapping): MappingPlan {
  const used = new Set(columnsOf(mapping));
  const unused = columns.map(({ name }) => name).filter((name) => name !== "" && !used.has(name));
  return { mapping, unused, statuses: statusValues(columns, mapping.status) };
}

/** The values of the status column; those that a mapping does not tell apart are one. Empty if there are too many to count. */
export function statusValues(columns: readonly Column[], status: Mapping["status"]): StatusValue[] {
  const column = columns.find(({ name }) => name === status?.columns[0]);
  const own = Object.fromEntries(petStatuses.map((one) => [one, one]));
  const answers = new Map(Object.entries(status?.values ?? own).map(([value, answer]) => [valueKey(value), answer]));
  const byKey = new Map<string, StatusValue>(); // Node 20, on which the packed command runs, has no Map.groupBy
  for (const { value, rows } of column?.values ?? []) {
    const key = valueKey(value);
    const first = byKey.get(key);
    byKey.set(key, { key, value: first?.value ?? value, rows: (first?.rows ?? 0) + rows, status: answers.get(key) ?? status?.default });
  }
  return [...byKey.values()];
}

export type PriceAnswers = Pick<NonNullable<Mapping["price"]>, "currency" | "decimal">;

/** Adds what a person says about prices to a mapping that reads them. */
export function withAnswers(mapping: Mapping, answers: PriceAnswers | undefined): Mapping {
  return mapping.price && answers ? { ...mapping, price: { ...mapping.price, ...answers } } : mapping;
}

/** What only a person can say about the prices: their currency, and how to read the cell `decimal`, which can be read in two ways. */
export function openPrices(columns: readonly Column[], { price }: Mapping): { currency?: true; decimal?: string } {
  const { unnamed = 0, ambiguous } = columns.find(({ name }) => name === price?.column)?.prices ?? {};
  return {
    ...(price && unnamed > 0 && !price.currency && !price.currencyColumn && { currency: true }),
    ...(price && ambiguous !== undefined && isAmbiguous(ambiguous, price) && { decimal: ambiguous }),
  };
}

/** Adds the currency of the shop, if it has chosen one, to a mapping that reads prices without a currency. */
export function withCurrency(columns: readonly Column[], mapping: Mapping, currency: string | null | undefined): Mapping {
  return currency && openPrices(columns, mapping).currency ? withAnswers(mapping, { currency }) : mapping;
}

/** What a guess does not settle, each as a clause of a sentence; empty if it settles everything. */
export function questionsOf(columns: readonly Column[], { mapping, unsure }: Guess): string[] {
  const { id, name, category, status, description, price, photos, stock } = mapping;
  const chosen: Record<GuessedField, string | undefined> = {
    id,
    name: name.columns[0],
    category: category.columns[0],
    status: status?.columns[0],
    description: description?.columns[0],
    price: price?.column,
    photos: photos?.columns[0],
    stock: typeof stock === "object" ? stock.column : undefined,
  };
  const questions = unsure.map((field) =>
    chosen[field] === undefined ? `which column has the ${field}` : `whether the ${field} is in “${chosen[field]}”`,
  );
  const open = statusValues(columns, status).filter((one) => one.status === undefined);
  const values = open.slice(0, valuesShown).map(({ value, rows }) => `“${value.slice(0, 50)}” (${rows} ${rows === 1 ? "row" : "rows"})`);
  if (open.length > valuesShown) values.push(`${open.length - valuesShown} more`);
  if (open.length > 0) questions.push(`which status these values of “${chosen.status}” have: ${values.join(", ")}`);
  const { currency, decimal } = openPrices(columns, mapping);
  if (currency) questions.push(`which currency the prices of “${price?.column}” have (--currency)`);
  if (decimal !== undefined)
    questions.push(`whether a comma or a point is before the decimals of “${decimal}” in “${price?.column}” (--decimal)`);
  return questions;
}

/** A guessed mapping as a file to complete: a value that has no status has a question mark, which no import accepts. */
export function mappingToComplete(columns: readonly Column[], { status, price, ...mapping }: Mapping): string {
  const open = statusValues(columns, status).filter((one) => one.status === undefined);
  const values = { ...status?.values, ...Object.fromEntries(open.map(({ key }) => [key, unanswered])) };
  const { currency, decimal } = openPrices(columns, { ...mapping, price });
  const complete = {
    ...mapping,
    ...(status && { status: { ...status, values } }),
    ...(price && { price: { ...price, ...(currency && { currency: unanswered }), ...(decimal !== undefined && { decimal: unanswered }) } }),
  };
  return `${JSON.stringify(complete, null, 2)}\n`;
}
