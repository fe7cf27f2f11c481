import type { CsvRow } from "../../src/importing/csv.ts";

/** A column with its values and their row counts, most frequent first; `values` is undefined if there are too many. */
export type Column = { name: string; values: { value: string; rows: number }[] | undefined };
export type Columns = { columns: Column[]; rows: number };

/** The most distinct values of a column that are counted one by one. */
const valuesMax = 60;
const columnsMax = 200;
const valueCharactersMax = 100;

/** Reads the columns of a file, from which a mapping is guessed. The first row is the header. Values are trimmed. */
export async function readColumns(csv: AsyncIterable<CsvRow>): Promise<Columns> {
  let names: string[] | undefined;
  let counts: (Map<string, number> | undefined)[] = [];
  let rows = 0;
  for await (const { cells } of csv) {
    if (names === undefined) {
      names = cells.slice(0, columnsMax).map((cell) => cell.trim());
      counts = names.map(() => new Map<string, number>());
      continue;
    }
    rows += 1;
    counts = counts.map((values, index) => counted(values, (cells[index] ?? "").trim()));
  }
  return { rows, columns: (names ?? []).map((name, index) => ({ name, values: listed(counts[index]) })) };
}

function counted(values: Map<string, number> | undefined, value: string): Map<string, number> | undefined {
  if (values === undefined || value.length > valueCharactersMax) return undefined;
  values.set(value, (values.get(value) ?? 0) + 1);
  return values.size > valuesMax ? undefined : values;
}

function listed(values: Map<string, number> | undefined): Column["values"] {
  return values && Array.from(values, ([value, rows]) => ({ value, rows })).toSorted((a, b) => b.rows - a.rows);
}
