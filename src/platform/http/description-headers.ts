import type { DescribedOperation } from "./operation.ts";

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
export const alsoOnEveryAnswer: ResponseHeader[] = ["RateLimit", "RateLimit-Policy", "X-Request-Id"];

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
