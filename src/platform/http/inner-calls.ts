import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { problemOf, sendProblem } from "./answers.ts";
import { openExchange, type Exchange } from "./exchange.ts";
import type { RequestBounds } from "./request-bounds.ts";
import type { Router } from "./router.ts";

/** A request that one request makes to an operation, in this process. */
export type InnerRequest = { method: string; url: string; headers: IncomingHttpHeaders; body: unknown };

/** Its answer: `body` is parsed, and undefined if there was none. Names of headers are in lower case. */
export type InnerAnswer = { status: number; headers: Record<string, string>; body: unknown };

/** Finds the operation, and releases the memory that its body took. */
type Serving = Pick<Router, "find"> & { requests: Pick<RequestBounds, "leave"> };

/**
 * Calls an operation for a request that the gate has admitted already: the same route, validation, conditions, idempotency and refusals as
 * over HTTP, with the same caller and request id, but not counted again.
 *
 * @throws unexpected errors, and Problem `unavailable` of an overload: the outer request is then answered with them
 */
export async function callInside(
  outer: Exchange,
  { find, requests }: Serving,
  { method, url, headers, body }: InnerRequest,
): Promise<InnerAnswer> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const sent: IncomingHttpHeaders = {
    ...headers,
    "x-request-id": outer.id,
    origin: outer.headers.origin,
    ...(outer.headers["x-forwarded-for"] !== undefined && { "x-forwarded-for": outer.headers["x-forwarded-for"] }),
    ...(bytes && { "content-type": "application/json", "content-length": `${bytes.length}` }),
  };
  const { promise, resolve } = Promise.withResolvers<InnerAnswer>();
  const request = Object.assign(Readable.from(bytes ? [bytes] : []), { method, headers: sent, socket: outer.request.socket });
  const service = { trustedProxies: outer.service.trustedProxies, answered: requests.leave };
  const inner = openExchange(service, request as unknown as IncomingMessage, answerTo(resolve), find(method, url));
  inner.caller = outer.caller;
  inner.countedAt = outer.countedAt;
  try {
    const refusal = inner.route.problem?.(inner);
    if (refusal) throw refusal;
    await inner.route.serve(inner);
  } catch (error) {
    const problem = problemOf(error);
    if (inner.status !== 0 || problem.code === "internal" || problem.isOverload) {
      requests.leave(inner);
      throw error;
    }
    sendProblem(inner, problem);
  }
  return promise;
}

/** The part of a response that sending an answer needs. It calls `resolve` with the answer. */
function answerTo(resolve: (answer: InnerAnswer) => void): ServerResponse {
  const answer: InnerAnswer = { status: 0, headers: {}, body: undefined };
  const response = {
    shouldKeepAlive: false,
    getHeaderNames: () => [],
    writeHead(status: number, pairs: string[]) {
      answer.status = status;
      for (let i = 0; i < pairs.length; i += 2) answer.headers[(pairs[i] as string).toLowerCase()] = pairs[i + 1] as string;
    },
    end(text?: string | Buffer) {
      if (text !== undefined) answer.body = JSON.parse(String(text));
      resolve(answer);
    },
  };
  return response as unknown as ServerResponse;
}
