import { AcmeProblem } from "./acme-problem.ts";

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
