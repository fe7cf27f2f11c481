import type { FastifyContextConfig, FastifyRequest } from "fastify";
import type { Gate } from "../platform/http/caller.ts";
import { Problem } from "../platform/problem.ts";
import type { KeyVerifier, Verified } from "./keys/verify.ts";
import { noOperation, type UsageRecorder } from "./usage/usage.ts";
import { pushLimitHeaders, type Awaitable, type Decision, type Limiter, type Verdict } from "./limits/limits.ts";

/**
 * The way in of every request to the API (decisions, part 1 and 4): key, then the windows of its account; without a
 * valid key the window of the caller's address, and 401. Whoever has a valid key is noted with the operation asked for. With a known key and the memory limiter nothing is awaited.
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
    if (!verified)
      return after(limiter.address(request.ip), (decision) => {
        if (decision.verdict !== "pass") onRefused(decision.verdict);
        return refuseStranger(decision, request);
      });
    const { accountId, keyId, quota, publishable } = verified;
    const decision = publishable ? limiter.publishable(accountId, request.ip, quota) : limiter.account(accountId, keyId, quota);
    return after(decision, (settled) => {
      if (settled.verdict !== "pass") onRefused(settled.verdict);
      usage.record(accountId, keyId, operationOf(request), settled.verdict);
      pushLimitHeaders(request.answerHeaders, settled);
      if (settled.verdict !== "pass") return limited(settled);
      request.caller = verified;
      return undefined;
    });
  }

  return {
    admit,
    describe: (request) => after(limiter.peekAddress(request.ip), (decision) => pushLimitHeaders(request.answerHeaders, decision)),
    describeAddress: (address) =>
      after(limiter.address(address), (decision) => {
        const headers: string[] = [];
        pushLimitHeaders(headers, decision);
        return headers;
      }),
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

function refuseStranger(decision: Decision, request: FastifyRequest): Problem {
  pushLimitHeaders(request.answerHeaders, decision);
  if (decision.verdict !== "pass") return limited(decision);
  return new Problem("unauthorized", "The request needs a valid API key: Authorization: Bearer KEY, or X-API-Key: KEY.");
}

function limited({ verdict, retryAfterSeconds }: Decision): Problem {
  return verdict === "key_banned"
    ? new Problem("key_banned", `This key is banned for ${retryAfterSeconds} seconds more: it went on after being refused.`)
    : new Problem("rate_limit_exceeded", `The request limit is reached. Try again in ${retryAfterSeconds} seconds.`);
}

function after<T, R>(value: Awaitable<T>, next: (settled: T) => R): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
