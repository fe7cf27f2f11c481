import { andThen, type Awaitable } from "../platform/db/database.ts";
import { clientAddress, type Exchange, type Gate } from "../platform/http/exchange.ts";
import { invalidAt, Problem, type ProblemFields } from "../platform/problem.ts";
import { keyOddity } from "./keys/key-oddity.ts";
import type { KeyVerifier, Verified } from "./keys/verify.ts";
import { limitHeaders } from "./limits/headers.ts";
import { type Limiter, refusalOf } from "./limits/limits.ts";
import type { Decision, Verdict } from "./limits/windows.ts";
import { noOperation, type UsageRecorder } from "./usage/usage.ts";

export type GateParts = {
  verifier: KeyVerifier;
  limiter: Limiter;
  usage: UsageRecorder;
  onRefused: (verdict: Verdict) => void;
  /** Called with each refusal of a request with a secret key. Must not block. */
  onLimited: (accountId: number, keyId: number, decision: Decision) => void;
};

/**
 * The gate of the API (specification 1.9, 4.2): it identifies the key, then counts the request in the windows of its account. A request
 * without a valid key counts in the window of its address, and is a 401. Each request with a valid key is recorded in its account's
 * usage. With a cached key and the limiter in memory the gate awaits nothing.
 */
export function openGate(parts: GateParts): Gate {
  const { limiter } = parts;
  return {
    authenticate: (exchange) => authenticate(parts, exchange),
    giveBack: (exchange) => giveBack(parts, exchange),
    addLimitHeaders: (exchange) =>
      andThen(limiter.peekAddress(clientAddress(exchange)), (decision) => void (exchange.limits = limitHeaders(decision))),
    countUnparsed: (address) => andThen(limiter.address(address), limitHeaders),
  };
}

function authenticate(parts: GateParts, exchange: Exchange): Awaitable<ProblemFields | undefined> {
  const { key, isOnlyKey } = keyOf(exchange.headers);
  if (!isOnlyKey) exchange.keyProblem = twoKeys();
  const verified = key === undefined ? undefined : parts.verifier.verify(key);
  if (verified instanceof Promise) {
    return verified.then(
      (settled) => count(parts, settled, exchange),
      (error: unknown) => failUnverified(parts, error, exchange),
    );
  }
  return count(parts, verified, exchange);
}

/** Fails a request whose key could not be looked up. It counts in no window, and its answer has the limit headers of the address. */
async function failUnverified({ limiter }: GateParts, error: unknown, exchange: Exchange): Promise<never> {
  exchange.limits = limitHeaders(await limiter.peekAddress(clientAddress(exchange)));
  throw error;
}

function count(parts: GateParts, verified: Verified | undefined, exchange: Exchange): Awaitable<ProblemFields | undefined> {
  const { limiter, usage } = parts;
  if (!verified) return andThen(limiter.address(clientAddress(exchange)), (decision) => refuseAddress(parts, exchange, decision));
  exchange.identified = verified;
  const { accountId, keyId, quota, publishable, makers } = verified;
  const decision = publishable
    ? limiter.publishable(accountId, clientAddress(exchange), quota)
    : limiter.account(accountId, keyId, quota, makers);
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

/** Refuses a request without a valid key. The 401 and the 429 both ask for a valid key, which helps to find a mistyped one. */
function refuseAddress(parts: GateParts, exchange: Exchange, decision: Decision): ProblemFields {
  const refusal = applyDecision(parts, exchange, decision);
  if (refusal?.code !== "rate_limit_exceeded") return refusal ?? unauthorized(exchange.headers);
  const why = "Requests without a valid API key share the limit of their address, which is reached.";
  return new Problem("rate_limit_exceeded", `${why} Try again in ${decision.retryAfterSeconds} seconds, or send a valid key.`);
}

/**
 * Returns the key of a request: `Authorization: Bearer KEY`, or without it `X-API-Key: KEY` (specification 3.3). `isOnlyKey` is
 * false if the two headers hold different keys. An `Authorization` of another scheme, such as a proxy's, is ignored.
 */
function keyOf({ authorization, "x-api-key": apiKey }: Exchange["headers"]): { key: string | undefined; isOnlyKey: boolean } {
  const other = typeof apiKey === "string" ? apiKey : undefined;
  if (authorization === undefined || authorization.length <= 7 || !isBearer(authorization)) {
    return { key: other, isOnlyKey: true };
  }
  const key = authorization.slice(7).trim();
  return { key, isOnlyKey: other === undefined || other === key };
}

function isBearer(authorization: string): boolean {
  return authorization.startsWith("Bearer ") || authorization.slice(0, 7).toLowerCase() === "bearer ";
}

function twoKeys(): Problem {
  const message = "holds a different key than Authorization";
  return invalidAt("header.X-API-Key", message, "Authorization and X-API-Key hold different keys. Send one of them.");
}

function unauthorized(headers: Exchange["headers"]): Problem {
  const oddity = keyOddity(headers);
  const asks = "The request needs a valid API key: Authorization: Bearer KEY, or X-API-Key: KEY.";
  return new Problem("unauthorized", oddity === undefined ? asks : `${asks} ${oddity}`);
}
