import { andThen, type Awaitable } from "../platform/db/database.ts";
import { clientAddress, type Exchange, type Gate } from "../platform/http/exchange.ts";
import { invalidAt, Problem, type ProblemFields } from "../platform/problem.ts";
import type { KeyVerifier, Verified } from "./keys/verify.ts";
import { noOperation, type UsageRecorder } from "./usage/usage.ts";
import { limitHeaders, refusalOf, type Decision, type Limiter, type Verdict } from "./limits/limits.ts";

export type GateParts = {
  verifier: KeyVerifier;
  limiter: Limiter;
  usage: UsageRecorder;
  onRefused: (verdict: Verdict) => void;
  /** Gets each refusal of a request with a secret key. Must return at once. */
  onLimited: (accountId: number, keyId: number, decision: Decision) => void;
};

/**
 * The gate of the API (specification 1.9, 4.2): it identifies the key, then counts the request in the windows of its account. A request
 * without a valid key counts in the window of its address, and is a 401. Each request of a valid key is recorded with its operation.
 * With a cached key and the limiter in memory nothing is awaited.
 */
export function openGate(parts: GateParts): Gate {
  const { limiter } = parts;
  return {
    authenticate: (exchange) => authenticate(parts, exchange),
    giveBack: (exchange) => giveBack(parts, exchange),
    addLimitHeaders: (exchange) =>
      andThen(limiter.peekAddress(clientAddress(exchange)), (decision) => void (exchange.limits = limitHeaders(decision))),
    limitHeadersOf: (address) => andThen(limiter.address(address), limitHeaders),
  };
}

function authenticate(parts: GateParts, exchange: Exchange): Awaitable<ProblemFields | undefined> {
  const { key, isAlone } = keyOf(exchange.headers);
  if (!isAlone) exchange.keyProblem = twoKeys();
  const verified = key === undefined ? undefined : parts.verifier.verify(key);
  if (verified instanceof Promise) {
    return verified.then(
      (settled) => count(parts, settled, exchange),
      (error: unknown) => failUnverified(parts, error, exchange),
    );
  }
  return count(parts, verified, exchange);
}

/** The key could not be looked up, so the request counts in no window. Its answer has the limit headers of the address. */
async function failUnverified({ limiter }: GateParts, error: unknown, exchange: Exchange): Promise<never> {
  exchange.limits = limitHeaders(await limiter.peekAddress(clientAddress(exchange)));
  throw error;
}

function count(parts: GateParts, verified: Verified | undefined, exchange: Exchange): Awaitable<ProblemFields | undefined> {
  const { limiter, usage } = parts;
  if (!verified) return andThen(limiter.address(clientAddress(exchange)), (decision) => refuseAddress(parts, exchange, decision));
  const { accountId, keyId, quota, publishable } = verified;
  const decision = publishable ? limiter.publishable(accountId, clientAddress(exchange), quota) : limiter.account(accountId, keyId, quota);
  return andThen(decision, (settled) => {
    if (settled.verdict !== "unavailable") usage.record(accountId, keyId, exchange.route.operationId ?? noOperation, settled.verdict);
    const refusal = applyDecision(parts, exchange, settled);
    if (refusal) {
      if (!publishable) parts.onLimited(accountId, keyId, settled);
      return refusal;
    }
    exchange.caller = verified;
    exchange.countedAt = settled.at;
    return undefined;
  });
}

function giveBack({ limiter, usage }: GateParts, exchange: Exchange): Awaitable<void> {
  const { accountId, keyId, quota, publishable } = exchange.caller as Verified;
  usage.takeBack(keyId, exchange.route.operationId ?? noOperation);
  const given = limiter.giveBack({ accountId, quota, visitor: publishable ? clientAddress(exchange) : undefined }, exchange.countedAt);
  return andThen(given, (decision) => void (exchange.limits = limitHeaders(decision)));
}

/** Adds the limit headers of a decision, and returns its refusal if there is one. */
function applyDecision({ onRefused }: GateParts, exchange: Exchange, decision: Decision): ProblemFields | undefined {
  exchange.limits = limitHeaders(decision);
  if (decision.verdict !== "pass") onRefused(decision.verdict);
  return refusalOf(decision);
}

/** Every refusal of a request without a valid key says so, which helps to find a mistyped key. */
function refuseAddress(parts: GateParts, exchange: Exchange, decision: Decision): ProblemFields {
  const refusal = applyDecision(parts, exchange, decision);
  if (refusal?.code !== "rate_limit_exceeded") return refusal ?? unauthorized();
  const why = "Without a valid API key an address has few requests, and this one has none left.";
  return new Problem("rate_limit_exceeded", `${why} Try again in ${decision.retryAfterSeconds} seconds, or send a valid key.`);
}

/**
 * The key of a request: `Authorization: Bearer KEY`, or without it `X-API-Key: KEY` (specification 3.3). It stands alone
 * unless the other header has another one. `Authorization` with another scheme, as for a proxy, is passed over.
 */
function keyOf({ authorization, "x-api-key": apiKey }: Exchange["headers"]): { key: string | undefined; isAlone: boolean } {
  const other = typeof apiKey === "string" ? apiKey : undefined;
  if (authorization === undefined || authorization.length <= 7 || !isBearer(authorization)) {
    return { key: other, isAlone: true };
  }
  const key = authorization.slice(7).trim();
  return { key, isAlone: other === undefined || other === key };
}

function isBearer(authorization: string): boolean {
  return authorization.startsWith("Bearer ") || authorization.slice(0, 7).toLowerCase() === "bearer ";
}

function twoKeys(): Problem {
  const message = "holds another key than Authorization";
  return invalidAt("header.X-API-Key", message, "Authorization and X-API-Key hold different keys. Send one of them.");
}

function unauthorized(): Problem {
  return new Problem("unauthorized", "The request needs a valid API key: Authorization: Bearer KEY, or X-API-Key: KEY.");
}
