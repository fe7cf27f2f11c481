import type { Detail, ProblemCode } from "../problem.ts";
import { pascalCase, share, shareIfFree, type Components } from "./description-components.ts";
import { alsoOnEveryAnswer, deprecationHeaders, everyAnswer, headerReferences, readsResource } from "./description-headers.ts";
import { keptStatuses } from "./idempotency.ts";
import type { DescribedOperation } from "./operation.ts";
import { baseOf, nameOf } from "./schemas.ts";
import { statuses } from "./statuses.ts";
import { headersTooLarge } from "./unparsed.ts";

const messages: Record<ProblemCode, string> = {
  invalid_request: "body.name is required.",
  unauthorized: "The request needs a valid API key: Authorization: Bearer KEY, or X-API-Key: KEY.",
  forbidden: "The key lacks the scope catalogue:write.",
  confirmation_required: "Confirm your password first.",
  plan_required: "Custom domains need the plan pro or above.",
  storage_limit_reached:
    "The account stores 25,000 records (pets, categories and open orders) and may store 25,000: there is no room for 1 more. Delete some, or ask for a higher limit.",
  not_found: "There is no pet 12.",
  method_not_allowed: "PUT is not a method of this path. It has GET, HEAD, OPTIONS, POST.",
  not_acceptable: "The answer is application/json, which Accept excludes.",
  pet_in_use: "Pet 1 has an unfulfilled order: fulfil or delete the order first.",
  pet_not_available: "Pet 3 is sold.",
  insufficient_stock: "Pet 1 has 2 free units, which is too few.",
  order_complete: "Order 1 is complete: only its ship date may change.",
  category_exists: 'There is a category named "Dogs" already.',
  category_not_empty: "Category 1 has pets: move or delete them first.",
  slug_taken: "The slug is taken.",
  domain_taken: "The domain is attached to another project.",
  status_follows_stock:
    "Pet 1 is available, as its stock says: 4 free, 1 held by open orders. It cannot be set to sold. Change the count with PUT /v1/store/inventory/1, or stop tracking with DELETE /v1/store/inventory/1.",
  member_exists: "The account has a member with this email. Reset that member to make a new sign-in link.",
  import_closed: "Import 1 is finished: it takes no more rows. Begin another.",
  key_replaced: "Key 2 has been replaced already: rotate the key that replaced it.",
  project_not_deployed: "The project has no ready deployment.",
  deployment_not_ready: "The deployment is not ready.",
  domain_not_verified: "A name that is to be primary is not verified.",
  idempotency_key_in_use: "The first request with this Idempotency-Key is still running.",
  operation_sunset: "This operation ended on Fri, 31 Dec 2027 00:00:00 GMT. Its successor: /v1/pets?id=1",
  events_expired: "The oldest event that is kept has position 42: begin again with after=41.",
  precondition_failed: "The resource has changed: its ETag is not one of those in If-Match.",
  session_changed: "This browser is signed in as somebody else by now. Load the page again.",
  payload_too_large: "The body is larger than 64 KiB.",
  unsupported_media_type: "The body must be application/json.",
  unknown_reference: "body.categoryId: there is no category 12.",
  idempotency_key_reused: "This Idempotency-Key was used with another body.",
  rate_limit_exceeded: "The request limit is reached. Try again in 42 seconds.",
  key_banned: "This key is banned for another 300 seconds, because it kept sending requests after they were refused.",
  headers_too_large: headersTooLarge().message,
  internal: "Something went wrong here. The X-Request-Id of this answer finds it in the log.",
  unavailable: "The store cannot take this now. Try again.",
};

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
  const byStatus = Map.groupBy(problemsOf(operation), (code) => statuses[code]);
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
  const examples = Object.fromEntries(codes.map((code) => [code, { value: { code, message: messages[code], status, ...recorded[code] } }]));
  return {
    description: titles[status],
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" }, examples } },
  };
}
