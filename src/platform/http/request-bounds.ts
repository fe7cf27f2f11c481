import type { FastifyRequest } from "fastify";
import { addressName } from "../addresses.ts";
import type { Bounds } from "../bounds.ts";
import { acquire, openFairShare, release } from "../jobs/fair-share.ts";
import { createTally } from "../jobs/tally.ts";
import { overloaded, type Problem } from "../problem.ts";

/** The bounds of the requests that this process works on at once (specification 4.9). */
export type RequestLimits = {
  /** Requests of one account that are in flight, that may wait to be, and for how long (ms). */
  inFlight: { maxEach: number; waitingMaxEach: number; waitMs: number };
  /** Bytes of buffered bodies, of all callers and of each: an account, or an address where the caller is not known. */
  bodyBytesMax: number;
  bodyBytesEach: number;
};

export const requestLimits: RequestLimits = {
  inFlight: { maxEach: 1_000, waitingMaxEach: 1_000, waitMs: 1_000 },
  bodyBytesMax: 64 * 1024 * 1024,
  bodyBytesEach: 16 * 1024 * 1024,
};

export type RequestBounds = {
  /** Admits a request, which may have to wait for others of its account; resolves to the refusal if it cannot. */
  enter(request: FastifyRequest): Problem | undefined | Promise<Problem | undefined>;
  /** Reserves bytes for the body of a request; returns the refusal if they exceed a bound. */
  takeBytes(request: FastifyRequest, bytes: number): Problem | undefined;
  /** Releases the place and the bytes of a request that was answered. */
  leave(request: FastifyRequest): void;
};

declare module "fastify" {
  interface FastifyRequest {
    /** The account among whose requests in flight this one is; 0 for none. */
    inFlightOf: number;
    /** Bytes reserved for its body. */
    bodyBytes: number;
  }
}

/** Opens the bounds of one process. */
export function boundRequests({ inFlight, bodyBytesMax, bodyBytesEach }: RequestLimits, bounds: Bounds): RequestBounds {
  const accounts = openFairShare<number>(inFlight);
  const held = createTally<number | string>();
  const keys = new WeakMap<FastifyRequest, number | string>();
  let heldBytes = 0;
  bounds.show("petstore_requests_in_flight", "api", () => accounts.inUse);
  bounds.show("petstore_requests_waiting", "api", () => accounts.waiting);
  bounds.show("petstore_body_bytes", "api", () => heldBytes);

  /** Found once for each request: a body may come in thousands of chunks, and its address after hundreds of others. */
  function bodyKey(request: FastifyRequest): number | string {
    const key = keys.get(request) ?? request.caller?.accountId ?? addressName(request.ip);
    keys.set(request, key);
    return key;
  }

  function refuse(): Problem {
    bounds.refused("requests_in_flight");
    return overloaded("This account has too many requests in progress. Try again in a moment.");
  }

  return {
    enter(request) {
      const { caller } = request;
      if (!caller) return undefined;
      const { accountId } = caller;
      const refusal = acquire(accounts, accountId);
      if (typeof refusal === "string") return refuse();
      request.inFlightOf = accountId;
      return refusal?.then((late) => {
        if (late === undefined) return undefined;
        request.inFlightOf = 0;
        return refuse();
      });
    },
    takeBytes(request, bytes) {
      const key = bodyKey(request);
      if (heldBytes + bytes > bodyBytesMax || held.of(key) + bytes > bodyBytesEach) {
        bounds.refused("body_bytes");
        return overloaded("The request bodies in progress are too large together. Try again in a moment.");
      }
      request.bodyBytes += bytes;
      heldBytes += bytes;
      held.add(key, bytes);
      return undefined;
    },
    leave(request) {
      // a request whose URL cannot be routed has no decorations
      if (request.inFlightOf) release(accounts, request.inFlightOf);
      request.inFlightOf = 0;
      if (!request.bodyBytes) return;
      heldBytes -= request.bodyBytes;
      held.take(bodyKey(request), request.bodyBytes);
      request.bodyBytes = 0;
    },
  };
}
