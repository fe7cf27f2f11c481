import type { InnerAnswer, InnerRequest } from "../platform/http/inner-calls.ts";
import type { DescribedOperation } from "../platform/http/operation.ts";
import { addressOf } from "../platform/http/api-surfaces.ts";
import type { Description } from "../platform/http/description.ts";
import { invalidAt } from "../platform/problem.ts";
import { inlinedOperation, type InlinedOperation } from "./inlined-description.ts";

type Json = Record<string, unknown>;
/** A tool as `tools/list` shows it. */
type Shown = {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: "object"; properties: Record<string, Json>; required: string[]; additionalProperties: false };
  annotations: { title: string; readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
};

/** An operation that agents may call. */
export type Tool = Pick<DescribedOperation, "method" | "path" | "scope"> & { shown: Shown; inPath: string[] };

/** The arguments that become headers of the request, for operations whose description has such a header. */
const headerArguments: Record<string, { argument: string; schema: Json }> = {
  Prefer: {
    argument: "dryRun",
    schema: { type: "boolean", description: "true: show what the call would do, and change nothing." },
  },
  "If-Match": {
    argument: "ifMatch",
    schema: { type: "string", description: "The ETag of an earlier result: changes the resource only if it has not changed since." },
  },
  "Idempotency-Key": {
    argument: "idempotencyKey",
    schema: { type: "string", description: "Makes the call safe to repeat for 24 hours: a repetition gets the first answer." },
  },
};

/**
 * The tools for agents, made from the operations and their description. Operations that are deprecated, replace a whole resource, take
 * files, stream, or show a secret have none.
 */
export function toolsOf(operations: readonly DescribedOperation[], description: Description): Tool[] {
  return operations.flatMap((operation) => {
    const described = inlinedOperation(description, operation.path, operation.method);
    return isForAgents(operation, described) ? [toolOf(operation, described)] : [];
  });
}

function isForAgents({ operationId, upload }: DescribedOperation, { deprecated, responses }: InlinedOperation): boolean {
  if (deprecated || upload || operationId.startsWith("replace")) return false;
  const answers = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  return answers.every(([status, { content }]) => {
    const answer = content?.["application/json"];
    return answer === undefined ? status === "204" || status === "202" : !showsSecret(answer.example);
  });
}

/** Whether an answer shows a secret. Its schema also serves answers that leave the secret out, so the example decides. */
function showsSecret(example: unknown): boolean {
  return /"secret":|"key":"ps[kp]_/.test(JSON.stringify(example ?? null));
}

function toolOf({ operationId: name, method, path, scope, tag }: DescribedOperation, described: InlinedOperation): Tool {
  const { summary: title, description, parameters, requestBody, responses } = described;
  const properties: Record<string, Json> = {};
  for (const { name: own, in: where, description: about, schema } of parameters) {
    const header = headerArguments[own];
    if (where === "header" && header) properties[header.argument] = header.schema;
    else if (where !== "header") properties[own] = { ...jsonSchema(schema), description: about };
  }
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  if (body) properties["body"] = { ...jsonSchema(body), description: requestBody?.description };
  const required = [...parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name), ...(body ? ["body"] : [])];
  const isRead = method === "GET";
  const annotations = {
    title,
    readOnlyHint: isRead,
    destructiveHint: !isRead && !("201" in responses),
    idempotentHint: method !== "POST",
    openWorldHint: tag === "Domains",
  };
  const inputSchema = { type: "object", properties, required, additionalProperties: false } as const;
  const inPath = parameters.filter((parameter) => parameter.in === "path").map((parameter) => parameter.name);
  return { method, path, scope, inPath, shown: { name, title, description, inputSchema, annotations } };
}

/** Converts a schema of OpenAPI 3.0 to JSON Schema: `nullable` becomes a type, and keywords that only OpenAPI has are removed. */
function jsonSchema(schema: Json): Json {
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === "nullable" || key === "example" || key.startsWith("x-")) return [];
    if (key === "properties") return [[key, mapped(value as Record<string, Json>)]];
    if (key === "items") return [[key, jsonSchema(value as Json)]];
    if (key === "allOf") return [[key, (value as Json[]).map(jsonSchema)]];
    return [[key, value]];
  });
  const plain = Object.fromEntries(entries);
  if (schema["nullable"] !== true) return plain;
  const { description, ...rest } = plain;
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: "null" }] };
}

function mapped(schemas: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, jsonSchema(schema)]));
}

/** Returns the request for a call of a tool. @throws Problem `invalid_request` for arguments that cannot be part of it */
export function requestOf({ method, path, shown, inPath }: Tool, given: Json): InnerRequest {
  const { properties, required } = shown.inputSchema;
  const names = Object.keys(properties);
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) throw invalidAt(`arguments.${name}`, `is not an argument of ${shown.name}, which has ${names.join(", ")}`);
  }
  const missing = required.find((name) => given[name] === undefined || given[name] === null);
  if (missing !== undefined) throw invalidAt(`arguments.${missing}`, "is required");
  const { body, dryRun, ifMatch, idempotencyKey, ...inUrl } = given;
  if (dryRun !== undefined && typeof dryRun !== "boolean") throw invalidAt("arguments.dryRun", "must be true or false");
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(inUrl)) {
    if (inPath.includes(name) || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, textOf(name, each));
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(textOf(name, inUrl[name]).toWellFormed()));
  const search = query.size > 0 ? `?${query.toString()}` : "";
  const headers = {
    ...(dryRun === true && { prefer: "dry-run" }),
    ...(ifMatch !== undefined && { "if-match": textOf("ifMatch", ifMatch) }),
    ...(idempotencyKey !== undefined && { "idempotency-key": textOf("idempotencyKey", idempotencyKey) }),
  };
  return { method, url: addressOf(filled) + search, headers, body };
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw invalidAt(`arguments.${name}`, "must be a text, a number, true or false");
}

/**
 * Converts an answer of an operation to the result of its tool: a list becomes `{items, next}`, where `next` is the `cursor` of the next page,
 * or `after` of the next events, or null. The ETag of a resource is a separate text, for `ifMatch`.
 */
export function resultOf({ status, headers, body }: InnerAnswer) {
  const shown = Array.isArray(body) ? { items: body as unknown[], next: nextOf(headers["link"]) } : ((body ?? {}) as Json);
  const content = [{ type: "text" as const, text: body === undefined ? "Done." : JSON.stringify(shown) }];
  const tag = headers["etag"];
  if (headers["preference-applied"] !== undefined) content.push({ type: "text", text: "This was a dry run: nothing has changed." });
  else if (tag !== undefined && status < 300 && !Array.isArray(body)) content.push({ type: "text", text: `ETag: ${tag}` });
  return { content, structuredContent: shown, ...(status >= 400 && { isError: true }) };
}

function nextOf(link: string | undefined): string | number | null {
  const [, target] = /^<([^>]*)>; rel="next"$/.exec(link ?? "") ?? [];
  const parameters = new URLSearchParams(target?.split("?")[1]);
  return parameters.has("after") ? Number(parameters.get("after")) : parameters.get("cursor");
}
