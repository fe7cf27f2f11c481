import { earlierKey } from "../platform/folding.ts";
import { Problem } from "../platform/problem.ts";
import { listed } from "./lists.ts";
import type { Mapping } from "./mapping-schema.ts";

/** The columns that a mapping names. */
export function columnsOf({ id, name, category, status, stock, description, price, photos, facts, ignore = [] }: Mapping): string[] {
  const single = [id, typeof stock === "object" ? stock.column : undefined, price?.column, price?.currencyColumn];
  const { own = [], ...known } = facts ?? {};
  const lists = [name, category, status, description, photos, ...Object.values(known)].flatMap((field) => field?.columns ?? []);
  return [...new Set([...single.filter((column) => column !== undefined), ...lists, ...own, ...ignore])];
}

/** @throws Problem `invalid_request` if the header lacks a column of the mapping */
export function checkColumns(mapping: Mapping, header: readonly string[], file: string): void {
  const missing = columnsOf(mapping).filter((column) => !header.includes(column));
  if (missing.length === 0) return;
  const has = listed(header.slice(0, 30)).slice(0, 500);
  throw new Problem("invalid_request", `${file} has no column “${missing.join("”, “")}”. Its columns are: ${has}.`);
}

/** Folding takes quadratic time in runs of combining marks, so longer values are compared unfolded. */
const foldedCharactersMax = 1_000;

/** The form in which cells and the mapping's `values` are compared: trimmed and folded. */
export function valueKey(value: string): string {
  const text = value.trim();
  return text.length <= foldedCharactersMax ? earlierKey(text) : text;
}
