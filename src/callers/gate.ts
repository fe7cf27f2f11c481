import type { FastifyContextConfig, FastifyRequest } from "fastify";
import type { Gate } from "../platform/http/caller.ts";
import { Problem } from "../platform/problem.ts";
import type { KeyVerifier, Verified } from "./keys/verify.ts";
import { noOperation, type UsageRecorder } from "./usage/usage.ts";
import { limitHeaders, pushLimitHeaders, refusalOf, type Awaitable, type Decision, type Limiter, type Verdict } from "./limits/limits.ts";

/**
 * The way in of every request to the API (decisions, part 1 and 4): key, then the windows of its account; without a
 * valid key the window of the caller's address, and 401. Whoever has a valid key is noted with the operation asked for.
 * With a known key and the memory limiter nothing is awaited.
 */
export function openGate(options: {
  verifier: KeyVerifier;
  limiter: Limiter;
  usage: UsageRecorder;
  onRefused: (verdict: Verdict) => void;
}): Gate {
  const { verifier, limiter, usage, onRefused } = options;

  function admit(request: FastifyRequest): Awaitable<Problem | undefined> {
    const key = keyOf(request.headers);
    const verified = key === undefined ? undefined : verifier.verify(key);
    if (verified instanceof Promise) {
      return verified.then(
        (settled) => count(settled, request),
        (error: unknown) => unverified(error, request),
      );
    }
    return count(verified, request);
  }

  /** The key could not be looked up: nobody's window is used up, and the answer has the headers of the address. */
  async function unverified(error: unknown, request: FastifyRequest): Promise<never> {
    pushLimitHeaders(request.answerHeaders, await limiter.peekAddress(request.ip));
    throw error;
  }

  function count(verified: Verified | undefined, request: FastifyRequest): Awaitable<Problem | undefined> {
    if (!verified) return after(limiter.address(request.ip), (decision) => show(request, decision) ?? unauthorized());
    const { accountId, keyId, quota, publishable } = verified;
    const decision = publishable ? limiter.publishable(accountId, request.ip, quota) : limiter.account(accountId, keyId, quota);
    return after(decision, (settled) => {
      usage.record(accountId, keyId, operationOf(request), settled.verdict);
      const refusal = show(request, settled);
      if (!refusal) request.caller = verified;
      return refusal;
    });
  }

  function show(request: FastifyRequest, decision: Decision): Problem | undefined {
    pushLimitHeaders(request.answerHeaders, decision);
    if (decision.verdict !== "pass") onRefused(decision.verdict);
    return refusalOf(decision);
  }

  return {
    admit,
    describe: (request) => after(limiter.peekAddress(request.ip), (decision) => pushLimitHeaders(request.answerHeaders, decision)),
    describeAddress: (address) => after(limiter.address(address), limitHeaders),
  };
}

/** The key as it is sent: `Authorization: Bearer KEY` or `X-API-Key: KEY` (decisions, part 3). */
function keyOf({ authorization, "x-api-key": apiKey }: FastifyRequest["headers"]): string | undefined {
  if (authorization !== undefined && authorization.length > 7 && authorization.slice(0, 7).toLowerCase() === "bearer ") {
    return authorization.slice(7).trim();
  }
  return typeof apiKey === "string" ? apiKey : undefined;
}

/** A URL that cannot be routed has no route to tell it. */
function operationOf({ routeOptions }: FastifyRequest): string {
  return (routeOptions.config as FastifyContextConfig | undefined)?.operationId ?? noOperation;
}

function unauthorized(): Problem {
  return new Problem("unauthorized", "The request needs a valid API key: Authorization: Bearer KEY, or X-API-Key: KEY.");
}

function after<T, R>(value: Awaitable<T>, next: (settled: T) => R): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
