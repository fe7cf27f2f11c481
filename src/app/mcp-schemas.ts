import type { TSchema } from "typebox";
import { baseOf, int32Max, isForPrograms } from "../platform/http/schemas.ts";

/** A JSON Schema as `tools/list` shows it. */
export type ShownSchema = {
  type?: string | string[];
  enum?: unknown[];
  description?: string;
  properties?: Record<string, ShownSchema>;
  items?: ShownSchema;
  [keyword: string]: unknown;
};

/** The most values of an enumeration that agents see; for a longer one the description names an example. */
const valuesMax = 10;

type DeclaredSchema = {
  type?: string;
  enum?: unknown[];
  description?: string;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  format?: string;
  nullable?: boolean;
  items?: TSchema;
  properties?: Record<string, TSchema>;
  required?: string[];
};

/**
 * A schema of the API as agents read it: what guides a model, in few bytes. It refuses nothing that the service accepts; patterns and lengths, for
 * example, are left to the service, whose refusals say what is wrong. It keeps the first sentence of a description.
 *
 * @param options.nullIsAbsent whether an optional field may be null. Default: false
 * @param options.without a field to leave out
 */
export function schemaForAgents(schema: TSchema, options: { nullIsAbsent?: boolean; without?: string } = {}): ShownSchema {
  const { type, enum: values, description = "", format, nullable, items, properties, required = [] } = schema as DeclaredSchema;
  const [text = ""] = description.split(/(?<=\.) (?=[A-Z])/, 1);
  const shown: ShownSchema = {
    ...(values && values.length <= valuesMax ? { enum: values } : { type: type ?? "string" }),
    ...(format === "date-time" && { format }),
    ...boundsOf(schema),
    ...(saysMoreThanName(text) && { description: text }),
    ...(items && { items: schemaForAgents(items, options) }),
  };
  if (properties) {
    const { properties: model = properties }: DeclaredSchema = baseOf(schema) ?? {};
    const fields = Object.entries(model).filter(([name, field]) => name !== options.without && !isForPrograms(field));
    const { nullIsAbsent = false } = options;
    const ofField = ([name, field]: [string, TSchema]): [string, ShownSchema] => {
      const one = schemaForAgents(field, { nullIsAbsent });
      return [name, nullIsAbsent && !required.includes(name) ? orNull(one) : one];
    };
    shown.properties = Object.fromEntries(fields.map(ofField));
    if (required.length > 0) shown["required"] = required;
  }
  return nullable === true ? orNull(shown) : shown;
}

/** The bounds and the default of a value. A bound that only says how far its type reaches tells an agent nothing. */
function boundsOf({ minimum, maximum, default: value }: DeclaredSchema): ShownSchema {
  return {
    ...(minimum !== undefined && minimum > 1 && { minimum }),
    ...(maximum !== undefined && maximum < int32Max && { maximum }),
    ...(value !== undefined && { default: value }),
  };
}

/** Whether a description of a field says more than its name: up to five plain words do not. */
function saysMoreThanName(text: string): boolean {
  return text.split(" ").length > 5 || /[`,]/.test(text);
}

function orNull(schema: ShownSchema): ShownSchema {
  const { type, enum: values } = schema;
  if (values) return values.includes(null) ? schema : { ...schema, enum: [...values, null] };
  return Array.isArray(type) ? schema : { ...schema, type: [type!, "null"] };
}

/** Leaves out each description of a field that is in `said` for a field of the same name, and adds the others to `said`. */
export function withoutRepeats(schema: ShownSchema, said: Set<string>, name = ""): ShownSchema {
  const { description, properties, items, ...rest } = schema;
  const key = `${name}: ${description}`;
  const isNew = description !== undefined && !said.has(key);
  said.add(key);
  const fields = Object.entries(properties ?? {}).map(([field, one]) => [field, withoutRepeats(one, said, field)]);
  return {
    ...rest,
    ...(isNew && { description }),
    ...(items && { items: withoutRepeats(items, said, name) }),
    ...(properties && { properties: Object.fromEntries(fields) as Record<string, ShownSchema> }),
  };
}
