import type { Column } from "./columns.ts";
import type { Guess } from "./guess.ts";
import { columnsOf, petStatuses, valueKey, type Mapping, type ValueStatus } from "./mapping.ts";

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

/** The values of the status column, those that a mapping treats as the same as one. Empty if there are too many to count. */
export function statusValues(columns: readonly Column[], status: Mapping["status"]): StatusValue[] {
  const column = columns.find(({ name }) => name === status?.columns[0]);
  const own = Object.fromEntries(petStatuses.map((one) => [one, one]));
  const answers = new Map(Object.entries(status?.values ?? own).map(([value, answer]) => [valueKey(value), answer]));
  const byKey = Map.groupBy(column?.values ?? [], ({ value }) => valueKey(value));
  return Array.from(byKey, ([key, same]) => ({
    key,
    value: same[0]?.value ?? key,
    rows: same.reduce((sum, { rows }) => sum + rows, 0),
    status: answers.get(key) ?? status?.default,
  }));
}

/** What a guess does not settle, each as a clause of a sentence; empty if it settles everything. */
export function questionsOf(columns: readonly Column[], { mapping, unsure }: Guess): string[] {
  const chosen = {
    id: mapping.id,
    name: mapping.name.columns[0],
    category: mapping.category.columns[0],
    status: mapping.status?.columns[0],
  };
  const fields = unsure.map((field) =>
    chosen[field] === undefined ? `which column has the ${field}` : `whether the ${field} is in “${chosen[field]}”`,
  );
  const open = statusValues(columns, mapping.status).filter(({ status }) => status === undefined);
  const values = open.slice(0, valuesShown).map(({ value, rows }) => `“${value.slice(0, 50)}” (${rows} ${rows === 1 ? "row" : "rows"})`);
  if (open.length > valuesShown) values.push(`${open.length - valuesShown} more`);
  return open.length === 0 ? fields : [...fields, `which status these values of “${chosen.status}” have: ${values.join(", ")}`];
}

/** A guessed mapping as a file to complete: a value that has no status has a question mark, which no import accepts. */
export function mappingToComplete(columns: readonly Column[], mapping: Mapping): string {
  const open = statusValues(columns, mapping.status).filter(({ status }) => status === undefined);
  const values = { ...mapping.status?.values, ...Object.fromEntries(open.map(({ key }) => [key, unanswered])) };
  return `${JSON.stringify(mapping.status ? { ...mapping, status: { ...mapping.status, values } } : mapping, null, 2)}\n`;
}
