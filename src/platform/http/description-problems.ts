import type { ProblemCode } from "../problem.ts";
import { deprecationHeaders, everyAnswer, headerReferences, readsResource } from "./description-headers.ts";
import { keptStatuses } from "./idempotency.ts";
import type { Operation } from "./operation.ts";
import { statuses } from "./statuses.ts";

const messages: Record<ProblemCode, string> = {
  invalid_request: "body.name is required.",
  unauthorized: "The request needs a valid API key: Authorization: Bearer KEY, or X-API-Key: KEY.",
  forbidden: "The key lacks the scope catalogue:write.",
  plan_required: "Custom domains need the plan pro or above.",
  not_found: "There is no animal 12.",
  method_not_allowed: "PUT is not a method of this path. It has GET, HEAD, OPTIONS, POST.",
  not_acceptable: "The answer is application/json, which Accept excludes.",
  pet_in_use: "Animal 1 has an unfulfilled order: fulfil or delete that first.",
  pet_not_available: "Animal 3 is sold.",
  insufficient_stock: "Animal 1 has 2 free units, which is too few.",
  order_complete: "Order 1 is complete: only its ship date may change.",
  category_exists: 'There is a category named "Dogs" already.',
  category_not_empty: "Category 1 has animals: move or delete them first.",
  slug_taken: "The slug is taken.",
  domain_taken: "The domain is attached to another project.",
  project_not_deployed: "The project has no ready deployment.",
  deployment_not_ready: "The deployment is not ready.",
  idempotency_key_in_use: "The first request with this Idempotency-Key is still running.",
  operation_sunset: "This operation ended on Fri, 31 Dec 2027 00:00:00 GMT. Its successor: /v1/pets?id=1",
  precondition_failed: "The resource has changed: its ETag is not one of those in If-Match.",
  payload_too_large: "The body is larger than 1048576 bytes.",
  unsupported_media_type: "The body must be application/json.",
  unknown_reference: "categoryId: there is no category 12.",
  idempotency_key_reused: "This Idempotency-Key was used with another body.",
  rate_limit_exceeded: "The request limit is reached. Try again in 42 seconds.",
  key_banned: "This key is banned for 300 seconds more: it went on after being refused.",
  internal: "Something went wrong here. The X-Request-Id of this answer finds it in the log.",
  unavailable: "The store cannot take this now. Try again.",
};

const titles: Record<number, string> = {
  400: "The request is not valid.",
  401: "There is no key, or not a valid one.",
  403: "The key may not do this.",
  404: "There is no such thing.",
  406: "The answer would be JSON, which `Accept` excludes.",
  409: "The request conflicts with how things stand.",
  410: "The operation is gone.",
  412: "A precondition does not hold.",
  413: "The body is too large.",
  415: "The body is of a content type that the operation does not take.",
  422: "The request is well-formed, but cannot be done.",
  429: "Too many requests: wait for `Retry-After` seconds.",
  500: "Something went wrong in the service.",
  503: "The service cannot take the request now.",
};

/** Given before the route is looked at, and so without the headers of an operation. */
const beforeRoute = new Set([401, 429]);

const extraHeaders: Record<number, string[]> = {
  401: ["WWW-Authenticate"],
  429: ["Retry-After", "X-RateLimit-Strikes-Remaining"],
  503: ["Retry-After"],
};

/** Every refusal that an operation may give: its own, and those that follow from its form. */
function problemsOf(operation: Operation): ProblemCode[] {
  const codes: ProblemCode[] = [
    "invalid_request",
    "unauthorized",
    "forbidden",
    "not_acceptable",
    "rate_limit_exceeded",
    "key_banned",
    "internal",
    "unavailable",
  ];
  if (operation.body || operation.upload) codes.push("payload_too_large", "unsupported_media_type");
  if (readsResource(operation)) codes.push("precondition_failed");
  if (operation.method === "POST") codes.push("idempotency_key_in_use", "idempotency_key_reused");
  return [...codes, ...(operation.problems ?? [])];
}

/** The descriptions of an operation's refusals, by status, with an example for each code. */
export function describeProblems(operation: Operation): Record<string, unknown> {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => statuses[code]);
  const deprecation = operation.deprecated ? deprecationHeaders : [];
  const replayed = (status: number) => (operation.method === "POST" && keptStatuses.has(status) ? ["Idempotent-Replayed"] : []);
  const more = (status: number): string[] => (beforeRoute.has(status) ? [] : [...deprecation, ...replayed(status)]);
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, describe(status, codes, more(status))]));
}

function describe(status: number, codes: ProblemCode[], more: string[]) {
  const headers = headerReferences([...everyAnswer, ...(extraHeaders[status] ?? []), ...more]);
  const examples = Object.fromEntries(codes.map((code) => [code, { value: { code, message: messages[code], status } }]));
  return {
    description: titles[status],
    headers,
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" }, examples } },
  };
}
