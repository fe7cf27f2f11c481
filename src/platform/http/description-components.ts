import type { TSchema } from "typebox";
import { baseOf, isOpenEnumeration, nameOf, Nullable } from "./schemas.ts";
import type { Reading } from "./value-checks.ts";

type Json = Record<string, unknown>;
type Reference = { $ref: string };
type Kind = "schemas" | "parameters" | "responses" | "examples";

/** The parts that operations share: the description has each named part once, and refers to it. */
export type Components = Record<Kind, Json>;

/** Components without any part. */
export function emptyComponents(): Components {
  return { schemas: {}, parameters: {}, responses: {}, examples: {} };
}

/**
 * Adds a part under a name and returns a reference to it.
 *
 * @throws Error if another part already has the name
 */
export function share(components: Components, kind: Kind, name: string, part: unknown): Reference {
  if (!isFree(components, kind, name, part)) throw new Error(`two different ${kind} are named ${name}`);
  components[kind][name] = part;
  return { $ref: `#/components/${kind}/${name}` };
}

/** Shares a part as `share` does; if another part already has the name, returns the part itself. */
export function shareIfFree<T>(components: Components, kind: Kind, name: string, part: T): T | Reference {
  return isFree(components, kind, name, part) ? share(components, kind, name, part) : part;
}

/** `PetId` for `petId`, `ForbiddenCatalogueWrite` for `forbidden-catalogue:write`. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_all, first: string) => first.toUpperCase());
}

function isFree(components: Components, kind: Kind, name: string, part: unknown): boolean {
  const known = components[kind][name];
  return known === undefined || JSON.stringify(known) === JSON.stringify(part);
}

/**
 * Where a schema is used. Objects of requests are closed. Those of answers are open, which the description says explicitly: otherwise the clients of some
 * generators refuse an unknown field. Nor do answers bound the texts that people write: a later version may allow others.
 */
export type Use = Reading & { isRequest?: boolean };

/**
 * A schema as the description shows it: a named one as a reference. With `nullIsAbsent` an optional field may be null; if it has a named
 * type, it still refers to that type, and generators make it that type or null. A model that requests and answers share has two forms if they
 * differ: `Price`, and `PriceInput` in requests.
 */
export function describeSchema(schema: TSchema, components: Components, reading: Use = {}): unknown {
  const name = nameOf(schema);
  if (name !== undefined) {
    const part = plain(schema, components, reading);
    const isOther = reading.isRequest === true && !isFree(components, "schemas", name, part);
    return share(components, "schemas", isOther ? `${name}Input` : name, part);
  }
  const base = baseOf(schema);
  if (base === undefined) return plain(schema, components, reading);
  const { description, default: value, nullable, type } = schema as Json;
  if (nullable === true && !reading.isRequest) {
    // A reference to an object or to a closed list of values excludes null, whatever stands beside it.
    if (!isOpenEnumeration(base)) throw new Error(`in answers, give ${nameOf(base)} or null a name of its own`);
    return plain(schema, components, reading);
  }
  const reference = describeSchema(base, components, reading);
  const notes = withDefault(description, value);
  if (nullable === true) return { type, allOf: [reference], nullable, ...(notes !== undefined && { description: notes }) };
  return notes === undefined || notes === (base as Json)["description"] ? reference : { allOf: [reference], description: notes };
}

/**
 * Copies a schema. Moves each default from its keyword into the description: generators treat a property with the keyword `default` as
 * required in answers, and answers share models with requests. Leaves out empty descriptions, and the keywords that only this service's own
 * validation uses.
 */
function plain(schema: unknown, components: Components, reading: Use): unknown {
  if (Array.isArray(schema)) return schema.map((item: unknown) => plain(item, components, reading));
  if (schema === null || typeof schema !== "object") return schema;
  const { default: value, ...rest } = (reading.nullIsAbsent ? withNulls(schema) : schema) as Json & { description?: string };
  const { enum: values, ...others } = rest;
  const isOpen = Array.isArray(values) && isOpenEnumeration(schema);
  const shown = isOpen ? { ...others, "x-extensible-enum": values.filter((one) => one !== null) } : rest;
  const isRequest = reading.isRequest === true;
  const entries = Object.entries(shown)
    .filter(([key, member]) => !(ownKeywords.has(key) || (key === "description" && member === "")))
    .filter(([key]) => isRequest || !("x-text" in schema && textBounds.has(key)))
    .map(([key, member]) => [key, describeMember(member, components, reading)]);
  const copy = Object.fromEntries(entries) as Json;
  if (isRequest && "x-pattern" in schema) copy["pattern"] = schema["x-pattern"];
  if (!isRequest && copy["type"] === "object" && "properties" in copy) copy["additionalProperties"] = true;
  const notes = withDefault(rest.description, value);
  return { ...typeOfEnum(rest), ...copy, ...(notes && { description: notes }) };
}

/** Keywords of this service's own validation. */
const ownKeywords: ReadonlySet<string> = new Set(["x-text", "x-visible", "x-pattern"]);
const textBounds: ReadonlySet<string> = new Set(["minLength", "maxLength", "pattern"]);

/** An object whose optional fields may be null; anything else as it is. */
function withNulls(schema: object): object {
  const { type, properties, required = [] } = schema as { type?: unknown; properties?: Record<string, TSchema>; required?: string[] };
  if (type !== "object" || properties === undefined) return schema;
  const entries = Object.entries(properties).map(([name, member]) => [name, required.includes(name) ? member : Nullable(member)]);
  return { ...schema, properties: Object.fromEntries(entries) as unknown };
}

function describeMember(member: unknown, components: Components, reading: Use): unknown {
  const isSchema = typeof member === "object" && member !== null && (nameOf(member) ?? baseOf(member)) !== undefined;
  return isSchema ? describeSchema(member, components, reading) : plain(member, components, reading);
}

function withDefault(description: unknown, value: unknown): string | undefined {
  const text = typeof description === "string" ? description : undefined;
  if (value === undefined) return text;
  return [text, `Default: \`${typeof value === "string" ? value : JSON.stringify(value)}\`.`].filter(Boolean).join(" ");
}

/** The type of an `enum` that declares none: some generators need it. */
function typeOfEnum({ type, enum: values }: Json): Json {
  if (type !== undefined || !Array.isArray(values)) return {};
  return { type: values.every((value) => typeof value === "number") ? "integer" : "string" };
}
