import { referenceTexts } from "../texts/en-reference.ts";
import { nameIn } from "./description.ts";
import type { Schema } from "./openapi.ts";

const words = referenceTexts.constraints;

/** The type in a few words: `array of Pet`, `integer (int64)`, `string or null`. */
export function typeWords(schema: Schema): string {
  const nullable = schema.nullable === true ? ` ${words.nullable}` : "";
  const reference = referenceOf(schema);
  if (reference !== undefined) return nameIn(reference) + nullable;
  if (schema.type === "array") return words.arrayOf(typeWords(schema.items ?? {})) + nullable;
  const format = schema.format === undefined ? "" : ` (${schema.format})`;
  return `${schema.type ?? "any"}${format}${nullable}`;
}

/** The reference to the named schema that a schema is or extends. */
export function referenceOf({ $ref, allOf }: Schema): string | undefined {
  return $ref ?? allOf?.[0]?.$ref;
}

/** The constraints of a value and its default, each in a few words. */
export function constraintWords(schema: Schema): string[] {
  const { minLength = 0, maxLength, minItems = 0, maxItems } = schema;
  return [
    range(schema.minimum, schema.maximum),
    maxLength === undefined ? undefined : words.characters(minLength, maxLength),
    maxItems === undefined ? undefined : words.items(minItems, maxItems),
    schema.default === undefined ? undefined : words.default(JSON.stringify(schema.default)),
  ].filter((constraint) => constraint !== undefined);
}

function range(low: number | undefined, high: number | undefined): string | undefined {
  if (low !== undefined && high !== undefined) return words.between(low.toLocaleString(), high.toLocaleString());
  if (low !== undefined) return words.atLeast(low.toLocaleString());
  return high === undefined ? undefined : words.atMost(high.toLocaleString());
}
