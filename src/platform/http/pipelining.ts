import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Bounds } from "../bounds.ts";
import { stopParsing } from "./stop-parsing.ts";

/**
 * The most requests of one connection that wait for their answers. Node's parser begins all requests of one read, of up to 64 KiB,
 * before anything else runs.
 */
const unansweredMax = 32;

/** Counts the requests that a connection sends before it has read the earlier answers. */
export type Pipelines = {
  /** Counts a request until it is answered. Call it before anything reads the body. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** Resolves when all complete requests of a connection have been answered. */
  answered(socket: Duplex): Promise<unknown>;
};

/**
 * Bounds how many requests of a connection are in progress. The one that reaches the bound is the last one: the connection closes
 * after its answer, and no later request is processed, so the client may send those again (RFC 9112, 9.3.2).
 */
export function boundPipelines(bounds: Pick<Bounds, "refused">): Pipelines {
  const unanswered = new WeakMap<Duplex, Map<ServerResponse, IncomingMessage>>();

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const own = unanswered.get(socket) ?? new Map<ServerResponse, IncomingMessage>();
    unanswered.set(socket, own.set(response, request));
    response.once("close", () => own.delete(response));
    if (own.size < unansweredMax) {
      // Node answers a request for an upgrade (RFC 9110, 7.8) as a plain one, but drops the bytes that it has read after it
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
      return;
    }
    bounds.refused("pipelined_requests");
    response.shouldKeepAlive = false;
    const push = request.push.bind(request);
    request.push = (chunk: Buffer | null) => {
      if (chunk === null) stopParsing(socket);
      return push(chunk);
    };
  }

  function answered(socket: Duplex): Promise<unknown> {
    const whole = [...(unanswered.get(socket) ?? [])].filter(([, request]) => request.complete);
    return Promise.all(whole.map(([response]) => new Promise((resolve) => void response.once("close", resolve))));
  }

  return { begin, answered };
}
