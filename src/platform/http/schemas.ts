import { Type, type TSchema } from "typebox";
import { limitDefault } from "./paging.ts";

const names = new WeakMap<TSchema, string>();

/** Gives a schema the name under which the description lists it; wherever it is used, the description refers to it. */
export function named<T extends TSchema>(name: string, schema: T): T {
  names.set(schema, name);
  return schema;
}

/** The name of a schema in the description, where it has one. */
export function nameOf(schema: TSchema): string | undefined {
  return names.get(schema);
}

export const int32Max = 2_147_483_647;

/** An identifier that the service assigned: int64 on the wire, below 2^53 in fact (decisions, part 1). */
export const Id = (description: string) => Type.Integer({ format: "int64", description });

/** Text as people write it: trimmed first, then measured in characters; no NUL, no half of a surrogate pair. */
export const Text = (description: string, lengthMin: number, lengthMax: number) =>
  Type.String({
    description,
    minLength: lengthMin,
    maxLength: lengthMax,
    pattern: lengthMin > 0 ? "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$" : "^[^\\u0000]*$",
    "x-text": true,
  });

/** RFC 3339 with a zone; see `dates.ts`. */
export const DateTime = (description: string) => Type.String({ format: "date-time", description });

/** The same schema, where `null` takes the value away (RFC 7396). */
export function Nullable<T extends TSchema>(schema: T) {
  const values = (schema as { enum?: unknown[] }).enum;
  return Type.Unsafe<Type.Static<T> | null>({ ...schema, nullable: true, ...(values && { enum: [...values, null] }) });
}

/** The paging parameters that every list has. */
export const paging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: limitDefault, description: "How many to answer at most." })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description: "Where the page begins: taken from the `Link` header of the page before, with the same filters and sort.",
    }),
  ),
};

export const ErrorSchema = named(
  "Error",
  Type.Object({
    code: Type.String({ description: "Machine-readable error code." }),
    message: Type.String({ description: "Human-readable description." }),
    status: Type.Integer({ description: "The HTTP status code." }),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: "Where the value stands: `body.name`, `query.limit`, `path.petId`." }),
          message: Type.String({ description: "What is wrong with it." }),
        }),
        { description: "With `invalid_request`: each value that was refused." },
      ),
    ),
  }),
);
