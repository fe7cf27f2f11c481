import type { DescribedOperation } from "../../src/platform/http/operation.ts";

/** A list of the API by its declaration. */
export type ListOperation = DescribedOperation & { read: NonNullable<DescribedOperation["read"]>; query: Schema };

type Schema = { properties: Record<string, Property> };
type Property = { type?: string; enum?: string[]; items?: Property; maxItems?: number };
type Value = string | number | boolean;
export type ListQuery = Record<string, Value | Value[]>;

const pagingOnly = new Set(["limit", "cursor"]);

/** The operations that answer pages. */
export function listsOf(operations: readonly DescribedOperation[]): ListOperation[] {
  return operations.filter((operation) => "cursor" in ((operation.query as Schema | undefined)?.properties ?? {})) as ListOperation[];
}

/** Values for filters without a fixed set: some match most rows, some a few, and some none. */
export type Samples = { integers: number[]; texts: string[] };

/** Every combination of the filters and sorts that a list declares, so that a new one is tested without a change here. */
export function combinationsOf({ query }: ListOperation, samples: Samples): ListQuery[] {
  let combinations: ListQuery[] = [{}];
  for (const [name, property] of Object.entries(query.properties)) {
    if (pagingOnly.has(name)) continue;
    const given = valuesOf(name, property, samples).map((value) => ({ [name]: value }));
    combinations = combinations.flatMap((others) => [others, ...given.map((one) => ({ ...others, ...one }))]);
  }
  return combinations;
}

function valuesOf(name: string, { type, enum: choices, items, maxItems = 1 }: Property, samples: Samples): ListQuery[string][] {
  if (choices) return choices;
  if (name === "fact") return samples.texts.map((text) => `breed:${text}`);
  if (type === "boolean") return [true, false];
  if (type === "integer") return samples.integers;
  if (type === "string") return samples.texts;
  if (items?.enum) return [...items.enum.map((choice) => [choice]), items.enum.slice(1)];
  if (items?.type === "integer") return [Array.from({ length: maxItems }, (_, i) => 1 + i * 7)];
  if (items?.type === "string") return [samples.texts];
  throw new Error(`the parameter ${name} is of a kind that no values are known for`);
}

/** How many rows a page of this query may have to look at, and for how many repeated values. */
export function shareOf(query: ListQuery, limit: number): { rows: number; values: number } {
  const lists = Object.values(query).filter((value) => Array.isArray(value));
  const ids = lists.find((values) => typeof values[0] === "number");
  const others = lists.filter((values) => values !== ids);
  return { rows: Math.max(limit, ids?.length ?? 0), values: others.reduce((product, { length }) => product * length, 1) };
}

/** The query as it stands in a URL. */
export function textOf(query: ListQuery): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)]));
  return new URLSearchParams(pairs).toString();
}
