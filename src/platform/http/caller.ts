import type { FastifyReply, FastifyRequest } from "fastify";
import type { Problem } from "../problem.ts";

/** Who calls: what the operations need to know of a key. */
export type Caller = { readonly accountId: number; readonly keyId: number; readonly scopes: ReadonlySet<string> };

/**
 * What every request to the API passes first. It puts the limit headers on the reply and either sets
 * `request.caller` or gives the refusal; on the usual way it is synchronous.
 */
export type Gate = {
  admit(request: FastifyRequest, reply: FastifyReply): Problem | undefined | Promise<Problem | undefined>;
  /** Puts the limit headers on an answer to a request that is not counted (a CORS preflight). */
  describe(request: FastifyRequest, reply: FastifyReply): void | Promise<void>;
  /** The header lines of the answer to a connection whose request could not even be parsed. */
  describeAddress(address: string): Record<string, string> | Promise<Record<string, string>>;
};

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
  }
}
