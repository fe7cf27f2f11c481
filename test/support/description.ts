import { Ajv, type ValidateFunction } from "ajv";
import { resolved } from "../../client/references.ts";
import { parseDateTime } from "../../src/platform/http/dates.ts";

type Json = Record<string, unknown>;
export type Media = { schema: Json; example?: unknown; examples?: Record<string, { value: unknown }> };
export type Described = { description: string; headers?: Record<string, Json>; content?: Record<string, Media> };
export type DescribedOperation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  deprecated?: boolean;
  "x-scopes": string[];
  "x-stability"?: string;
  "x-hideTryItPanel"?: boolean;
  "x-sunset"?: string;
  "x-codeSamples": { lang: string; source: string }[];
  parameters: { name: string; in: "path" | "query" | "header"; required?: boolean; schema: Json; example?: unknown }[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Described>;
};
export type Document = {
  openapi: string;
  info: { title: string; version: string; contact?: object };
  servers: { url: string }[];
  tags: { name: string }[];
  "x-tagGroups": { name: string; tags: string[] }[];
  security: Json[];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { securitySchemes: Record<string, Json>; schemas: Record<string, Json>; headers: Record<string, Json> };
};

/** An operation with its place in the document. */
export type Operation = DescribedOperation & { method: string; path: string };

/** Every operation of the document, in its order, with the parts that it shares with others put in. */
export function operationsIn(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const parameters = operation.parameters.map((parameter) => resolved(document, parameter));
      const responses = Object.entries(operation.responses).map(([status, response]) => [status, resolved(document, response)]);
      const whole = { parameters, responses: Object.fromEntries(responses) as DescribedOperation["responses"] };
      return { ...operation, ...whole, method: method.toUpperCase(), path };
    }),
  );
}

/** The example request of an operation: its path below `/v1`, with the query, and its body and content type. */
export function exampleOf(operation: Operation, params: Json = {}): { path: string; body?: unknown; contentType?: string } {
  const values = (where: string) => operation.parameters.filter((parameter) => parameter.in === where && "example" in parameter);
  let { path } = operation;
  for (const { name, example } of values("path")) path = path.replace(`{${name}}`, String(params[name] ?? example));
  const query = new URLSearchParams(values("query").map(({ name, example }) => [name, String(example)])).toString();
  const [media] = Object.entries(operation.requestBody?.content ?? {});
  return { path: query ? `${path}?${query}` : path, ...(media && { body: media[1].example, contentType: media[0] }) };
}

/** The least documented status of success. */
export function successOf(operation: Operation): number {
  return Math.min(
    ...Object.keys(operation.responses)
      .map(Number)
      .filter((status) => status < 300),
  );
}

const ajv = new Ajv({ allErrors: true, strict: false });
ajv.addFormat("int64", { type: "number", validate: Number.isSafeInteger });
ajv.addFormat("date-time", { type: "string", validate: (text: string) => parseDateTime(text) !== undefined });
/** By the text of the schema: all refusals have the same, and a file may check answers against two copies of the description. */
const validators = new Map<string, ValidateFunction>();

function validatorOf(schema: Json, document: Document): ValidateFunction {
  const whole = strict(dereferenced(schema, document)) as Json;
  const text = JSON.stringify(whole);
  const validate = validators.get(text) ?? ajv.compile(whole);
  validators.set(text, validate);
  return validate;
}

/**
 * Returns a check of bodies against the description, which says what is wrong with a body for an operation's status.
 * Objects are strict: a field that the description does not name is wrong.
 */
export function bodyChecker(document: Document): (operation: Operation, status: number, body: unknown) => string[] {
  const compiled = new Map<string, ValidateFunction>();
  return (operation, status, body) => {
    const described = operation.responses[status];
    if (!described) return [`${operation.operationId} does not describe a ${status}`];
    const schema = described.content?.["application/json"]?.schema;
    if (!schema) return body === "" ? [] : [`${operation.operationId} describes no body for ${status}`];
    const name = `${operation.operationId} ${status}`;
    const validate = compiled.get(name) ?? validatorOf(schema, document);
    compiled.set(name, validate);
    return validate(body) ? [] : (validate.errors ?? []).map((error) => `${name}: body${error.instancePath} ${error.message}`);
  };
}

/** A value of the document with each reference resolved. */
export function dereferenced(value: unknown, document: Document): unknown {
  if (Array.isArray(value)) return value.map((item) => dereferenced(item, document));
  if (typeof value !== "object" || value === null) return value;
  if ("$ref" in value) return dereferenced(resolved(document, value as { $ref: string }), document);
  if ("allOf" in value) return variantOf(value as { allOf: [Json]; nullable?: boolean }, document);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, dereferenced(member, document)]));
}

/** A use of a named schema, which may also be null (OpenAPI 3.0 knows no other way to say so). */
function variantOf({ allOf: [base], nullable }: { allOf: [Json]; nullable?: boolean }, document: Document): Json {
  const schema = dereferenced(base, document) as Json;
  return nullable ? { anyOf: [schema, { type: "null" }] } : schema;
}

/** A schema whose objects have no fields but those that it names, though the description leaves room for those of later versions. */
export function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, strict(member)]));
  const isClosed = members["type"] === "object" && (members["additionalProperties"] === undefined || "properties" in members);
  return isClosed ? { ...members, additionalProperties: false } : members;
}
