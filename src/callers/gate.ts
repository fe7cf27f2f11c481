import type { FastifyReply, FastifyRequest } from "fastify";
import type { Gate } from "../platform/http/caller.ts";
import { Problem } from "../platform/problem.ts";
import type { KeyVerifier, Verified } from "./keys/verify.ts";
import { limitHeaders, type Awaitable, type Decision, type Limiter } from "./limits/limits.ts";

/**
 * The way in of every request to the API (decisions, part 1 and 4): key, then the windows of its account; without a
 * valid key the window of the caller's address, and 401. With a known key and the memory limiter nothing is awaited.
 */
export function openGate({ verifier, limiter }: { verifier: KeyVerifier; limiter: Limiter }): Gate {
  function admit(request: FastifyRequest, reply: FastifyReply): Awaitable<Problem | undefined> {
    const key = keyOf(request.headers);
    const verified = key === undefined ? undefined : verifier.verify(key);
    if (verified instanceof Promise) return verified.then((settled) => count(settled, request, reply));
    return count(verified, request, reply);
  }

  function count(verified: Verified | undefined, request: FastifyRequest, reply: FastifyReply): Awaitable<Problem | undefined> {
    if (!verified) return after(limiter.address(request.ip), (decision) => refuseStranger(decision, reply));
    const { accountId, keyId, quota, publishable } = verified;
    const decision = publishable ? limiter.publishable(accountId, request.ip, quota) : limiter.account(accountId, keyId, quota);
    return after(decision, (settled) => {
      reply.headers(limitHeaders(settled));
      if (settled.verdict !== "pass") return limited(settled);
      request.caller = verified;
      return undefined;
    });
  }

  return {
    admit,
    describe: (request, reply) => after(limiter.peekAddress(request.ip), (decision) => void reply.headers(limitHeaders(decision))),
    describeAddress: (address) => after(limiter.address(address), (decision) => ({ ...limitHeaders(decision) })),
  };
}

/** The key as it is sent: `Authorization: Bearer KEY` or `X-API-Key: KEY` (decisions, part 3). */
function keyOf({ authorization, "x-api-key": apiKey }: FastifyRequest["headers"]): string | undefined {
  if (authorization !== undefined && authorization.length > 7 && authorization.slice(0, 7).toLowerCase() === "bearer ") {
    return authorization.slice(7).trim();
  }
  return typeof apiKey === "string" ? apiKey : undefined;
}

function refuseStranger(decision: Decision, reply: FastifyReply): Problem {
  reply.headers(limitHeaders(decision));
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
