import type { ProblemCode } from "./error-table.ts";

/** A wrong value: its place in the request, such as `body.name` or `query.limit`, and why it is wrong. */
export type Detail = { path: string; message: string };

/** The DNS record that would prove the caller's right to a name. */
export type ProofRecord = { type: "TXT"; name: string; value: string };

/** A refusal that the caller sees. Its message is public. Any other error becomes `internal`, which alone has a stack trace. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: Detail[] | undefined;
  /** With `domain_taken`: the record that would win the name, if there is one. */
  readonly challenge: ProofRecord | undefined;
  readonly headers: Record<string, string> | undefined;
  /** Whether a bound of this process refused the request. Its quota is then given back. */
  readonly isOverload: boolean;

  /** @param more.cause the error behind it, which is only logged */
  constructor(
    code: ProblemCode,
    message: string,
    more: { details?: Detail[]; challenge?: ProofRecord; headers?: Record<string, string>; cause?: unknown; isOverload?: boolean } = {},
  ) {
    const { details, challenge, headers, cause, isOverload = false } = more;
    // A refusal is expected, and capturing its stack would take most of its time.
    const { stackTraceLimit } = Error;
    if (code !== "internal") Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Problem";
    this.code = code;
    this.details = details;
    this.challenge = challenge;
    this.headers = headers;
    this.isOverload = isOverload;
  }
}

/** The fields of a problem that a caller sees. The limits refuse with these alone, because an Error costs more than the decision to refuse. */
export type ProblemFields = Pick<Problem, "code" | "message"> & Partial<Pick<Problem, "details" | "challenge" | "headers">>;

/** The most details of one refusal. */
export const detailsMax = 20;

/** The refusal of a reference in a body to something that the account does not have, such as `category 12`. */
export function unknownReference(path: string, thing: string): Problem {
  const message = `there is no ${thing}`;
  return new Problem("unknown_reference", `${path}: ${message}.`, { details: [{ path, message }] });
}

/** The refusal of one value of a request. `path` and `message` are its detail; `sentence` is for people. */
export function invalidAt(path: string, message: string, sentence = `${path} ${message}.`): Problem {
  return new Problem("invalid_request", sentence, { details: [{ path, message }] });
}

/** The refusal of a request beyond a bound of this process. */
export function overloaded(message: string, retryAfterSeconds = 1): Problem {
  return new Problem("unavailable", message, { headers: { "retry-after": `${retryAfterSeconds}` }, isOverload: true });
}

/**
 * Names a thing by its id, such as `pet 12`. Leaves out a number of 2^53 or more, because it was rounded when it was parsed, so its
 * digits are not those that the client sent.
 */
export function byId(thing: string, id: number): string {
  return Number.isSafeInteger(id) ? `${thing} ${id}` : `${thing} of this id`;
}
