import type { Content, Operation } from "../description.ts";
import type { Parameter } from "../openapi.ts";

/** The entered values by `fieldId`, with the body as text or as a file. */
export type Draft = { values: Record<string, string>; mediaType: string; body: string; file?: File | undefined };

/** A complete request without the key. Header names have the description's case. */
export type Request = { method: string; url: string; headers: [name: string, value: string][]; body?: string | File };

/** Includes the place, because two parameters in different places, such as path and query, may have the same name. */
export function fieldId({ in: place, name }: Parameter): string {
  return `${place}:${name}`;
}

/** The initial draft, from the description's examples. */
export function draftOf({ parameters, body }: Operation): Draft {
  const examples = parameters.map((parameter) => [fieldId(parameter), textOf(parameter.example)]);
  const content = body[0];
  return { values: Object.fromEntries(examples) as Draft["values"], mediaType: content?.type ?? "", body: exampleBody(content) };
}

export function exampleBody(content: Content | undefined): string {
  return content?.example === undefined ? "" : JSON.stringify(content.example, undefined, 2);
}

export function isJson(mediaType: string): boolean {
  return /[/+]json$/.test(mediaType);
}

/** The path parameters without a value; an empty one would address another operation. */
export function missingIn({ parameters }: Operation, draft: Draft): Parameter[] {
  return parameters.filter((parameter) => parameter.in === "path" && (draft.values[fieldId(parameter)] ?? "") === "");
}

/** Builds the request of a draft. Empty parameters are not sent; array parameters are repeated for each value. */
export function requestOf(operation: Operation, baseUrl: string, draft: Draft): Request {
  const sent = operation.parameters
    .map((parameter) => ({ parameter, value: draft.values[fieldId(parameter)] ?? "" }))
    .filter(({ value }) => value !== "");
  const inPath = new Map(sent.filter(({ parameter }) => parameter.in === "path").map(({ parameter, value }) => [parameter.name, value]));
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_all, name: string) => encodeURIComponent(inPath.get(name) ?? ""));
  const query = new URLSearchParams();
  for (const { parameter, value } of sent) {
    if (parameter.in === "query") for (const one of valuesOf(parameter, value)) query.append(parameter.name, one);
  }
  const headers = sent
    .filter(({ parameter }) => parameter.in === "header")
    .map(({ parameter, value }): [string, string] => [parameter.name, value]);
  const body = operation.body.length === 0 ? undefined : isJson(draft.mediaType) ? draft.body : draft.file;
  if (body !== undefined) headers.push(["Content-Type", draft.mediaType]);
  const search = query.toString();
  return { method: operation.method, url: baseUrl + path + (search && `?${search}`), headers, ...(body !== undefined && { body }) };
}

/** The same request as a curl command, with `$API_KEY` in place of the key. */
export function curlOf({ method, url, headers, body }: Request): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`,
    `-H "Authorization: Bearer $API_KEY"`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
  ];
  if (typeof body === "string") lines.push(`--data-raw ${quoted(body)}`);
  else if (body) lines.push(`--data-binary ${quoted(`@${body.name}`)}`);
  return lines.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function valuesOf({ schema }: Parameter, value: string): string[] {
  if (schema?.type !== "array") return [value];
  return value
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}

function textOf(example: unknown): string {
  if (example === undefined) return "";
  return typeof example === "string" ? example : Array.isArray(example) ? example.join(", ") : JSON.stringify(example);
}
