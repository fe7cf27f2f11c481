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
  /** Counts a request until its answer has closed and the function that this returns is called. Call it before anything reads the body. */
  begin(request: IncomingMessage, response: ServerResponse): () => void;
  /** Resolves when all complete requests of a connection have been answered. */
  answered(socket: Duplex): Promise<void>;
};

/**
 * Bounds how many requests of a connection are in progress. The one that reaches the bound is the last one: the connection closes
 * after its answer, and no later request is processed, so the client may send those again (RFC 9112, 9.3.2).
 */
export function boundPipelines(bounds: Pick<Bounds, "refused">): Pipelines {
  const pipelines = new WeakMap<Duplex, Pipeline>();

  function begin(request: IncomingMessage, response: ServerResponse): () => void {
    const { socket } = request;
    let own = pipelines.get(socket);
    if (own === undefined) pipelines.set(socket, (own = { unanswered: 0, last: undefined, before: undefined }));
    const pipeline = own;
    const begun = { request, response };
    pipeline.unanswered += 1;
    pipeline.before = pipeline.last;
    pipeline.last = begun;
    if (pipeline.unanswered >= unansweredMax) endAfter(request, response);
    // Node answers a request for an upgrade (RFC 9110, 7.8) as a plain one, but drops the bytes that it has read after it
    else if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    return () => {
      pipeline.unanswered -= 1;
      if (pipeline.last === begun) pipeline.last = undefined;
      if (pipeline.before === begun) pipeline.before = undefined;
    };
  }

  function endAfter(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    bounds.refused("pipelined_requests");
    response.shouldKeepAlive = false;
    const push = request.push.bind(request);
    request.push = (chunk: Buffer | null) => {
      if (chunk === null) stopParsing(socket);
      return push(chunk);
    };
  }

  async function answered(socket: Duplex): Promise<void> {
    const { last, before } = pipelines.get(socket) ?? {};
    // answers go out in the order of their requests, of which only the last can be incomplete
    const awaited = last === undefined || last.request.complete ? last : before;
    if (awaited) await new Promise((resolve) => void awaited.response.once("close", resolve));
  }

  return { begin, answered };
}

type Begun = { request: IncomingMessage; response: ServerResponse };
/** The requests of a connection that have no answer yet: how many they are, and the last two. */
type Pipeline = { unanswered: number; last: Begun | undefined; before: Begun | undefined };
