import { problemCodes } from "../error-table.ts";
import { Type, type Static, type TObject, type TOptional, type TProperties, type TSchema } from "../json-schema.ts";
import { limitDefault } from "./paging.ts";

const nameKey = Symbol("name");
const baseKey = Symbol("base");
const parameterKey = Symbol("parameter");
const openKey = Symbol("open");
const forProgramsKey = Symbol("for programs");
/** A symbol stays on a schema that is made optional, and validators and serialisers ignore it. */
type MarkedSchema = {
  [nameKey]?: string | undefined;
  [baseKey]?: TSchema | undefined;
  [parameterKey]?: string | undefined;
  [openKey]?: true;
  [forProgramsKey]?: true;
};

/** Gives a schema the name under which the description lists it; wherever it is used, the description refers to it. */
export function named<T extends TSchema>(name: string, schema: T): T {
  return Object.assign(schema, { [nameKey]: name, [baseKey]: undefined });
}

/** The name of a schema in the description, if it has one. */
export function nameOf(schema: TSchema): string | undefined {
  return (schema as MarkedSchema)[nameKey];
}

/** A named schema with another description or default. The OpenAPI description refers to the named schema. */
export function variant<T extends TSchema>(base: T, notes: { description?: string; default?: Static<T> }): T {
  return useOf(base, { ...base, ...notes });
}

/** The named schema that a schema was made from, if any. */
export function baseOf(schema: TSchema): TSchema | undefined {
  return (schema as MarkedSchema)[baseKey];
}

function useOf<T extends TSchema>(base: TSchema, schema: T): T {
  return Object.assign(schema, { [nameKey]: undefined, [baseKey]: base });
}

/** A named string or integer type with these values. */
export function enumeration<const V extends string | number>(name: string, values: readonly V[], description?: string) {
  const type = values.every((value) => typeof value === "number") ? "integer" : "string";
  return named(name, Type.Unsafe<V>({ type, enum: [...values], ...(description && { description }) }));
}

/** The order of a list, `-` for descending. It has no name in the description: generators for Go make a constant `ID` of `id` in each named list, and these collide. */
export const Sort = <const V extends string>(values: readonly V[], description: string) =>
  Type.Unsafe<V>({ type: "string", enum: [...values], description: `${description} \`-\` is descending.` });

/**
 * A named string type that has these values in this version. Later versions may add values, so clients must accept others: the description lists
 * them under `x-extensible-enum`.
 */
export function openEnumeration<const V extends string>(name: string, values: readonly V[], description?: string) {
  return asOpen(enumeration(name, values, description));
}

/** Marks a list of values as one that grows. */
function asOpen<T extends TSchema>(schema: T): T {
  return Object.assign(schema, { [openKey]: true });
}

/** Whether later versions may add values to an enumeration. */
export function isOpenEnumeration(schema: object): boolean {
  return (schema as MarkedSchema)[openKey] === true;
}

/** A text of an answer that has one of these values in this version, and may have others in later ones. */
export const OpenText = (values: readonly string[], description: string) =>
  asOpen(Type.Unsafe<string>({ type: "string", enum: [...values], ...(description && { description }) }));

export const int32Max = 2_147_483_647;

/** An identifier that the service assigned: int64 on the wire, below 2^53 in fact (specification 1.2). */
export const Id = (description: string) => Type.Integer({ format: "int64", description });

/**
 * Text that people write: trimmed, then measured in characters, without NUL and unpaired surrogates. Each pattern can match a text in
 * only one way, so matching takes linear time. Answers are described without these bounds, so that a later version may widen them.
 */
export const Text = (description: string, lengthMin: number, lengthMax: number) =>
  Type.String({
    description,
    minLength: lengthMin,
    maxLength: lengthMax,
    pattern: lengthMin > 0 ? "^\\s*[^\\s\\x00][^\\x00]*$" : "^[^\\x00]*$",
    "x-text": "must not hold a NUL character",
  });

/**
 * A name that people write: text with a visible character, and without C0 controls but those that are trimmed. A stored name may be older
 * than this rule, so answers use `Text`.
 */
export const Name = (description: string, lengthMax: number) =>
  Type.String({
    description,
    minLength: 1,
    maxLength: lengthMax,
    pattern: "^\\s*[^\\s\\x00-\\x1F][^\\x00-\\x1F]*(?:[\\t-\\r]\\s*)?$",
    "x-text": "must have a visible character and no control characters",
    "x-visible": true,
  });

/** The most rows that one read by their ids returns. */
const idsMax = 100;

/** The query of a read of several rows by their ids, for the rows of a page of a list: `id=1&id=2`. */
export const IdsQuery = Type.Object({ id: Type.Array(Type.Integer({ format: "int64" }), { minItems: 1, maxItems: idsMax }) });

/** The resource's identifier in the body of a write. It must equal this path parameter, and is then ignored. */
export const OwnId = (parameter: string) => Object.assign(Id(""), { [parameterKey]: parameter });

/** Marks a field that programs need and agents do not, such as one that clients only send back. Tools accept it, and do not show it. */
export function forPrograms<T extends TSchema>(schema: T): T {
  return Object.assign(schema, { [forProgramsKey]: true as const });
}

/** Whether tools leave a field out. */
export function isForPrograms(schema: TSchema): boolean {
  return (schema as MarkedSchema)[forProgramsKey] === true;
}

/** The path parameter that a field of a body must equal, if any. */
export function parameterOf(schema: TSchema): string | undefined {
  return (schema as MarkedSchema)[parameterKey];
}

/**
 * The body of a PUT or PATCH that also accepts these fields of the resource, so that clients can write back what they read. The
 * description shows only the model, because these fields change nothing.
 */
export function writtenBack<M extends TProperties, F extends TProperties>(model: TObject<M>, fields: F) {
  const optional = Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]);
  const properties = { ...model.properties, ...(Object.fromEntries(optional) as { [K in keyof F]: TOptional<F[K]> }) };
  return useOf(model, Type.Object(properties, { additionalProperties: false }));
}

/** A date and time of RFC 3339 with a zone: see `dates.ts`. */
export const DateTime = (description: string) => Type.String({ format: "date-time", description });

/** The schema, with `null` allowed too. */
export function Nullable<T extends TSchema>(schema: T) {
  const values = (schema as { enum?: unknown[] }).enum;
  const nullable = Type.Unsafe<Static<T> | null>({ ...schema, nullable: true, ...(values && { enum: [...values, null] }) });
  const base = nameOf(schema) === undefined ? baseOf(schema) : schema;
  return base ? useOf(base, nullable) : nullable;
}

/** The paging parameters that every list has. */
export const paging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: limitDefault, description: "The most items to return." })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description: "Where the page begins: taken from the `Link` header of the page before, with the same filters and sort.",
    }),
  ),
};

/** A record that proves a right to a name. */
export const Challenge = named(
  "DomainChallenge",
  Type.Object(
    { type: openEnumeration("ChallengeType", ["TXT"]), name: Type.String(), value: Type.String() },
    { additionalProperties: false, description: "A second record to create if another account has used the name." },
  ),
);

export const ErrorSchema = named(
  "Error",
  Type.Object({
    code: OpenText(problemCodes, "Machine-readable error code."),
    message: Type.String({ description: "Human-readable description." }),
    status: Type.Integer({ description: "The HTTP status code." }),
    details: Type.Optional(
      Type.Array(
        named(
          "ErrorDetail",
          Type.Object({
            path: Type.String({
              description:
                "Where the value is: `body.name`, `query.limit`, `path.petId`, `header.Idempotency-Key`, or the whole `body` or `request`.",
            }),
            message: Type.String({ description: "What is wrong with it." }),
          }),
        ),
        { description: "With a 400 or 422: the values that were refused, at most 20." },
      ),
    ),
    challenge: Type.Optional(
      variant(Challenge, {
        description:
          "With `domain_taken`, where another account has the name: the DNS record that proves that it is yours. Create it, then add the name again.",
      }),
    ),
  }),
);
export type ErrorBody = Static<typeof ErrorSchema>;
