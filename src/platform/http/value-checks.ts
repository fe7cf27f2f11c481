import type { TSchema } from "typebox";
import { canonicalJson } from "../canonical-json.ts";
import { detailsMax, type Detail } from "../problem.ts";
import { parseDateTime } from "./dates.ts";

/**
 * Checks a value, adds its problems to `found`, and returns the value to use: trimmed, with its defaults. Objects
 * and arrays are changed in place.
 */
export type Check = (value: unknown, path: string, found: Detail[]) => unknown;

/** Options of a check. */
export type CheckOptions = {
  /** Whether an optional field that is `null` counts as absent, unless its schema allows null. Default: false. */
  nullIsAbsent?: boolean;
};

type Schema = {
  type?: string;
  nullable?: boolean;
  enum?: (string | number | null)[];
  const?: string | number;
  anyOf?: TSchema[];
  properties?: Record<string, TSchema>;
  required?: string[];
  /** A schema: that of all fields that `properties` does not name. */
  additionalProperties?: boolean | TSchema;
  items?: TSchema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  description?: string;
  example?: unknown;
  /** The text is trimmed before it is checked. This says what is wrong if it does not match the pattern. */
  "x-text"?: string;
  /** The pattern that the description shows. The operation itself checks the value, with a message for each mistake. */
  "x-pattern"?: string;
  /** Whether the text must have a visible character. Its pattern cannot say so, because not every language's regular expressions know Unicode. */
  "x-visible"?: boolean;
};

/** The expression of a schema's pattern. */
const regexOf = (pattern: string): RegExp => new RegExp(pattern, "u");

/** Keywords of JSON Schema that few schemas need, each with the values that it accepts. They share one message, which names the keyword. */
const furtherKeywords = new Map<string, (value: unknown, bound: unknown) => boolean>(
  Object.entries({
    minProperties: (value, least) => namesOf(value).length >= Number(least),
    maxProperties: (value, most) => namesOf(value).length <= Number(most),
    propertyNames: (value, names) => namesOf(value).every((name) => regexOf((names as { pattern: string }).pattern).test(name)),
    uniqueItems: (value, isAsked) => isAsked !== true || areUnique(value as unknown[]),
    exclusiveMinimum: (value, bound) => Number(value) > Number(bound),
    exclusiveMaximum: (value, bound) => Number(value) < Number(bound),
    multipleOf: (value, step) => Number.isInteger(Number(value) / Number(step)),
  } satisfies Record<string, (value: unknown, bound: unknown) => boolean>),
);

const namesOf = (value: unknown): string[] => Object.keys(value as object);
const areUnique = (items: readonly unknown[]): boolean => new Set(items.map(canonicalJson)).size === items.length;

const keywords: ReadonlySet<string> = new Set([
  ...(["type", "nullable", "enum", "const", "anyOf", "default", "description", "example"] satisfies (keyof Schema)[]),
  ...(["properties", "required", "additionalProperties", "items", "minItems", "maxItems"] satisfies (keyof Schema)[]),
  ...(["minLength", "maxLength", "pattern", "format", "x-text", "x-visible", "x-pattern", "minimum", "maximum"] satisfies (keyof Schema)[]),
  ...furtherKeywords.keys(),
]);

type Format<T> = { fits: (value: T) => boolean; message: string };

const numberFormats: Record<string, Format<number>> = {
  int64: { fits: (value) => value >= -(2 ** 63) && value < 2 ** 63, message: "must be within int64" },
  int32: { fits: (value) => value >= -(2 ** 31) && value < 2 ** 31, message: "must be within int32" },
};

const textFormats: Record<string, Format<string>> = {
  "date-time": {
    fits: (value) => parseDateTime(value) !== undefined,
    message: "must be a date and time of RFC 3339 with a zone",
  },
};

/**
 * Compiles a schema to a check that takes linear time and stops after `detailsMax` problems. It checks the number of items before the items,
 * and the length of a text before its pattern and format.
 *
 * @throws TypeError if the schema has a keyword, a type or a format that this module does not know
 */
export function checkOf(schema: TSchema, reading: CheckOptions = {}): Check {
  const known = schema as Schema;
  const unknown = Object.keys(known).find((keyword) => !keywords.has(keyword));
  if (unknown !== undefined) throw new TypeError(`the keyword ${unknown} of a schema is not known`);
  if (known.format !== undefined && !(known.format in numberFormats || known.format in textFormats))
    throw new TypeError(`the format ${known.format} is not known`);
  const check = withFurther(known, checkOfForm(known, reading));
  return known.nullable ? (value, path, found) => (value === null ? null : check(value, path, found)) : check;
}

function checkOfForm(schema: Schema, reading: CheckOptions): Check {
  if (schema.anyOf !== undefined) return checkOfAny(schema.anyOf, reading);
  if (schema.const !== undefined) return checkOfEnum([schema.const]);
  return schema.enum === undefined ? checkOfType(schema, reading) : checkOfEnum(schema.enum);
}

function checkOfAny(schemas: readonly TSchema[], reading: CheckOptions): Check {
  const checks = schemas.map((schema) => checkOf(schema, reading));
  return (value, path, found) => {
    for (const check of checks) {
      const wrong: Detail[] = [];
      const checked = check(structuredClone(value), path, wrong); // a check changes what it refuses
      if (wrong.length === 0) return checked;
    }
    return refused(found, path, "has none of the forms that it may have");
  };
}

/** Returns a check that looks at the further keywords of a schema, once a value has passed the check of all others. */
function withFurther(schema: Schema, check: Check): Check {
  const further = Object.entries(schema).flatMap(([keyword, bound]) => {
    const accepts = furtherKeywords.get(keyword);
    return accepts === undefined ? [] : [{ accepts, bound, message: `must fit ${keyword}: ${JSON.stringify(bound)}` }];
  });
  if (further.length === 0) return check;
  return (value, path, found) => {
    const before = found.length;
    const checked = check(value, path, found);
    if (found.length > before) return checked;
    const missed = further.find(({ accepts, bound }) => !accepts(checked, bound));
    return missed ? refused(found, path, missed.message) : checked;
  };
}

function checkOfType(schema: Schema, reading: CheckOptions): Check {
  switch (schema.type) {
    case "object":
      return checkOfObject(schema, reading);
    case "array":
      return checkOfArray(schema, reading);
    case "string":
      return checkOfText(schema);
    case "integer":
    case "number":
      return checkOfNumber(schema);
    case "boolean":
      return (value, path, found) => (typeof value === "boolean" ? value : refused(found, path, "must be boolean"));
    default:
      throw new TypeError(`the type ${schema.type} of a schema is not known`);
  }
}

function checkOfEnum(allowed: readonly unknown[]): Check {
  const message = `must be one of ${allowed
    .filter((value) => value !== null)
    .map(String)
    .join(", ")}`;
  return (value, path, found) => (allowed.includes(value) ? value : refused(found, path, message));
}

function checkOfObject({ properties = {}, required = [], additionalProperties }: Schema, reading: CheckOptions): Check {
  const checks = new Map(Object.entries(properties).map(([name, schema]) => [name, checkOf(schema, reading)]));
  const other = typeof additionalProperties === "object" ? checkOf(additionalProperties, reading) : undefined;
  const dropped = reading.nullIsAbsent ? optionalWithoutNull(properties, required) : [];
  const defaults = Object.entries(properties as Record<string, Schema>).filter(([, schema]) => schema.default !== undefined);

  return (value, path, found) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return refused(found, path, "must be object");
    const object = value as Record<string, unknown>;
    for (const name of dropped) if (Object.hasOwn(object, name) && object[name] === null) delete object[name];
    for (const [name, schema] of defaults) if (!has(object, name)) object[name] = schema.default;
    for (const name of required) if (!has(object, name)) refused(found, `${path}.${name}`, "is required");
    for (const name of additionalProperties === false || other ? Object.keys(object) : []) {
      if (found.length >= detailsMax) return value;
      if (checks.has(name)) continue;
      if (other) object[name] = other(object[name], `${path}.${shortened(name)}`, found);
      else refused(found, `${path}.${shortened(name)}`, "is not a known field");
    }
    for (const [name, check] of checks) {
      if (found.length >= detailsMax) return value;
      if (has(object, name)) object[name] = check(object[name], `${path}.${name}`, found);
    }
    return value;
  };
}

function optionalWithoutNull(properties: Record<string, TSchema>, required: string[]): string[] {
  return Object.entries(properties as Record<string, Schema>)
    .filter(([name, { nullable }]) => !required.includes(name) && nullable !== true)
    .map(([name]) => name);
}

function checkOfArray({ items, minItems = 0, maxItems = Infinity }: Schema, reading: CheckOptions): Check {
  if (items === undefined) throw new TypeError("an array needs a schema of its items");
  const check = checkOf(items, reading);
  return (value, path, found) => {
    if (!Array.isArray(value)) return refused(found, path, "must be array");
    const array = value as unknown[];
    if (array.length < minItems) return refused(found, path, `must have at least ${counted(minItems, "item")}`);
    if (array.length > maxItems) return refused(found, path, `must have at most ${counted(maxItems, "item")}`);
    for (let i = 0; i < array.length && found.length < detailsMax; i++) array[i] = check(array[i], `${path}[${i}]`, found);
    return array;
  };
}

/** A character that shows: no space, control, default-ignorable or annotation character, and not the empty braille pattern. */
const visible = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\uFFF9-\uFFFB]/u;

function checkOfText(schema: Schema): Check {
  const { minLength = 0, maxLength = Infinity, pattern, format, "x-text": textMessage, "x-visible": needsVisible = false } = schema;
  const regex = pattern === undefined ? undefined : regexOf(pattern);
  const isText = textMessage !== undefined;
  const mismatch = textMessage ?? `must match ${pattern}`;
  const { fits, message } = textFormats[format ?? ""] ?? {};
  return (value, path, found) => {
    if (typeof value !== "string") return refused(found, path, "must be string");
    const text = isText ? value.trim() : value;
    if (isLonger(text, maxLength)) return refused(found, path, `must have at most ${counted(maxLength, "character")}`);
    if (!isLonger(text, minLength - 1)) return refused(found, path, `must have at least ${counted(minLength, "character")}`);
    if (isText && !text.isWellFormed()) return refused(found, path, "must be well-formed text");
    if (regex && !regex.test(text)) return refused(found, path, mismatch);
    if (needsVisible && !visible.test(text)) return refused(found, path, mismatch);
    return fits && !fits(text) ? refused(found, path, message ?? "") : text;
  };
}

function checkOfNumber({ type, format, minimum = -Infinity, maximum = Infinity }: Schema): Check {
  const { fits, message } = numberFormats[format ?? ""] ?? {};
  return (value, path, found) => {
    if (type === "integer" && !Number.isInteger(value)) return refused(found, path, "must be integer");
    if (typeof value !== "number" || !Number.isFinite(value)) return refused(found, path, "must be number");
    if (value < minimum) return refused(found, path, `must be at least ${minimum}`);
    if (value > maximum) return refused(found, path, `must be at most ${maximum}`);
    return fits && !fits(value) ? refused(found, path, message ?? "") : value;
  };
}

function has(object: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(object, name) && object[name] !== undefined;
}

function refused(found: Detail[], path: string, message: string): undefined {
  if (found.length < detailsMax) found.push({ path, message });
  return undefined;
}

/** Whether a text has more than `max` code points. Counts them only if the number of UTF-16 units does not settle it. */
function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters > max;
}

function counted(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? "" : "s"}`;
}

/** Returns the name of a field, cut to a length that fits into a message. */
export function shortened(name: string): string {
  return name.slice(0, 200);
}

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);
/** The largest number below 2^63 that a double can hold. */
const int64MaxNumber = 2 ** 63 - 1_024;

/**
 * Converts an integer to a number that is within int64; returns undefined if the integer is not. Exact up to 2^53, the range of identifiers.
 */
export function int64Number(exact: bigint): number | undefined {
  return exact < int64Min || exact > int64Max ? undefined : Math.min(Number(exact), int64MaxNumber);
}
