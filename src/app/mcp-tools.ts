import type { IncomingHttpHeaders } from "node:http";
import type { TSchema } from "typebox";
import { type DescribedOperation, readingOf } from "../platform/http/operation.ts";
import { baseOf, int32Max, isForPrograms } from "../platform/http/schemas.ts";
import { invalidAt } from "../platform/problem.ts";

/** A tool as `tools/list` shows it. It has no title: the name says as much, and the list must stay short. */
type ListedTool = {
  name: string;
  description: string;
  inputSchema: ShownSchema;
  annotations: { readOnlyHint: true } | { destructiveHint: boolean; idempotentHint?: true };
  _meta?: Record<string, unknown>;
};

/** An operation that agents may call. */
export type Tool = {
  /** The caller must have all of them. */
  scopes: string[];
  shown: ListedTool;
  /** The names of all its arguments, those that are not shown included. */
  accepted: string[];
  required: string[];
  /** The arguments that are in its path. */
  inPath: string[];
  /** The field of its answer that shows a secret. */
  secret: string | undefined;
};

/** The key of `_meta` under which a tool and its result name the fields with secrets (specification 1.15). */
export const secretsKey = "petstore/secrets";

const dryRun = { type: "boolean", description: "true: only show what would happen." };
const ifMatch = { type: "string", description: "`ifMatch` of the result to change." };
const idempotencyKey = { type: "string", description: "Calls with the same text happen once." };
const cursor = { type: "string", description: "`next` of the page before." };

/**
 * The tools for agents, made from the declarations of the operations (specification 1.15). Operations that are deprecated, take files or stream have
 * none, nor has a replacement of a whole resource that an update covers. Later tools of the same scope do not repeat what one says of a field.
 */
export function toolsOf(operations: readonly DescribedOperation[]): Tool[] {
  const said = new Map<string, Set<string>>();
  return operations
    .filter((operation) => isForAgents(operation, operations))
    .map((operation) => {
      const scopes = scopesOf(operation);
      return toolOf(
        operation,
        scopes,
        said.getOrInsertComputed(scopes.join(" "), () => new Set<string>()),
      );
    });
}

/** The scopes that the caller of an operation must have. */
function scopesOf({ scope, alsoScope }: DescribedOperation): string[] {
  return [scope, alsoScope].filter((one) => typeof one === "string");
}

function isForAgents(
  { deprecated, upload, method, path, answers }: DescribedOperation,
  operations: readonly DescribedOperation[],
): boolean {
  const isCovered = method === "PUT" && !(201 in answers) && operations.some((other) => other.method === "PATCH" && other.path === path);
  const isJson = Object.values(answers).every(({ mediaType }) => mediaType === undefined);
  return !deprecated && !upload && !isCovered && isJson;
}

function toolOf(operation: DescribedOperation, scopes: string[], said: Set<string>): Tool {
  const { operationId: name, description, secret, params, query, body, isBodyOptional } = operation;
  const ids = params ? schemaForAgents(params).properties! : {};
  const filters = query ? schemaForAgents(query).properties! : {};
  const inPath = Object.keys(ids);
  const required = body && !isBodyOptional ? [...inPath, "body"] : inPath;
  const options = Object.entries(optionsOf(operation));
  const properties = {
    ...Object.fromEntries(Object.entries(ids).map(([id, { description: _repeated, ...schema }]) => [id, schema])),
    ...filters,
    ...("cursor" in filters && { cursor }),
    ...(body && { body: schemaForAgents(body, { ...readingOf(operation), without: "id" }) }),
    ...Object.fromEntries(options.filter(([, { isShown }]) => isShown).map(([option, { schema }]) => [option, schema])),
  };
  const inputSchema = { type: "object", properties, ...(required.length > 0 && { required }) };
  const shown: ListedTool = {
    name,
    description: secret === undefined ? description : `${description} Shows a secret once: \`${secret}\`.`,
    inputSchema: withoutRepeats(inputSchema, said),
    annotations: annotationsOf(operation),
    ...(secret !== undefined && { _meta: { [secretsKey]: [secret] } }),
  };
  const { properties: inQuery = {} }: { properties?: object } = query ?? {};
  const accepted = [...new Set([...Object.keys(properties), ...Object.keys(inQuery), ...options.map(([option]) => option)])];
  return { scopes, shown, accepted, required, inPath, secret };
}

type Option = { schema: ShownSchema; isShown: boolean };

/** The arguments that become headers of the request. Where few agents need one, the tool accepts it, but does not show it. */
function optionsOf({ method, body, dryRun: hasDryRun, problems, answers }: DescribedOperation): Record<string, Option> {
  const isConditional = problems?.includes("precondition_failed") || (method === "GET" && answers[200]?.headers?.includes("ETag"));
  return {
    ...(hasDryRun && { dryRun: { schema: dryRun, isShown: true } }),
    ...(isConditional && { ifMatch: { schema: ifMatch, isShown: body !== undefined && method !== "POST" } }),
    ...(method === "POST" && { idempotencyKey: { schema: idempotencyKey, isShown: body !== undefined } }),
  };
}

/** The hints that differ from the protocol's defaults; for a tool that changes something also whether it destroys. */
function annotationsOf({ method, path, answers }: DescribedOperation): ListedTool["annotations"] {
  if (method === "GET") return { readOnlyHint: true };
  // A rotation ends what it replaces.
  const adds = method === "POST" && 201 in answers && !path.endsWith("/rotate");
  return { destructiveHint: !adds, ...(method !== "POST" && { idempotentHint: true }) };
}

/** What a call of a tool sends to its operation. */
export type ToolRequest = { params: Record<string, string>; query: string; headers: IncomingHttpHeaders; body: unknown };

/** Returns the request for a call of a tool. @throws Problem `invalid_request` for arguments that cannot be part of it */
export function requestOf({ shown, accepted, required, inPath }: Tool, given: Record<string, unknown>): ToolRequest {
  const present = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  const [unknown] = present.find(([name]) => !accepted.includes(name)) ?? [];
  if (unknown !== undefined) throw invalidAt(unknown, notAnArgument(unknown, shown, accepted));
  const { body, dryRun: isDryRun, ifMatch: version, idempotencyKey: key, ...inUrl } = Object.fromEntries(present);
  const missing =
    required.find((name) => name !== "body" && !(name in inUrl)) ?? (required.includes("body") && body === undefined ? "body" : undefined);
  if (missing !== undefined) throw invalidAt(missing, "is required");
  if (isDryRun !== undefined && typeof isDryRun !== "boolean") throw invalidAt("dryRun", "must be true or false");
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(inUrl)) {
    if (inPath.includes(name)) continue;
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, textOf(name, each));
  }
  const params = Object.fromEntries(inPath.map((name) => [name, textOf(name, inUrl[name]).toWellFormed()]));
  const headers = {
    ...(isDryRun === true && { prefer: "dry-run" }),
    ...(version !== undefined && { "if-match": textOf("ifMatch", version) }),
    ...(key !== undefined && { "idempotency-key": textOf("idempotencyKey", key) }),
  };
  return { params, query: query.toString(), headers, body };
}

function notAnArgument(name: string, { name: tool, inputSchema }: ListedTool, accepted: string[]): string {
  const isField = Object.hasOwn(inputSchema.properties?.["body"]?.properties ?? {}, name);
  return isField ? "belongs in `body`" : `is not an argument of ${tool}, which has ${accepted.join(", ") || "none"}`;
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw invalidAt(name, "must be a text, a number, true or false");
}

/** A JSON Schema as `tools/list` shows it. */
type ShownSchema = {
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
function schemaForAgents(schema: TSchema, options: { nullIsAbsent?: boolean; without?: string } = {}): ShownSchema {
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

/**
 * The bounds and the default of a value. Leaves out what does not help an agent: a bound that only repeats the range of the type, the default of a
 * switch, and that of a number that has a maximum.
 */
function boundsOf({ minimum, maximum, default: value }: DeclaredSchema): ShownSchema {
  return {
    ...(minimum !== undefined && minimum > 1 && { minimum }),
    ...(maximum !== undefined && maximum < int32Max && { maximum }),
    ...(value !== undefined && value !== false && maximum === undefined && { default: value }),
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
function withoutRepeats(schema: ShownSchema, said: Set<string>, name = ""): ShownSchema {
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
