import { resolved } from "./references.ts";

type Schema = {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  nullable?: boolean;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  /** One reference to a named schema, to which `description` belongs. */
  allOf?: [Schema];
  anyOf?: Schema[];
  /** The values of this version; later ones may have more. */
  "x-extensible-enum"?: string[];
  description?: string;
};
type OrReference<T> = T | { $ref: string };
type Response = { content?: Content };
type Content = Record<string, { schema: Schema }>;
type Parameter = { name: string; in: string; required?: boolean; schema: Schema; description?: string };
type Operation = {
  operationId: string;
  summary?: string;
  deprecated?: boolean;
  parameters?: OrReference<Parameter>[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, OrReference<Response>>;
};
/** The parts of an OpenAPI 3.0 description that types are generated from. */
export type Description = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } };

type Member = { name: string; type: string; required: boolean; description?: string | undefined };

/** Keywords that do not affect the type. `typeOf` must know every other keyword: types are exact or not generated. */
const withoutType = /^(format|default|description|example|pattern|(min|max)(imum|Length|Items)|x-.*)$/;

/**
 * Returns a TypeScript file with the types of a description for `openapi-fetch`: `Schemas` by name, and `paths` by path and
 * method. Types that users may have under a former name keep that name too. @throws Error that names an unknown keyword
 */
export function typesOf(document: Description, formerNames: Record<string, string> = {}): string {
  const { paths, components } = document;
  const schemas: Member[] = Object.entries(components.schemas).map(([name, schema]) => ({ name, type: typeOf(schema), required: true }));
  for (const [name, type] of Object.entries(formerNames))
    schemas.push({ name, type, required: true, description: "@deprecated a former name" });
  const routes = Object.entries(paths).map(([path, methods]) => ({ name: path, type: methodsOf(document, methods), required: true }));
  return [
    "// Made from openapi.json by `npm run description`.\n",
    'type Json<T> = { content: { readonly "application/json": T } };',
    "type Empty = { content?: never };\n",
    `export type Schemas = ${object(schemas)};\n`,
    `export type paths = ${object(routes)};\n`,
  ].join("\n");
}

function methodsOf(document: Description, methods: Record<string, Operation>): string {
  return object(
    Object.entries(methods).map(([method, operation]) => {
      const title = `${operation.operationId}${operation.summary ? `: ${operation.summary}` : ""}`;
      const description = operation.deprecated ? `${title} @deprecated` : title;
      return { name: method, type: operationOf(document, operation), required: true, description };
    }),
  );
}

function operationOf(document: Description, { parameters = [], requestBody, responses }: Operation): string {
  const answers = Object.entries(responses).map(([status, response]) => {
    const { content } = resolved(document, response);
    return { name: status, type: answerOf(content), required: true };
  });
  return object([
    { name: "parameters", type: parametersOf(parameters.map((parameter) => resolved(document, parameter))), required: true },
    ...(requestBody
      ? [{ name: "requestBody", type: `{ content: ${contentOf(requestBody.content)} }`, required: requestBody.required === true }]
      : []),
    { name: "responses", type: object(answers), required: true },
  ]);
}

function parametersOf(parameters: Parameter[]): string {
  const places = Map.groupBy(parameters, (parameter) => parameter.in);
  return object(
    Array.from(places, ([place, group]) => {
      const members = group.map(({ schema, required = false, ...rest }) => ({ ...rest, type: parameterOf(schema), required }));
      return { name: place, type: object(members), required: members.some(({ required }) => required) };
    }),
  );
}

/** A parameter that is a list may be a single value too, which is sent in the same form. */
function parameterOf(schema: Schema): string {
  return schema.type === "array" && schema.items ? `${typeOf(schema.items)} | ${typeOf(schema)}` : typeOf(schema);
}

function answerOf(content: Content | undefined): string {
  if (content === undefined) return "Empty";
  const [media, ...others] = Object.entries(content);
  if (media === undefined || others.length > 0) throw new Error(`no type for an answer of ${Object.keys(content).join(", ")}`);
  if (media[0] !== "application/json") return `{ content: ${contentOf(content)} }`;
  return `Json<${typeOf(media[1].schema)}>`;
}

function contentOf(content: Content): string {
  return object(Object.entries(content).map(([media, { schema }]) => ({ name: media, type: typeOf(schema), required: true })));
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return `Schemas[${JSON.stringify(schema.$ref.replace(/^#\/components\/schemas\//, ""))}]`;
  const {
    type,
    enum: closed,
    "x-extensible-enum": open,
    nullable,
    items,
    properties,
    required,
    additionalProperties,
    allOf,
    anyOf,
    ...rest
  } = schema;
  const values = closed ?? open;
  const unknown = Object.keys(rest).find((keyword) => !withoutType.test(keyword));
  if (unknown !== undefined) throw new Error(`no type for the keyword ${unknown}`);
  if (anyOf) return anyOf.map(typeOf).join(" | ");
  const found = values?.map((value) => JSON.stringify(value)) ?? [
    allOf ? typeOf(allOf[0]) : plainTypeOf({ type, items, properties, required, additionalProperties }),
  ];
  return [...new Set(nullable ? [...found, "null"] : found)].join(" | ");
}

function plainTypeOf({ type, items, properties, required = [], additionalProperties }: Schema): string {
  if (type === "string" || type === "boolean") return type;
  if (type === "integer" || type === "number") return "number";
  if (type === "array" && items) return `(${typeOf(items)})[]`;
  if (type === "object" && properties && typeof additionalProperties !== "object")
    return object(
      Object.entries(properties).map(([name, schema]) => {
        return { name, type: typeOf(schema), required: required.includes(name), description: schema.description };
      }),
    );
  if (type === "object" && additionalProperties === true) return "Record<string, unknown>";
  throw new Error(`no type for a schema of type ${type}`);
}

function object(members: Member[]): string {
  const lines = members.map(({ name, type, required, description }) => {
    const comment = description ? `/** ${description.replaceAll("*/", "*\\/")} */\n` : "";
    return `${comment}${/^[A-Za-z_]\w*$|^\d+$/.test(name) ? name : JSON.stringify(name)}${required ? "" : "?"}: ${type};`;
  });
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n").replaceAll(/^/gm, "  ")}\n}`;
}
