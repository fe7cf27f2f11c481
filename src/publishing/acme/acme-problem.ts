/**
 * The kinds of failure, which decide how to retry.
 * - `unreachable`: no answer (network, TLS, time-out). The request may have taken effect.
 * - `unavailable`: 5xx, or the authority is too slow. Retry later.
 * - `rate_limited`: 429, or a problem of type rateLimited.
 * - `refused`: the authority refused the request; `type` says why.
 * - `invalid`: the order or an authorization has failed for good. A new order is needed.
 * - `nonsense`: an answer that is not ACME.
 */
export type AcmeFailure = "unreachable" | "unavailable" | "rate_limited" | "refused" | "invalid" | "nonsense";

type More = { type?: string | null; status?: number | null; retryAt?: number | null; cause?: unknown };

/** A failure of the certificate authority. Its message is safe to show: bounded, without control characters and secrets. */
export class AcmeProblem extends Error {
  readonly failure: AcmeFailure;
  /** The problem type without `urn:ietf:params:acme:error:` (RFC 8555 section 6.7), such as `caa` or `dns`; null if the authority gave none. */
  readonly type: string | null;
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** When (ms since the epoch) the authority allows the next try (Retry-After); null if it did not say. */
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

/** This process may no longer work on the name, so it sends no more requests and saves no result. */
export class NotPermitted extends Error {}

const messageLengthMax = 600;

function printable(message: string): string {
  return message.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ").slice(0, messageLengthMax);
}
