import { addressName } from "../addresses.ts";
import type { Bounds } from "../bounds.ts";
import { acquire, release, type ShareLimits } from "../jobs/fair-share.ts";
import { createTally } from "../jobs/tally.ts";
import { overloaded, type Problem } from "../problem.ts";
import { queues } from "../queues.ts";
import { clientAddress, type Exchange } from "./exchange.ts";

/** The bounds of the requests that this process works on at once (specification 4.9). */
export type RequestLimits = {
  /** Overrides the bounds of the queue. */
  inFlight?: ShareLimits;
  /** Bytes of buffered bodies, of all callers and of each: an account, or an address where the caller is not known. */
  bodyBytesMax: number;
  bodyBytesEach: number;
};

export const requestLimits: RequestLimits = {
  bodyBytesMax: 64 * 1024 * 1024,
  bodyBytesEach: 16 * 1024 * 1024,
};

export type RequestBounds = {
  /** Admits a request, which may have to wait for others of its account; resolves to the refusal if it cannot. */
  admit(exchange: Exchange): Problem | undefined | Promise<Problem | undefined>;
  /** Reserves bytes for the body of a request; returns the refusal if they exceed a bound. */
  takeBytes(exchange: Exchange, bytes: number): Problem | undefined;
  /** Releases the place and the bytes of a request that was answered. */
  release(exchange: Exchange): void;
};

/** Opens the bounds of one process. */
export function boundRequests({ inFlight, bodyBytesMax, bodyBytesEach }: RequestLimits, bounds: Bounds): RequestBounds {
  const accounts = bounds.queue<number>("requests", inFlight);
  const held = createTally<number | string>();
  let heldBytes = 0;
  bounds.show("petstore_requests_in_flight", "api", () => accounts.inUse);
  bounds.show("petstore_requests_waiting", "api", () => accounts.waiting);
  bounds.show("petstore_body_bytes", "api", () => heldBytes);

  /** Computed once per request: a body may come in thousands of chunks, and X-Forwarded-For may name hundreds of addresses. */
  function bodyKey(exchange: Exchange): number | string {
    return (exchange.bodyOf ??= exchange.caller?.accountId ?? addressName(clientAddress(exchange)));
  }

  function refuse(accountId: number): Problem {
    bounds.refused("requests_in_flight");
    const isFull = accounts.held.of(accountId) < accounts.maxPerKey;
    return overloaded(isFull ? "The service has too many requests in progress. Try again in a moment." : queues.requests.busy);
  }

  return {
    admit(exchange) {
      const { caller } = exchange;
      if (!caller) return undefined;
      const { accountId } = caller;
      const refusal = acquire(accounts, accountId);
      if (typeof refusal === "string") return refuse(accountId);
      exchange.inFlightOf = accountId;
      return refusal?.then((late) => {
        if (late === undefined) return undefined;
        exchange.inFlightOf = 0;
        return refuse(accountId);
      });
    },
    takeBytes(exchange, bytes) {
      if (bytes === 0) return undefined;
      const key = bodyKey(exchange);
      if (heldBytes + bytes > bodyBytesMax || held.of(key) + bytes > bodyBytesEach) {
        bounds.refused("body_bytes");
        return overloaded("The request bodies in progress are too large together. Try again in a moment.");
      }
      exchange.bodyBytes += bytes;
      heldBytes += bytes;
      held.add(key, bytes);
      return undefined;
    },
    release(exchange) {
      // Counts no time: a request may wait for its client, so accounts take plain turns.
      if (exchange.inFlightOf !== 0) release(accounts, exchange.inFlightOf);
      exchange.inFlightOf = 0;
      if (exchange.bodyBytes === 0) return;
      heldBytes -= exchange.bodyBytes;
      held.take(bodyKey(exchange), exchange.bodyBytes);
      exchange.bodyBytes = 0;
    },
  };
}
