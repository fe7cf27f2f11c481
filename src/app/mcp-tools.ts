import type { IncomingHttpHeaders } from "node:http";
import { readingOf, type DescribedOperation } from "../platform/http/operation.ts";
import { invalidAt } from "../platform/problem.ts";
import { schemaForAgents, withoutRepeats, type ShownSchema } from "./mcp-schemas.ts";

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

const dryRun = { type: "boolean", description: "true: only show what would happen, and change nothing." };
const ifMatch = { type: "string", description: "The version in an earlier result: the change happens only if it is still the same." };
const idempotencyKey = { type: "string", description: "Any text: calls with the same one happen once." };
const cursor = { type: "string", description: "The `next` of the page before." };

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
