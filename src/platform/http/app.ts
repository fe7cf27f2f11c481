import type { BlockList, Socket } from "node:net";
import { isIPv6 } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { Problem } from "../problem.ts";
import { errorBody, problemOf, sendProblem } from "./answers.ts";
import { expectContinue } from "./bodies.ts";
import type { Gate } from "./caller.ts";
import { prefix } from "./prefix.ts";
import { nextRequestId } from "./request-ids.ts";
import { notFound, pathOf } from "./routes.ts";

const headersTimeoutMs = 20_000;
const requestTimeoutMs = 120_000;
const keepAliveTimeoutMs = 65_000;
const urlLengthMax = 16_384;

/** On every answer of the API. No cookies are known here, so any origin may read it (decisions, part 1: CORS). */
const apiHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Strikes-Remaining, RateLimit, RateLimit-Policy, Retry-After, Sunset, Deprecation, Link, ETag, Location, Allow, X-Request-Id, Idempotent-Replayed",
  "cache-control": "private, no-cache",
  "x-content-type-options": "nosniff",
};

const preflightHeaders = {
  "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers": "Authorization, X-API-Key, Content-Type, If-Match, If-None-Match, Idempotency-Key",
  "access-control-max-age": "86400",
};

export type AppOptions = { gate: Gate; log: Logger; trustedProxies: BlockList };

/** The Fastify app with what holds for every request: ids, the gate, CORS, errors, the log. It has no routes yet. */
export function openApp({ gate, log, trustedProxies }: AppOptions): FastifyInstance {
  const trusts = (address: string): boolean => trustedProxies.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  const app = Fastify({
    logger: false,
    genReqId: nextRequestId,
    trustProxy: trustedProxies.rules.length > 0 ? trusts : false,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: { headersTimeout: headersTimeoutMs },
    routerOptions: { maxParamLength: urlLengthMax, caseSensitive: true, ignoreTrailingSlash: false },
    rewriteUrl: (request) => originForm(request.url ?? "/"),
    frameworkErrors: (error, request, reply) => void refuseUnrouted(error, request, reply),
    clientErrorHandler: (error, socket) => void refuseUnparsed(error, socket),
  });
  app.decorateRequest("caller", null);
  app.removeAllContentTypeParsers();
  // the handlers read the bodies themselves, after all that can be refused without
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setValidatorCompiler(() => () => true);

  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    if (!isApi(request)) return done();
    reply.headers(apiHeaders);
    const { "access-control-request-method": wanted, origin } = request.headers;
    if (request.method === "OPTIONS" && wanted !== undefined && origin !== undefined) return void preflight(request, reply);
    const refusal = gate.admit(request, reply);
    if (refusal instanceof Promise) return void refusal.then(proceed, done);
    return proceed(refusal);

    function proceed(problem: Problem | undefined): void {
      if (problem) sendProblem(reply, problem);
      else done();
    }
  });

  app.addHook("onResponse", (request, reply, done) => {
    log.info({
      requestId: request.id,
      method: request.method,
      path: pathOf(request.url),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 1_000) / 1_000,
      accountId: request.caller?.accountId,
      keyId: request.caller?.keyId,
    });
    done();
  });

  app.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, notFound()));
  app.server.on("checkContinue", (request, response) => {
    expectContinue(request, response);
    app.routing(request, response);
  });

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const problem = problemOf(error);
    if (problem.code === "internal") log.error({ requestId: request.id, err: error }, "unexpected error");
    else if (problem.code === "unavailable") log.warn({ requestId: request.id, err: problem.cause }, "unavailable");
    return sendProblem(reply, problem);
  }

  async function preflight(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await gate.describe(request, reply);
    reply.headers(preflightHeaders).code(204).send();
  }

  /** A URL that cannot be routed passes no hook: its key and limits are looked at here. */
  async function refuseUnrouted(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.header("x-request-id", request.id);
    if (!isApi(request)) return void refuse(error, request, reply);
    reply.headers(apiHeaders);
    const refusal = await gate.admit(request, reply);
    refuse(refusal ?? error, request, reply);
  }

  /** What is not HTTP gets a last answer and no more of the connection. */
  async function refuseUnparsed(error: Error & { code?: string }, socket: Socket): Promise<void> {
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
    const problem = new Problem("invalid_request", status === 431 ? "The headers are too large." : "The request is not valid HTTP.");
    const body = JSON.stringify({ ...errorBody(problem), status });
    const limits = await gate.describeAddress(socket.remoteAddress ?? "unknown");
    const headers = { ...apiHeaders, ...limits, "x-request-id": nextRequestId(), "content-type": "application/json; charset=utf-8" };
    const lines = Object.entries({ ...headers, "content-length": Buffer.byteLength(body), connection: "close" }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    socket.end(
      `HTTP/1.1 ${status} ${status === 431 ? "Request Header Fields Too Large" : status === 408 ? "Request Timeout" : "Bad Request"}\r\n${lines.join("\r\n")}\r\n\r\n${body}`,
    );
  }

  return app;
}

/** Whether a request is to the API: by its route where it has one, since a path may be written in more than one way. */
function isApi(request: FastifyRequest): boolean {
  return (request.routeOptions.url ?? request.url).startsWith(prefix);
}

/** The path of a URL that may be in absolute form (RFC 9112, 3.2.2). */
function originForm(url: string): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
}
