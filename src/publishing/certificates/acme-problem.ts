/**
 * What went wrong with the authority, as far as a retry is concerned.
 * - `unreachable`: no answer at all (network, TLS, time-out). Whether the request took effect is unknown.
 * - `unavailable`: 5xx, or the authority is too slow; try again later.
 * - `rate_limited`: 429, or a problem of type rateLimited.
 * - `refused`: the authority understood and said no; `type` says why.
 * - `invalid`: the order or an authorization failed for good; a new order is needed.
 * - `nonsense`: an answer that is not ACME.
 */
export type AcmeFailure = "unreachable" | "unavailable" | "rate_limited" | "refused" | "invalid" | "nonsense";

type More = { type?: string | null; status?: number | null; retryAt?: number | null; cause?: unknown };

/** A failure of the certificate authority. Its message is safe to show: it is bounded, has no control characters and no secrets. */
export class AcmeProblem extends Error {
  readonly failure: AcmeFailure;
  /** The problem type without `urn:ietf:params:acme:error:` (RFC 8555 section 6.7), such as `caa` or `dns`; null where the authority gave none. */
  readonly type: string | null;
  /** The HTTP status, where there was an answer. */
  readonly status: number | null;
  /** Milliseconds since the epoch before which the authority asked not to be tried again (Retry-After). */
  readonly retryAt: number | null;

  constructor(failure: AcmeFailure, message: string, more: More = {}) {
    super(printable(message), more.cause === undefined ? {} : { cause: more.cause });
    this.name = "AcmeProblem";
    this.failure = failure;
    this.type = more.type ?? null;
    this.status = more.status ?? null;
    this.retryAt = more.retryAt ?? null;
  }
}

/** The request was not sent, because this process may no longer send requests for the name. */
export class NotPermitted extends Error {}

const messageLengthMax = 600;

function printable(message: string): string {
  return message.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ").slice(0, messageLengthMax);
}
