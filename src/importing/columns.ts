import type { CsvRow } from "./csv.ts";

/**
 * A column with its values and their row counts, most frequent first; `values` is undefined if there are too many. `filled` is the share of rows that have
 * a value, `distinct` the share of these values that differ from those above; both are counted in the first rows.
 */
export type Column = { name: string; values: { value: string; rows: number }[] | undefined; filled: number; distinct: number };
export type Columns = { columns: Column[]; rows: number };

/** The most distinct values of a column that are counted one by one. */
const valuesMax = 60;
const columnsMax = 200;
const valueCharactersMax = 100;
/** The rows in which distinct values are counted. */
const sampleMax = 2_000;

type Counter = { values: Map<string, number> | undefined; filled: number; seen: Set<string> };

/** Reads the columns of a file, from which a mapping is guessed. The first row is the header. Values are trimmed. */
export async function readColumns(csv: AsyncIterable<CsvRow>): Promise<Columns> {
  let names: string[] | undefined;
  let counters: Counter[] = [];
  let rows = 0;
  for await (const { cells } of csv) {
    if (names === undefined) {
      names = cells.slice(0, columnsMax).map((cell) => cell.trim());
      counters = names.map(() => ({ values: new Map(), filled: 0, seen: new Set() }));
      continue;
    }
    const isSample = rows < sampleMax;
    rows += 1;
    for (const [index, counter] of counters.entries()) count(counter, (cells[index] ?? "").trim(), isSample);
  }
  const sample = Math.max(1, Math.min(rows, sampleMax));
  return { rows, columns: (names ?? []).map((name, index) => columnOf(name, counters[index]!, sample)) };
}

function count(counter: Counter, value: string, isSample: boolean): void {
  if (isSample && value !== "") {
    counter.filled += 1;
    counter.seen.add(value.slice(0, valueCharactersMax));
  }
  const { values } = counter;
  if (values === undefined) return;
  values.set(value, (values.get(value) ?? 0) + 1);
  if (value.length > valueCharactersMax || values.size > valuesMax) counter.values = undefined;
}

function columnOf(name: string, { values, filled, seen }: Counter, sample: number): Column {
  const listed = values && Array.from(values, ([value, rows]) => ({ value, rows })).toSorted((a, b) => b.rows - a.rows);
  return { name, values: listed, filled: filled / sample, distinct: filled === 0 ? 0 : seen.size / filled };
}
