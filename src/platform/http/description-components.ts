import type { TSchema } from "typebox";
import { errorTable, type ProblemCode, statusOf } from "../error-table.ts";
import type { Detail } from "../problem.ts";
import { keptStatuses } from "./idempotency.ts";
import type { DescribedOperation } from "./operation.ts";
import { baseOf, isOpenEnumeration, nameOf, Nullable } from "./schemas.ts";
import type { CheckOptions } from "./value-checks.ts";

type Json = Record<string, unknown>;
type Reference = { $ref: string };
type Kind = "schemas" | "parameters" | "responses" | "examples";

/** The parts that operations share: the description has each named part once, and refers to it. */
export type Components = Record<Kind, Json>;

/** Components without any part. */
export function emptyComponents(): Components {
  return { schemas: {}, parameters: {}, responses: {}, examples: {} };
}

/**
 * Adds a part under a name and returns a reference to it.
 *
 * @throws Error if another part already has the name
 */
export function share(components: Components, kind: Kind, name: string, part: unknown): Reference {
  if (!isFree(components, kind, name, part)) throw new Error(`two different ${kind} are named ${name}`);
  components[kind][name] = part;
  return { $ref: `#/components/${kind}/${name}` };
}

/** Shares a part as `share` does; if another part already has the name, returns the part itself. */
export function shareIfFree<T>(components: Components, kind: Kind, name: string, part: T): T | Reference {
  return isFree(components, kind, name, part) ? share(components, kind, name, part) : part;
}

/** `PetId` for `petId`, `ForbiddenCatalogueWrite` for `forbidden-catalogue:write`. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_all, first: string) => first.toUpperCase());
}

function isFree(components: Components, kind: Kind, name: string, part: unknown): boolean {
  const known = components[kind][name];
  return known === undefined || JSON.stringify(known) === JSON.stringify(part);
}

/**
 * Where a schema is used. Objects of requests are closed. Those of answers are open, which the description says explicitly: otherwise the clients of some
 * generators refuse an unknown field. Nor do answers bound the texts that people write: a later version may allow others.
 */
export type Use = CheckOptions & { isRequest?: boolean };

/**
 * A schema as the description shows it: a named one as a reference. With `nullIsAbsent` an optional field may be null; if it has a named
 * type, it still refers to that type, and generators make it that type or null. A model that requests and answers share has two forms if they
 * differ: `Price`, and `PriceInput` in requests.
 */
export function describeSchema(schema: TSchema, components: Components, reading: Use = {}): unknown {
  const name = nameOf(schema);
  if (name !== undefined) {
    const part = plain(schema, components, reading);
    const isOther = reading.isRequest === true && !isFree(components, "schemas", name, part);
    return share(components, "schemas", isOther ? `${name}Input` : name, part);
  }
  const base = baseOf(schema);
  if (base === undefined) return plain(schema, components, reading);
  const { description, default: value, nullable, type } = schema as Json;
  if (nullable === true && !reading.isRequest) {
    // A reference to an object or to a closed list of values excludes null, whatever stands beside it.
    if (!isOpenEnumeration(base)) throw new Error(`in answers, give ${nameOf(base)} or null a name of its own`);
    return plain(schema, components, reading);
  }
  const reference = describeSchema(base, components, reading);
  const notes = withDefault(description, value);
  if (nullable === true) return { type, allOf: [reference], nullable, ...(notes !== undefined && { description: notes }) };
  return notes === undefined || notes === (base as Json)["description"] ? reference : { allOf: [reference], description: notes };
}

/**
 * Copies a schema. Moves each default from its keyword into the description: generators treat a property with the keyword `default` as
 * required in answers, and answers share models with requests. Leaves out empty descriptions, and the keywords that only this service's own
 * validation uses.
 */
function plain(schema: unknown, components: Components, reading: Use): unknown {
  if (Array.isArray(schema)) return schema.map((item: unknown) => plain(item, components, reading));
  if (schema === null || typeof schema !== "object") return schema;
  const { default: value, ...rest } = (reading.nullIsAbsent ? withNulls(schema) : schema) as Json & { description?: string };
  const { enum: values, ...others } = rest;
  const isOpen = Array.isArray(values) && isOpenEnumeration(schema);
  const shown = isOpen ? { ...others, "x-extensible-enum": values.filter((one) => one !== null) } : rest;
  const isRequest = reading.isRequest === true;
  const entries = Object.entries(shown)
    .filter(([key, member]) => !(ownKeywords.has(key) || (key === "description" && member === "")))
    .filter(([key]) => isRequest || !("x-text" in schema && textBounds.has(key)))
    .map(([key, member]) => [key, describeMember(member, components, reading)]);
  const copy = Object.fromEntries(entries) as Json;
  if (isRequest && "x-pattern" in schema) copy["pattern"] = schema["x-pattern"];
  if (!isRequest && copy["type"] === "object" && "properties" in copy) copy["additionalProperties"] = true;
  const notes = withDefault(rest.description, value);
  return { ...typeOfEnum(rest), ...copy, ...(notes && { description: notes }) };
}

/** Keywords of this service's own validation. */
const ownKeywords: ReadonlySet<string> = new Set(["x-text", "x-visible", "x-pattern"]);
const textBounds: ReadonlySet<string> = new Set(["minLength", "maxLength", "pattern"]);

/** An object whose optional fields may be null; anything else as it is. */
function withNulls(schema: object): object {
  const { type, properties, required = [] } = schema as { type?: unknown; properties?: Record<string, TSchema>; required?: string[] };
  if (type !== "object" || properties === undefined) return schema;
  const entries = Object.entries(properties).map(([name, member]) => [name, required.includes(name) ? member : Nullable(member)]);
  return { ...schema, properties: Object.fromEntries(entries) as unknown };
}

function describeMember(member: unknown, components: Components, reading: Use): unknown {
  const isSchema = typeof member === "object" && member !== null && (nameOf(member) ?? baseOf(member)) !== undefined;
  return isSchema ? describeSchema(member, components, reading) : plain(member, components, reading);
}

function withDefault(description: unknown, value: unknown): string | undefined {
  const text = typeof description === "string" ? description : undefined;
  if (value === undefined) return text;
  return [text, `Default: \`${typeof value === "string" ? value : JSON.stringify(value)}\`.`].filter(Boolean).join(" ");
}

/** The type of an `enum` that declares none: some generators need it. */
function typeOfEnum({ type, enum: values }: Json): Json {
  if (type !== undefined || !Array.isArray(values)) return {};
  return { type: values.every((value) => typeof value === "number") ? "integer" : "string" };
}

const integer = { type: "integer" };
const text = { type: "string" };

/** The response headers of the API, as the description's components (specification 1.4, 1.11 and 4.3). */
const responseHeaders = {
  "X-RateLimit-Limit": {
    description: "The quota of the window with the fewest requests left: the minute or the day.",
    schema: integer,
    example: 1000,
  },
  "X-RateLimit-Remaining": { description: "Requests left in that window.", schema: integer, example: 999 },
  "X-RateLimit-Reset": { description: "When that window resets, as a Unix timestamp in seconds.", schema: integer, example: 1798761600 },
  RateLimit: {
    description: "Both windows: requests left and seconds until the reset (draft-ietf-httpapi-ratelimit-headers-11).",
    schema: text,
    example: '"minute";r=999;t=42, "day";r=99999;t=4242',
  },
  "RateLimit-Policy": {
    description: "Both windows: quota and length in seconds (draft-ietf-httpapi-ratelimit-headers-11).",
    schema: text,
    example: '"minute";q=1000;w=60, "day";q=100000;w=86400',
  },
  "X-Request-Id": {
    description: "The id of the request, also in the service's log: your own if you sent a valid one.",
    schema: text,
    example: "q7Zk2PpW-1f",
  },
  "Retry-After": { description: "Seconds until the next request can pass.", schema: integer, example: 42 },
  "X-RateLimit-Strikes-Remaining": {
    description: "Requests over the limit that are left until the key is banned.",
    schema: integer,
    example: 199,
  },
  "WWW-Authenticate": { description: "How to authenticate (RFC 9110, 11.6.1).", schema: text, example: 'Bearer realm="petstore"' },
  ETag: { description: "The version of the resource, for `If-Match` and `If-None-Match`.", schema: text, example: '"v1"' },
  Link: {
    description: 'The next page, as `<…>; rel="next"` (RFC 8288). Absent on the last one.',
    schema: text,
    example: '</v1/pets?limit=20&cursor=WyIxIiwyMF0>; rel="next"',
  },
  Location: { description: "The address of the new resource.", schema: text, example: "/v1/pets/4" },
  "Idempotent-Replayed": {
    description: "`true` if this is the answer to an earlier request with the same `Idempotency-Key`.",
    schema: text,
    example: "true",
  },
  "Preference-Applied": { description: "`dry-run` if nothing has changed, as `Prefer` asked.", schema: text, example: "dry-run" },
  "Events-Oldest": { description: "The position of the oldest event that is kept.", schema: integer, example: 42 },
  Deprecation: {
    description: "Only on a deprecated operation: since when it is deprecated (RFC 9745).",
    schema: text,
    example: "@1767225600",
  },
  Sunset: {
    description: "Only on a deprecated operation: when it ends (RFC 8594).",
    schema: text,
    example: "Fri, 31 Dec 2027 00:00:00 GMT",
  },
} as const;

type ResponseHeader = keyof typeof responseHeaders;

/**
 * On every answer of the API, as the introduction says; described with each success and with a 429. Every generator of clients makes code for each
 * header of each answer.
 */
export const everyAnswer: ResponseHeader[] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/** Also on every answer of the API; described once, with the 429. */
const alsoOnEveryAnswer: ResponseHeader[] = ["RateLimit", "RateLimit-Policy", "X-Request-Id"];

/** Headers that every operation takes; the reference describes them once, in its introduction. */
export const everyRequest: Record<string, Record<string, unknown>> = Object.fromEntries(
  Object.entries({
    "X-Request-Id": {
      description:
        "Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes.",
      schema: text,
    },
    traceparent: { description: "The trace that the request belongs to (W3C Trace Context), for the service's log.", schema: text },
  }).map(([name, parameter]) => [name, { name, in: "header", ...parameter, "x-of-every-operation": true }]),
);

/** On every answer of a deprecated operation. */
export const deprecationHeaders: ResponseHeader[] = ["Deprecation", "Sunset", "Link"];

/** References to headers, by name, as a response has them. */
export function headerReferences(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${componentOf(name)}` }]));
}

/** The response headers as components of the description. */
export function headerComponents(): Record<string, unknown> {
  return Object.fromEntries(Object.entries(responseHeaders).map(([name, header]) => [componentOf(name), header]));
}

/** `Reset` for `X-RateLimit-Reset`: references to headers are a third of the description, so their names are short. */
function componentOf(header: string): string {
  return header.replace(/^X-(RateLimit-)?/, "").replaceAll("-", "");
}

/** Whether an operation reads one resource: it then answers with the resource's ETag and evaluates conditional headers. */
export function readsResource({ read, answers }: DescribedOperation): boolean {
  return read !== undefined && Object.values(answers).some(({ headers }) => headers?.includes("ETag"));
}

const titles: Record<number, string> = {
  400: "The request is not valid.",
  401: "The API key is missing or not valid.",
  403: "The key or the account may not do this.",
  404: "The resource does not exist.",
  406: "The answer would be JSON, which `Accept` excludes.",
  409: "The request conflicts with the current state.",
  410: "The operation is gone.",
  412: "A precondition is not met.",
  413: "The body is too large.",
  415: "The operation does not accept this content type.",
  422: "The request is well-formed, but the service cannot carry it out.",
  429: "Too many requests: wait for `Retry-After` seconds.",
  431: "The request line and the headers are too large. The connection is closed.",
  500: "Something went wrong in the service.",
  503: "The service cannot take the request now.",
};

/** Answers that are the same for every operation, by status; the description has each once. */
const sharedNames: Record<number, string> = {
  401: "Unauthorized",
  406: "NotAcceptable",
  413: "PayloadTooLarge",
  415: "UnsupportedMediaType",
  429: "TooManyRequests",
  431: "HeadersTooLarge",
  500: "InternalError",
  503: "Unavailable",
};

/** The headers of refusals beside those of every answer, by code. */
const headersOfCodes: Partial<Record<ProblemCode, string[]>> = {
  unauthorized: ["WWW-Authenticate"],
  events_expired: ["Events-Oldest"],
  rate_limit_exceeded: ["Retry-After", "X-RateLimit-Strikes-Remaining"],
  key_banned: ["Retry-After", "X-RateLimit-Strikes-Remaining"],
  unavailable: ["Retry-After"],
};

/** Recorded refusals, by operationId and code: `npm run errors` provokes each and writes its answer down. */
export type ErrorExamples = Record<
  string,
  Partial<Record<string, { message: string; details?: Detail[]; challenge?: { type: string; name: string; value: string } }>>
>;

/** Every refusal that an operation may give: its own, and those that follow from its form. */
function problemsOf(operation: DescribedOperation): ProblemCode[] {
  const codes: ProblemCode[] = [
    "invalid_request",
    "unauthorized",
    "forbidden",
    "not_acceptable",
    "rate_limit_exceeded",
    "key_banned",
    "headers_too_large",
    "internal",
    "unavailable",
  ];
  if (operation.body || operation.upload) codes.push("payload_too_large", "unsupported_media_type");
  if (readsResource(operation)) codes.push("precondition_failed");
  if (operation.method === "POST") {
    codes.push("idempotency_key_in_use");
    if (operation.body || operation.upload) codes.push("idempotency_key_reused");
  }
  return [...codes, ...(operation.problems ?? [])];
}

/** The descriptions of an operation's refusals, by status, with an example for each code. */
export function describeProblems(
  operation: DescribedOperation,
  components: Components,
  recorded: ErrorExamples[string] | undefined = {},
): Record<string, unknown> {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => statusOf(code));
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [status, describeRefusal(operation, { status, codes, recorded }, components)]),
  );
}

type Refusal = { status: number; codes: ProblemCode[]; recorded: ErrorExamples[string] };

function describeRefusal(operation: DescribedOperation, { status, codes, recorded }: Refusal, components: Components): unknown {
  const sharedName = sharedNames[status];
  if (sharedName !== undefined) {
    return share(components, "responses", sharedName, responseOf(status, codes, []));
  }
  const deprecation = operation.deprecated ? deprecationHeaders : [];
  const replayed = operation.method === "POST" && keptStatuses.has(status) ? ["Idempotent-Replayed"] : [];
  const response = responseOf(status, codes, [...deprecation, ...replayed], recorded);
  const name = nameOfRefusal(operation, status, codes);
  return name === undefined ? response : shareIfFree(components, "responses", name, response);
}

/** How the name of a shared refusal begins, by status. */
const sharedPrefixes: Record<string, string> = {
  400: "BadRequest",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  422: "Unprocessable",
};

/** The answers of a described operation. */
export type DescribedAnswers = { operationId: string; responses: Record<string, unknown> };

/** Replaces refusals that several operations describe in the same words by references to one. It is named after the first of the operations. */
export function shareRepeated(operations: readonly DescribedAnswers[], components: Components): void {
  const all = operations.flatMap(({ operationId, responses }) =>
    Object.keys(responses)
      .filter((status) => Number(status) >= 400)
      .map((status) => ({ operationId, responses, status, text: JSON.stringify(responses[status]) })),
  );
  for (const [json, uses] of Map.groupBy(all, (refusal) => refusal.text)) {
    const [{ operationId, status, responses }] = uses as [(typeof all)[number]];
    if (uses.length === 1 || json.startsWith('{"$ref"')) continue;
    const reference = share(components, "responses", `${sharedPrefixes[status] ?? status}${pascalCase(operationId)}`, responses[status]);
    for (const use of uses) use.responses[use.status] = reference;
  }
}

/** The name of a refusal that several operations may share: its only code, or its subject; undefined if only this operation has it. */
function nameOfRefusal({ scope, body, params }: DescribedOperation, status: number, codes: ProblemCode[]): string | undefined {
  const { properties = {} } = (params ?? {}) as { properties?: object };
  const parameter = Object.keys(properties).at(-1);
  if (status === 400) return pascalCase(`bad-request-${(body && nameOf(baseOf(body) ?? body)) ?? parameter ?? "query"}`);
  if (status === 403 && codes.length === 1) return pascalCase(`forbidden-${scope}`);
  if (status === 404) return parameter && pascalCase(`not-found-${parameter}`);
  return codes.length === 1 ? pascalCase(String(codes[0]).replaceAll("_", "-")) : undefined;
}

function responseOf(status: number, codes: ProblemCode[], more: string[], recorded: ErrorExamples[string] = {}) {
  // The introduction says which headers every answer has. Repeated in each refusal, they would be a fifth of the description (decision 0078).
  const always = status === 429 ? [...everyAnswer, ...alsoOnEveryAnswer] : [];
  const headers = headerReferences([...always, ...codes.flatMap((code) => headersOfCodes[code] ?? []), ...more]);
  const examples = Object.fromEntries(
    codes.map((code) => [code, { value: { code, message: errorTable[code].example, status, ...recorded[code] } }]),
  );
  return {
    description: titles[status],
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" }, examples } },
  };
}
