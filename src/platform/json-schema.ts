import type { Static, TObject, TOptional, TProperties, TSchema, Type as Typebox } from "typebox";

export type { Static, TObject, TOptional, TProperties, TSchema };

type Builders = Pick<typeof Typebox, "Array" | "Boolean" | "Enum" | "Integer" | "Number" | "Object" | "Optional" | "String" | "Unsafe">;
type Keywords = Record<string, unknown>;

/** Not enumerable, so that a copy of an optional schema is not optional. */
const optionalKey = Symbol("optional");

/**
 * Makes JSON Schemas. The types are typebox's, and each builder makes the same JSON as typebox's builder of that name. Loading typebox
 * itself would open 680 files, which costs each start 70 ms of CPU and 13 MiB.
 */
export const Type = {
  Array: (items: TSchema, keywords?: Keywords) => ({ type: "array", items, ...keywords }),
  Boolean: (keywords?: Keywords) => ({ type: "boolean", ...keywords }),
  Enum: (values: unknown[], keywords?: Keywords) => ({ enum: values, ...keywords }),
  Integer: (keywords?: Keywords) => ({ type: "integer", ...keywords }),
  Number: (keywords?: Keywords) => ({ type: "number", ...keywords }),
  Object(properties: Record<string, TSchema>, keywords?: Keywords) {
    const required = Object.keys(properties).filter((name) => !(optionalKey in (properties[name] as object)));
    return { type: "object", ...(required.length > 0 && { required }), properties, ...keywords };
  },
  Optional: (schema: TSchema) => Object.defineProperty({ ...schema }, optionalKey, { value: true }),
  String: (keywords?: Keywords) => ({ type: "string", ...keywords }),
  Unsafe: (schema: TSchema) => schema,
} as unknown as Builders;
