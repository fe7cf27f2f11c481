import { isTooLong } from "./cells.ts";
import type { CsvRow } from "./csv.ts";
import { parsePrice, type Decimal } from "./prices.ts";
import { addressesIn, bornOf, factCharactersMax, isAddress, isPicture } from "./profiles.ts";

/**
 * A column with its values and their row counts, most frequent first; `values` is undefined if there are too many. `filled` is the share of rows that have
 * a value, `distinct` the share of these values that differ from those above. These and `shares` are counted in the first rows.
 */
export type Column = {
  name: string;
  values: { value: string; rows: number }[] | undefined;
  filled: number;
  distinct: number;
  /** Of the values, the shares that are prices, prices with a currency, web addresses, addresses of pictures, small whole numbers, births, and short enough for a fact. */
  shares: Record<Kind, number>;
  /** What the prices leave open: the number of cells without one currency, and the first cell that can be read in two ways, unless others show which is right. */
  prices?: { unnamed: number; ambiguous?: string; decimal?: Decimal };
};
export type Columns = { columns: Column[]; rows: number };

const kinds = ["price", "currency", "address", "picture", "whole", "born", "fact"] as const;
type Kind = (typeof kinds)[number];

/** The most distinct values of a column that are counted one by one. */
const valuesMax = 60;
const columnsMax = 200;
const valueCharactersMax = 100;
/** The rows in which distinct values and kinds are counted. */
const sampleMax = 2_000;

type Counter = {
  values: Map<string, number> | undefined;
  filled: number;
  seen: Set<string>;
  kinds: Record<Kind, number>;
  /** Whether an amount is not zero: a column of nothing but zeros has no prices. */
  hasAmount: boolean;
  ambiguous: string | undefined;
  decimals: Set<Decimal>;
};

/** Reads the columns of a file, from which a mapping is guessed. The first row is the header. Values are trimmed. */
export async function readColumns(csv: AsyncIterable<CsvRow>): Promise<Columns> {
  let names: string[] | undefined;
  let counters: Counter[] = [];
  let [rows, sampled] = [0, 0];
  for await (const { cells, problem } of csv) {
    if (names === undefined) {
      names = cells.slice(0, columnsMax).map((cell) => cell.trim());
      counters = names.map(newCounter);
      continue;
    }
    rows += 1;
    if (problem !== undefined) continue;
    const isSample = sampled < sampleMax;
    if (isSample) sampled += 1;
    for (const [index, counter] of counters.entries()) count(counter, (cells[index] ?? "").trim(), isSample);
  }
  const sample = Math.max(1, sampled);
  return { rows, columns: (names ?? []).map((name, index) => columnOf(name, counters[index]!, sample)) };
}

function newCounter(): Counter {
  const none = { price: 0, currency: 0, address: 0, picture: 0, whole: 0, born: 0, fact: 0 };
  return { values: new Map(), filled: 0, seen: new Set(), kinds: none, hasAmount: false, ambiguous: undefined, decimals: new Set() };
}

function count(counter: Counter, value: string, isSample: boolean): void {
  if (isSample && value !== "") {
    counter.filled += 1;
    counter.seen.add(value.slice(0, valueCharactersMax));
    countKinds(counter, value);
  }
  const { values } = counter;
  if (values === undefined) return;
  values.set(value, (values.get(value) ?? 0) + 1);
  if (value.length > valueCharactersMax || values.size > valuesMax) counter.values = undefined;
}

function countKinds(counter: Counter, value: string): void {
  const found = counter.kinds;
  if (/^\d{1,5}(?:[.,]0{1,2})?$/.test(value)) found.whole += 1;
  if (bornOf(value) !== undefined) found.born += 1;
  if (!isTooLong(value, factCharactersMax)) found.fact += 1;
  const addresses = addressesIn(value);
  if (addresses.every(isAddress)) found.address += 1;
  if (addresses.every(isPicture)) found.picture += 1;
  const price = parsePrice(value);
  if (price === undefined) return;
  found.price += 1;
  counter.hasAmount ||= /[1-9]/.test(value);
  if (price.currencies?.length === 1) found.currency += 1;
  const [reading, another] = price.readings;
  if (another !== undefined) counter.ambiguous ??= value;
  else if (reading?.decimal !== undefined) counter.decimals.add(reading.decimal);
}

function columnOf(name: string, { values, filled, seen, kinds: found, hasAmount, ambiguous, decimals }: Counter, sample: number): Column {
  if (!hasAmount) found.price = 0;
  const listed = values && Array.from(values, ([value, rows]) => ({ value, rows })).toSorted((a, b) => b.rows - a.rows);
  const shares = Object.fromEntries(kinds.map((kind) => [kind, filled === 0 ? 0 : found[kind] / filled])) as Column["shares"];
  const [decimal, another] = decimals;
  const known = decimal !== undefined && another === undefined ? { decimal } : undefined;
  const prices = { unnamed: found.price - found.currency, ...(ambiguous !== undefined && !known && { ambiguous }), ...known };
  return {
    name,
    values: listed,
    filled: filled / sample,
    distinct: filled === 0 ? 0 : seen.size / filled,
    shares,
    ...(found.price > 0 && { prices }),
  };
}
