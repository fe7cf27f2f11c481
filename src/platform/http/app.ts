import { METHODS } from "node:http";
import type { BlockList } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type FastifyServerOptions } from "fastify";
import type { Logger } from "pino";
import { hasAddress } from "../parse.ts";
import type { Problem } from "../problem.ts";
import { problemOf, send, sendProblem } from "./answers.ts";
import { expectContinue } from "./bodies.ts";
import { realmOf, type Realm } from "./realms.ts";
import { hideMalformedType, requestProblem } from "./request-form.ts";
import { nextRequestId } from "./request-ids.ts";
import { notFound, pathOf } from "./routes.ts";
import { refuseUnparsed } from "./unparsed.ts";

const headersTimeoutMs = 20_000;
/** The time that a whole request has to arrive. */
export const requestTimeoutMs = 120_000;
const keepAliveTimeoutMs = 65_000;
const urlLengthMax = 16_384;

/** Hears of every answer: its status, and the time from the request's head in ms. */
export type Answered = (request: FastifyRequest, status: number, ms: number) => void;

export type AppOptions = {
  /** The API comes first: it answers what cannot even be parsed. */
  realms: readonly [Realm, ...Realm[]];
  log: Logger;
  trustedProxies: BlockList;
  onAnswered: Answered;
  /** Answers people whose address leads nowhere; programs get the problem `not_found`. */
  notFoundPage?: ((request: FastifyRequest, reply: FastifyReply) => FastifyReply) | undefined;
};

/** The Fastify app with what holds for every request: ids, the gates, CORS, errors, the log. It has no routes yet. */
export function openApp({ realms, log, trustedProxies, onAnswered, notFoundPage }: AppOptions): FastifyInstance {
  const app = bareApp(trustedProxies, {
    frameworkErrors: (error, request, reply) => void refuseUnrouted(error, request, reply),
    clientErrorHandler: (error, socket) => void refuseUnparsed(realms[0], error, socket),
  });
  let closing = false;
  app.addHook("preClose", (done) => {
    closing = true;
    done();
  });

  app.addHook("onRequest", (request, reply, done) => {
    const realm = begin(request);
    if (!realm) return done();
    if (realm.preflightHeaders && isPreflight(request)) return void preflight(request, reply, realm);
    const refusal = realm.gate.admit(request);
    if (refusal instanceof Promise) return void refusal.then(proceed, done);
    return proceed(refusal);

    function proceed(refused: Problem | undefined): void {
      const problem = refused ?? requestProblem(request);
      if (problem) sendProblem(request, reply, problem);
      else {
        hideMalformedType(request);
        done();
      }
    }
  });

  app.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    if (!notFoundPage || realmOf(request, realms) || !wantsPage(request)) return sendProblem(request, reply, notFound());
    reply.header("X-Request-Id", request.id).raw.once("close", () => request.answered(reply.statusCode));
    return notFoundPage(request, reply);
  });
  app.server.on("checkContinue", (request, response) => {
    expectContinue(request, response);
    app.routing(request, response);
  });
  // an expectation that is not known may be passed over (RFC 9110, 10.1.1)
  app.server.on("checkExpectation", (request, response) => app.routing(request, response));

  app.server.on("connect", (_request, socket) => void refuseUnparsed(realms[0], new Error("CONNECT is for proxies"), socket));

  /** Gives every answer what it needs, also that to a URL that cannot be routed, whose request has no decorations; tells the realm. */
  function begin(request: FastifyRequest): Realm | undefined {
    request.answered = answered;
    request.startedAt = performance.now();
    request.answerHeaders = ["X-Request-Id", request.id];
    const realm = realmOf(request, realms);
    if (realm) request.answerHeaders.push(...realm.headers);
    // a connection that is kept would hold up the stop
    if (closing) request.answerHeaders.push("Connection", "close");
    return realm;
  }

  function answered(this: FastifyRequest, status: number): void {
    // what was in flight when the stop began did not tell its client so
    if (closing) setImmediate(() => app.server.closeIdleConnections());
    const ms = performance.now() - this.startedAt;
    onAnswered(this, status, ms);
    const { id: requestId, method, caller } = this;
    const path = pathOf(this.url);
    log.info({
      requestId,
      method,
      path,
      status,
      ms: Math.round(ms * 1_000) / 1_000,
      accountId: caller?.accountId,
      keyId: caller?.keyId,
      memberId: caller?.person?.memberId,
    });
  }

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = problemOf(error);
    if (problem.code === "internal") log.error({ requestId: request.id, err: error }, "unexpected error");
    else if (problem.code === "unavailable") log.warn({ requestId: request.id, err: problem.cause }, "unavailable");
    return sendProblem(request, reply, problem);
  }

  async function preflight(request: FastifyRequest, reply: FastifyReply, { gate, preflightHeaders = [] }: Realm): Promise<void> {
    await gate.describe(request);
    request.answerHeaders.push(...preflightHeaders);
    send(request, reply, 204);
  }

  /** A URL that cannot be routed passes no hook: its key and limits are looked at here. */
  async function refuseUnrouted(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const realm = begin(request);
    if (realm?.preflightHeaders && isPreflight(request)) return preflight(request, reply, realm);
    const refusal = await realm?.gate.admit(request);
    refuse(refusal ?? error, request, reply);
  }

  return app;
}

/** The framework as far as it is used: it routes, and leaves bodies, validation, refusals and the log to this folder. */
function bareApp(
  trustedProxies: BlockList,
  refusals: Required<Pick<FastifyServerOptions, "frameworkErrors" | "clientErrorHandler">>,
): FastifyInstance {
  const trusts = (address: string): boolean => hasAddress(trustedProxies, address);
  const app = Fastify({
    logger: false,
    genReqId: nextRequestId,
    trustProxy: trustedProxies.rules.length > 0 ? trusts : false,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, requireHostHeader: false }, // node's own refusal would lack our headers
    routerOptions: { maxParamLength: urlLengthMax, caseSensitive: true, ignoreTrailingSlash: false },
    rewriteUrl: (request) => originForm(request.url ?? "/"),
    ...refusals,
  });
  // each gets the 405 of a path that exists, or its 404
  for (const method of METHODS) if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.decorateRequest("caller", null);
  app.decorateRequest("startedAt", 0);
  app.decorateRequest("answerHeaders");
  app.decorateRequest("answered");
  app.removeAllContentTypeParsers();
  // the handlers read the bodies themselves, after all that can be refused without
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setValidatorCompiler(() => () => true);
  return app;
}

/**
 * Adds routes beside the API, which answer in the framework's own way.
 *
 * @param add is given the app of these routes
 */
export function addPages(app: FastifyInstance, add: (pages: FastifyInstance) => void): void {
  app.register(async (pages) => {
    pages.addHook("onRequest", async (request, reply) => void reply.header("X-Request-Id", request.id));
    pages.addHook("onResponse", async (request, reply) => request.answered(reply.statusCode));
    add(pages);
  });
}

function wantsPage({ method, headers }: FastifyRequest): boolean {
  return (method === "GET" || method === "HEAD") && headers.accept !== undefined && headers.accept.includes("text/html");
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

/** The path of a URL that may be in absolute form (RFC 9112, 3.2.2). */
function originForm(url: string): string {
  if (url.startsWith("/")) return url;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, "");
  return path.startsWith("/") ? path : `/${path}`;
}
