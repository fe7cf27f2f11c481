import type { Detail } from "../problem.ts";
import { pascalCase, share, shareIfFree, type Components } from "./description-components.ts";
import { alsoOnEveryAnswer, deprecationHeaders, everyAnswer, headerReferences, readsResource } from "./description-headers.ts";
import { keptStatuses } from "./idempotency.ts";
import type { DescribedOperation } from "./operation.ts";
import { baseOf, nameOf } from "./schemas.ts";
import { errorTable, statusOf, type ProblemCode } from "../error-table.ts";

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
  for (const [text, uses] of Map.groupBy(all, (refusal) => refusal.text)) {
    const [{ operationId, status, responses }] = uses as [(typeof all)[number]];
    if (uses.length === 1 || text.startsWith('{"$ref"')) continue;
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
