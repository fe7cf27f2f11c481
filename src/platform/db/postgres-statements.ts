import type { Sql } from "sql-template-tag";
import type { BoundValue, Statement as FixedStatement } from "./statement.ts";

/** The most statements that a connection keeps prepared. It parses further ones each time. */
const namesMax = 500;
/** The most values of a prepared statement. Longer ones (batches, lists of ids) come in many lengths and would crowd the others out. */
const namedValuesMax = 24;

/** A statement for `pg`, which prepares it once per connection if it has a name. */
export type Statement = { text: string; values: unknown[]; name?: string; rowMode?: "array" };

const names = new Map<string, string>();

/** @throws TypeError for a value that a statement may not have */
export function statementOf(query: Sql): Statement {
  const { text } = query;
  const values = query.values.map(bound);
  const name = names.get(text) ?? (values.length <= namedValuesMax ? newName(text) : undefined);
  return name === undefined ? { text, values } : { name, text, values };
}

/** A statement of a fixed text, whose rows come as arrays. */
export function fixedStatementOf({ postgres: text }: FixedStatement, values: readonly BoundValue[]): Statement {
  const name = names.get(text) ?? (values.length <= namedValuesMax ? newName(text) : undefined);
  return { text, values: values.map(bound), rowMode: "array", ...(name !== undefined && { name }) };
}

function newName(text: string): string | undefined {
  if (names.size >= namesMax) return undefined;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);

/** Writes a number as text. Large whole numbers get all their digits, within int64: JavaScript would round the digits, even beyond int64. */
export function bound(value: unknown): string | boolean | null | Uint8Array {
  if (typeof value === "string" || value === null || typeof value === "boolean" || value instanceof Uint8Array) return value;
  if (typeof value !== "number") throw new TypeError(`a value of type ${typeof value} cannot be bound`);
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return String(value);
  const whole = BigInt(value);
  return String(whole > int64Max ? int64Max : whole < int64Min ? int64Min : whole);
}
