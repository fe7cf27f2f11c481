import type { FastifyContextConfig, FastifyRequest } from "fastify";
import { clientAddress, type Gate } from "../platform/http/caller.ts";
import { invalidAt, Problem } from "../platform/problem.ts";
import type { KeyVerifier, Verified } from "./keys/verify.ts";
import { noOperation, type UsageRecorder } from "./usage/usage.ts";
import {
  limitHeaders,
  pushLimitHeaders,
  refusalOf,
  replaceLimitHeaders,
  type Awaitable,
  type Decision,
  type Limiter,
  type Verdict,
} from "./limits/limits.ts";

export type GateParts = {
  verifier: KeyVerifier;
  limiter: Limiter;
  usage: UsageRecorder;
  onRefused: (verdict: Verdict) => void;
};

/**
 * The gate of the API (specification 1.9, 4.2): it identifies the key, then counts the request in the windows of its account. A request
 * without a valid key counts in the window of its address, and is a 401. Each request of a valid key is recorded with its operation.
 * With a cached key and the limiter in memory nothing is awaited.
 */
export function openGate(parts: GateParts): Gate {
  const { limiter } = parts;
  return {
    authenticate: (request) => authenticate(parts, request),
    giveBack: (request) => giveBack(parts, request),
    addLimitHeaders: (request) =>
      after(limiter.peekAddress(clientAddress(request)), (decision) => pushLimitHeaders(request.answerHeaders, decision)),
    limitHeadersOf: (address) => after(limiter.address(address), limitHeaders),
  };
}

function authenticate(parts: GateParts, request: FastifyRequest): Awaitable<Problem | undefined> {
  const { key, isAlone } = keyOf(request.headers);
  if (!isAlone) request.keyProblem = twoKeys();
  const verified = key === undefined ? undefined : parts.verifier.verify(key);
  if (verified instanceof Promise) {
    return verified.then(
      (settled) => count(parts, settled, request),
      (error: unknown) => failUnverified(parts, error, request),
    );
  }
  return count(parts, verified, request);
}

/** The key could not be looked up, so the request counts in no window. Its answer has the limit headers of the address. */
async function failUnverified({ limiter }: GateParts, error: unknown, request: FastifyRequest): Promise<never> {
  pushLimitHeaders(request.answerHeaders, await limiter.peekAddress(clientAddress(request)));
  throw error;
}

function count(parts: GateParts, verified: Verified | undefined, request: FastifyRequest): Awaitable<Problem | undefined> {
  const { limiter, usage } = parts;
  if (!verified) return after(limiter.address(clientAddress(request)), (decision) => refuseAddress(parts, request, decision));
  const { accountId, keyId, quota, publishable } = verified;
  const decision = publishable ? limiter.publishable(accountId, clientAddress(request), quota) : limiter.account(accountId, keyId, quota);
  return after(decision, (settled) => {
    if (settled.verdict !== "unavailable") usage.record(accountId, keyId, operationOf(request), settled.verdict);
    const refusal = applyDecision(parts, request, settled);
    if (refusal) return refusal;
    request.caller = verified;
    request.countedAt = settled.at;
    return undefined;
  });
}

function giveBack({ limiter, usage }: GateParts, request: FastifyRequest): Awaitable<void> {
  const { accountId, keyId, quota, publishable } = request.caller as Verified;
  usage.takeBack(keyId, operationOf(request));
  const given = limiter.giveBack({ accountId, quota, visitor: publishable ? clientAddress(request) : undefined }, request.countedAt);
  return after(given, (decision) => replaceLimitHeaders(request.answerHeaders, decision));
}

/** Adds the limit headers of a decision, and returns its refusal if there is one. */
function applyDecision({ onRefused }: GateParts, request: FastifyRequest, decision: Decision): Problem | undefined {
  pushLimitHeaders(request.answerHeaders, decision);
  if (decision.verdict !== "pass") onRefused(decision.verdict);
  return refusalOf(decision);
}

/** Every refusal of a request without a valid key says so, which helps to find a mistyped key. */
function refuseAddress(parts: GateParts, request: FastifyRequest, decision: Decision): Problem {
  const refusal = applyDecision(parts, request, decision);
  if (refusal?.code !== "rate_limit_exceeded") return refusal ?? unauthorized();
  const why = "Without a valid API key an address has few requests, and this one has none left.";
  return new Problem("rate_limit_exceeded", `${why} Try again in ${decision.retryAfterSeconds} seconds, or send a valid key.`);
}

/**
 * The key of a request: `Authorization: Bearer KEY`, or without it `X-API-Key: KEY` (specification 3.3). It stands alone
 * unless the other header has another one. `Authorization` with another scheme, as for a proxy, is passed over.
 */
function keyOf({ authorization, "x-api-key": apiKey }: FastifyRequest["headers"]): { key: string | undefined; isAlone: boolean } {
  const other = typeof apiKey === "string" ? apiKey : undefined;
  if (authorization === undefined || authorization.length <= 7 || authorization.slice(0, 7).toLowerCase() !== "bearer ") {
    return { key: other, isAlone: true };
  }
  const key = authorization.slice(7).trim();
  return { key, isAlone: other === undefined || other === key };
}

function twoKeys(): Problem {
  const message = "holds another key than Authorization";
  return invalidAt("header.X-API-Key", message, "Authorization and X-API-Key hold different keys. Send one of them.");
}

/** The operation of a request, or `noOperation` for a URL that cannot be routed. */
function operationOf({ routeOptions }: FastifyRequest): string {
  return (routeOptions.config as FastifyContextConfig | undefined)?.operationId ?? noOperation;
}

function unauthorized(): Problem {
  return new Problem("unauthorized", "The request needs a valid API key: Authorization: Bearer KEY, or X-API-Key: KEY.");
}

function after<T, R>(value: Awaitable<T>, next: (settled: T) => R): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
