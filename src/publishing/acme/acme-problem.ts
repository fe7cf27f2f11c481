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

/** A failure of the certificate authority. Its message is safe to show: bounded, without control characters and secrets. */
export class AcmeProblem extends Error {
  readonly failure: AcmeFailure;
  /** The problem type without `urn:ietf:params:acme:error:` (RFC 8555 section 6.7), such as `caa` or `dns`; null if the authority gave none. */
  readonly type: string | null;
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** When (ms since the epoch) the authority allows the next try (Retry-After); null if it did not say. */
  readonly retryAt: number | null;

  constructor(
    failure: AcmeFailure,
    message: string,
    more: { type?: string | null; status?: number | null; retryAt?: number | null; cause?: unknown } = {},
  ) {
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

/** The steps with an authority that a certificate does not depend on, each with the fallback that keeps its refusal from stopping an order. */
const optionalSteps = {
  /** RFC 8555 section 7.3.1. A binding to an external account is only for a new account, so one that has ended since does no harm. */
  "account look-up": "create the account",
  /** RFC 8555 section 7.3. */
  contact: "create the account without an email address",
  /** RFC 9773 section 4.2. */
  "renewal information": "renew when a third of the certificate's life is left",
  /** RFC 9773 section 5. An authority refuses it if it does not know the member or the certificate, or has replaced that already. */
  replaces: "order without it",
  /** RFC 8555 section 7.5.1. */
  "preferred challenge":
    "answer the other challenge of the authorization; if the check of a challenge fails, prefer the other type in the next order",
  /** RFC 8555 section 6.5. */
  "kept nonce": "sign again with the nonce of the refusal, or with a new one",
  /** RFC 9112 section 9.3. */
  "reused connection": "send again on a new connection, except a new order, which always gets a new one",
  /** RFC 9110 section 12.5.3: it is not asked for, but some proxies compress all the same. */
  "uncompressed answers": "decompress them",
  /** RFC 9110 section 10.2.3. */
  "Retry-After": "wait as long as this service's own backoff",
} as const;
export type OptionalStep = keyof typeof optionalSteps;

/**
 * Runs an optional step, or `fallback` if the authority refuses it, fails at it or answers nonsense. Other failures concern every request, so they
 * are thrown: a limit, an authority that is down, no connection.
 *
 * @throws AcmeProblem
 */
export async function tryStep<T>(
  _step: OptionalStep,
  attempt: () => Promise<T>,
  fallback: (refusal: AcmeProblem) => T | Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof AcmeProblem && isOfStep(error)) return fallback(error);
    throw error;
  }
}

function isOfStep({ failure, status }: AcmeProblem): boolean {
  return failure === "refused" || status === 500 || status === 501 || (failure === "nonsense" && (status ?? 0) >= 300);
}
