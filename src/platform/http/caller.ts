import type { FastifyRequest } from "fastify";
import type { Problem } from "../problem.ts";

/** A member of the account who is signed in. */
export type Person = {
  readonly memberId: number;
  readonly sessionId: number;
  /** When the member of this session was last confirmed (ms since the Unix epoch). */
  readonly confirmedAt: number;
};

/** Who calls: what the operations need to know of a key, or of a person. */
export type Caller = {
  readonly accountId: number;
  readonly keyId?: number;
  readonly person?: Person;
  readonly scopes: ReadonlySet<string>;
  /** The web origins that the caller's key is bound to; undefined: none. */
  readonly origins?: ReadonlySet<string>;
};

/**
 * What every request to the API, or to the dashboard, passes first. It puts the limit headers on the answer and either sets
 * `request.caller` or gives the refusal; on the usual way it is synchronous.
 */
export type Gate = {
  authenticate(request: FastifyRequest): Problem | undefined | Promise<Problem | undefined>;
  /** Puts the limit headers on an answer to a request that is not counted (a CORS preflight). */
  addLimitHeaders(request: FastifyRequest): void | Promise<void>;
  /** Gives back the quota that an admitted request took, and corrects the limit headers of its answer. */
  giveBack(request: FastifyRequest): void | Promise<void>;
  /** The headers, names and values by turns, of the answer to a connection whose request could not even be parsed. */
  limitHeadersOf(address: string): string[] | Promise<string[]>;
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** Of routes that are operations. */
    operationId?: string;
    /** Of operations that nobody needs to be known for. */
    isOpen?: boolean;
  }
  interface FastifyRequest {
    caller: Caller | null;
    /** What is wrong with the way that the key was sent: refused where the form of the request is. */
    keyProblem: Problem | null;
    /** When the request was counted, in ms by the clock of the counters. */
    countedAt: number;
  }
}
