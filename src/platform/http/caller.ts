import type { FastifyRequest } from "fastify";
import { forwardedAddress } from "../addresses.ts";
import type { Problem } from "../problem.ts";

/** A signed-in member of the account. */
export type Person = {
  readonly memberId: number;
  readonly sessionId: number;
  /** When the member of this session was last confirmed (ms since the Unix epoch). */
  readonly confirmedAt: number;
};

/** The caller of an operation: a key, or a signed-in person. */
export type Caller = {
  readonly accountId: number;
  readonly keyId?: number;
  readonly person?: Person;
  readonly scopes: ReadonlySet<string>;
  /** The web origins that the caller's key is bound to; undefined if it is bound to none. */
  readonly origins?: ReadonlySet<string>;
};

/**
 * Every request to a surface passes its gate first. The gate adds the limit headers to the answer, and either sets `request.caller` or
 * returns the refusal. It is synchronous in the usual case.
 */
export type Gate = {
  authenticate(request: FastifyRequest): Problem | undefined | Promise<Problem | undefined>;
  /** Adds the limit headers to the answer of a request that is not counted, such as a CORS preflight. */
  addLimitHeaders(request: FastifyRequest): void | Promise<void>;
  /** Gives back the quota that an admitted request took, and corrects the limit headers of its answer. */
  giveBack(request: FastifyRequest): void | Promise<void>;
  /** The limit headers of the answer to a request that could not be parsed, as a flat array of alternating names and values. */
  limitHeadersOf(address: string): string[] | Promise<string[]>;
};

/**
 * The client's address: the socket's, or the farthest one that trusted proxies name in `X-Forwarded-For`. An entry that is not an address
 * counts as the address of the proxy that added it.
 */
export function clientAddress(request: FastifyRequest): string {
  const { ips } = request;
  if (ips === undefined) return request.ip;
  return ips.map(forwardedAddress).findLast((address) => address !== undefined) ?? request.ip;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Set for routes that are operations. */
    operationId?: string;
    /** Whether the operation is open to everyone. */
    isOpen?: boolean;
  }
  interface FastifyRequest {
    caller: Caller | null;
    /** The refusal of a key that was sent wrongly. It is thrown together with other problems of the request's form. */
    keyProblem: Problem | null;
    /** When the request was counted, in ms by the clock of the counters. */
    countedAt: number;
  }
}
