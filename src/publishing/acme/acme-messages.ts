import { dayMs } from "../../platform/clock.ts";
import { checkOf } from "../../platform/http/value-checks.ts";
import { Type, type Static, type TSchema } from "../../platform/json-schema.ts";
import type { Detail } from "../../platform/problem.ts";
import { AcmeProblem } from "./acme-problem.ts";
import type { HttpsAnswer } from "./transport.ts";

const Url = Type.String({ maxLength: 2048, pattern: "^[Hh][Tt][Tt][Pp][Ss]://" });
const Text = Type.String();

/** RFC 8555 section 6.7. These schemas have only the members in use; others are ignored. */
const ProblemDocument = Type.Object({ type: Type.Optional(Text), detail: Type.Optional(Text) });
const Problems = Type.Object({
  type: Type.Optional(Text),
  detail: Type.Optional(Text),
  subproblems: Type.Optional(Type.Array(ProblemDocument)),
});

/** RFC 8555 section 7.1.1; `renewalInfo` of RFC 9773. */
export const Directory = Type.Object({
  newNonce: Url,
  newAccount: Url,
  newOrder: Url,
  renewalInfo: Type.Optional(Url),
  meta: Type.Optional(
    Type.Object({
      termsOfService: Type.Optional(Text),
      caaIdentities: Type.Optional(Type.Array(Text, { maxItems: 20 })),
      externalAccountRequired: Type.Optional(Type.Boolean()),
    }),
  ),
});
export type Directory = Static<typeof Directory>;

/** RFC 8555 section 7.1.2. */
export const AccountMessage = Type.Object({ status: Text });

/** Each order is for one name; no authority asks for as many as ten authorizations. */
const authorizations = Type.Array(Url, { minItems: 1, maxItems: 10 });

/** RFC 8555 section 7.1.3. */
export const OrderMessage = Type.Object({
  status: Type.Enum(["pending", "ready", "processing", "valid", "invalid"]),
  authorizations: Type.Optional(authorizations),
  finalize: Type.Optional(Url),
  certificate: Type.Optional(Url),
  error: Type.Optional(Problems),
});

/** What an order that is pending needs besides. */
export const PendingOrderMessage = Type.Object({ authorizations });

/** RFC 8555 section 8. Challenges of other types may have no token. */
export const ChallengeMessage = Type.Object({
  type: Type.Optional(Text),
  url: Type.Optional(Url),
  token: Type.Optional(Text),
  error: Type.Optional(Problems),
});

/** RFC 8555 section 7.1.4. */
export const AuthorizationMessage = Type.Object({
  status: Type.Enum(["pending", "valid", "invalid", "deactivated", "expired", "revoked"]),
  challenges: Type.Optional(Type.Array(ChallengeMessage, { maxItems: 50 })),
});
export type AuthorizationMessage = Static<typeof AuthorizationMessage>;

/** RFC 9773 section 4.2. */
export const RenewalInfoMessage = Type.Object({
  suggestedWindow: Type.Object({ start: Text, end: Text }),
  explanationURL: Type.Optional(Text),
});

/** How deep the members are nested that this service reads. */
const depthMax = 6;

/**
 * A message of an authority without the members that say nothing: `null`, `""` and texts with nothing visible count as absent, because many
 * programs write an absent member so. Statuses are in lower case.
 */
function tidied(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth === depthMax) return value;
  if (Array.isArray(value)) return value.filter((item) => !isEmpty(item)).map((item) => tidied(item, depth + 1));
  const members = Object.entries(value).filter(([, member]) => !isEmpty(member));
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      name === "status" && typeof member === "string" ? member.toLowerCase() : tidied(member, depth + 1),
    ]),
  );
}

const isEmpty = (value: unknown): boolean => value === null || (typeof value === "string" && /^[\p{Cc}\p{Cf}\s]*$/u.test(value));

type ObjectSchema = { properties?: Record<string, TSchema>; required?: string[]; items?: TSchema };

/** Returns a message without its invalid optional members, because nothing optional may stop an order. */
function withoutInvalid(schema: TSchema, value: unknown): unknown {
  const { properties, required = [], items } = schema as ObjectSchema;
  if (items !== undefined && Array.isArray(value)) return value.map((item) => withoutInvalid(items, item));
  if (properties === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own === undefined) return [];
    const inner = withoutInvalid(own, member);
    return required.includes(name) || firstViolation(own, inner) === undefined ? [[name, inner] as const] : [];
  });
  return Object.fromEntries(kept);
}

/** Parses the message in a successful answer. @throws AcmeProblem `nonsense` if it is not JSON or does not match the schema */
export function parseMessage<T extends TSchema>(schema: T, what: string, answer: HttpsAnswer): Static<T> {
  const value = withoutInvalid(schema, parseJson(answer.body));
  const violation = firstViolation(schema, value);
  if (violation === undefined) return value as Static<T>;
  const why = value === undefined ? "it is not JSON" : `${violation.path} ${violation.message}`;
  throw new AcmeProblem("nonsense", `The certificate authority sent an invalid ${what}: ${why}.`, { status: answer.status });
}

const typePrefix = /^urn:ietf:params:acme:error:/i;
/** The types of RFC 8555 section 6.7 that this service tells apart, however an authority capitalizes them. */
const errorTypes = [
  "accountDoesNotExist",
  "badNonce",
  "caa",
  "connection",
  "dns",
  "externalAccountRequired",
  "orderNotReady",
  "rateLimited",
  "unauthorized",
];
const retryAfterMsMax = 7 * dayMs;

/** Returns the problem in an answer that is not a success; `nonsense` for redirects and other statuses that ACME does not use. */
export function problemOf(answer: HttpsAnswer, what: string, now: number): AcmeProblem {
  const value = withoutInvalid(Problems, parseJson(answer.body));
  const more = { status: answer.status, retryAt: parseRetryAfter(answer.headers["retry-after"], now) };
  const described = firstViolation(Problems, value) === undefined ? describeProblem(value as Static<typeof Problems>) : null;
  const reason = described?.text ?? `HTTP ${answer.status}`;
  const type = described?.type ?? null;
  if (answer.status === 429 || type === "rateLimited") {
    return new AcmeProblem("rate_limited", `The certificate authority limits its requests (${what}): ${reason}`, { ...more, type });
  }
  if (answer.status >= 500) {
    return new AcmeProblem("unavailable", `The certificate authority has an internal error (${what}): ${reason}`, { ...more, type });
  }
  if (answer.status >= 400) return new AcmeProblem("refused", `The certificate authority refuses (${what}): ${reason}`, { ...more, type });
  return new AcmeProblem("nonsense", `The certificate authority answered ${answer.status} (${what}), which ACME does not use.`, more);
}

/** The type and text of a problem document; those of its first subproblem, if it has any (RFC 8555 section 6.7.1). */
export function describeProblem(problem: Static<typeof Problems>): { type: string | null; text: string } {
  const [first] = problem.subproblems ?? [];
  const sent = (first?.type ?? problem.type)?.replace(typePrefix, "");
  const type = errorTypes.find((known) => known.toLowerCase() === sent?.toLowerCase()) ?? sent ?? null;
  return { type, text: first?.detail ?? problem.detail ?? type ?? "no reason given" };
}

/**
 * Returns the time (ms since the epoch) at which a Retry-After header allows the next try, at most a week after `now`. Returns null if there is
 * no valid header. The header has seconds or an HTTP date (RFC 9110 section 10.2.3).
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const at = /^\d+$/.test(header) ? now + Number(header) * 1000 : parseHttpDate(header);
  return Number.isNaN(at) ? null : Math.min(Math.max(at, now), now + retryAfterMsMax);
}

/** The three forms of RFC 9110 section 5.6.7; NaN for other texts. The oldest form does not name its zone, GMT. */
function parseHttpDate(text: string): number {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /i.test(text)) return Number.NaN;
  return Date.parse(/(GMT|UTC|[+-]\d{4})$/i.test(text) ? text : `${text} GMT`);
}

/** The first violation of the schema in a value; undefined if the value is valid. */
function firstViolation(schema: TSchema, value: unknown): Detail | undefined {
  const found: Detail[] = [];
  checkOf(schema)(value, "answer", found);
  return found[0];
}

function parseJson(body: Buffer): unknown {
  try {
    return tidied(JSON.parse(body.toString("utf8").replace(/^\uFEFF/, "")));
  } catch {
    return undefined;
  }
}
