import { METHODS } from "node:http";
import type { BlockList, Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type FastifyServerOptions } from "fastify";
import type { Logger } from "pino";
import type { Bounds } from "../bounds.ts";
import type { ConnectionGuard } from "../connections.ts";
import { forwardedAddress } from "../addresses.ts";
import { hasAddress } from "../parse.ts";
import type { Problem } from "../problem.ts";
import { errorBody, problemOf, send, sendProblem } from "./answers.ts";
import { drain, expectContinue } from "./bodies.ts";
import { boundChunks } from "./chunk-bounds.ts";
import { clientAddress } from "./client-address.ts";
import { boundPipelines } from "./pipelining.ts";
import { surfaceOf, type ApiSurface } from "./api-surfaces.ts";
import { checkHosts, originForm, type OwnHosts } from "./hosts.ts";
import { hideMalformedType, requestProblem } from "./request-form.ts";
import type { RequestBounds } from "./request-bounds.ts";
import { requestIdOf, traceparentOf } from "./request-ids.ts";
import { notFound, pathOf } from "./routes.ts";
import { statuses } from "./statuses.ts";
import { headersBytesMax, headersMax, headersTooLarge, refuseUnparsed } from "./unparsed.ts";

const headersTimeoutMs = 20_000;
/** The time that a whole request has to arrive. */
export const requestTimeoutMs = 120_000;
const keepAliveTimeoutMs = 65_000;
const urlLengthMax = 16_384;

/** Hears of every answer: its status, and the time from the request's head in ms. */
export type Answered = (request: FastifyRequest, status: number, ms: number) => void;

export type AppOptions = {
  /** The API comes first: it answers what cannot even be parsed. */
  realms: readonly [ApiSurface, ...ApiSurface[]];
  log: Logger;
  trustedProxies: BlockList;
  connections: ConnectionGuard;
  requests: RequestBounds;
  bounds: Pick<Bounds, "refused">;
  hosts: OwnHosts;
  onAnswered: Answered;
  /** Answers people whose address leads nowhere; programs get the problem `not_found`. */
  notFoundPage?: ((request: FastifyRequest, reply: FastifyReply) => FastifyReply) | undefined;
};

/** The Fastify app with what holds for every request: ids, the gates, CORS, errors, the log. It has no routes yet. */
export function openApp({
  realms,
  log,
  trustedProxies,
  connections,
  requests,
  bounds,
  hosts,
  onAnswered,
  notFoundPage,
}: AppOptions): FastifyInstance {
  const pipelines = boundPipelines(bounds);
  const app = bareApp(trustedProxies, {
    frameworkErrors: (error, request, reply) => void refuseUnrouted(error, request, reply),
    clientErrorHandler: (error, socket) => void refuseUnparsed(realms[0], log, pipelines, error, socket),
  });
  const checkHost = checkHosts(hosts, realms);
  let closing = false;
  app.addHook("preClose", (done) => {
    closing = true;
    done();
  });
  app.server.prependListener("connection", (socket: Socket) => connections.admit(socket));

  app.addHook("onRequest", (request, reply, done) => {
    const realm = begin(request, reply);
    const hasTooMany = request.raw.rawHeaders.length > 2 * headersMax;
    if (!realm) return outside(request, reply, hasTooMany ? headersTooLarge() : checkHost(request), done);
    if (hasTooMany) return void refuseHeaders(request, reply, realm);
    if (realm.preflightHeaders && isPreflight(request)) return void preflight(request, reply, realm);
    const otherHost = realm.hosts === "any" ? undefined : checkHost(request);
    if (otherHost) return void refuseHost(otherHost, request, reply, realm);
    const refusal = realm.gate.authenticate(request);
    if (refusal instanceof Promise) return void refusal.then(proceed, done);
    return proceed(refusal);

    function proceed(refused: Problem | undefined): void {
      const problem = refused ?? requestProblem(request, checkHost);
      if (problem) return sendProblem(request, reply, problem);
      hideMalformedType(request);
      const entered = requests.enter(request);
      if (entered instanceof Promise) void entered.then(go, done);
      else go(entered);
    }

    function go(overload: Problem | undefined): void {
      if (overload) refuse(overload, request, reply);
      else done();
    }
  });

  app.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    if (!notFoundPage || surfaceOf(request, realms) || !wantsPage(request)) return sendProblem(request, reply, notFound());
    reply.header("X-Request-Id", request.id).raw.once("close", () => request.answered(reply.statusCode));
    return notFoundPage(request, reply);
  });
  app.server.on("checkContinue", (request, response) => {
    expectContinue(request, response);
    app.routing(request, response);
  });
  // an expectation that is not known may be passed over (RFC 9110, 10.1.1)
  app.server.on("checkExpectation", (request, response) => app.routing(request, response));

  app.server.on("connect", (_request, socket) => {
    void refuseUnparsed(realms[0], log, pipelines, new Error("CONNECT is for proxies"), socket);
  });

  /** Gives every answer what it needs, also that to a URL that cannot be routed, whose request has no decorations; tells the realm. */
  function begin(request: FastifyRequest, reply: FastifyReply): ApiSurface | undefined {
    connections.requested(request.raw.socket, reply.raw);
    request.answered = answered;
    request.startedAt = performance.now();
    request.answerHeaders = ["X-Request-Id", request.id];
    request.traceparent = traceparentOf(request.raw);
    pipelines.begin(request.raw, reply.raw);
    if (boundChunks(request.raw, reply.raw)) reply.raw.once("finish", () => drain(request.raw));
    const realm = surfaceOf(request, realms);
    if (realm) request.answerHeaders.push(...realm.headers);
    // a connection that is kept would hold up the stop
    if (closing) request.answerHeaders.push("Connection", "close");
    return realm;
  }

  function answered(this: FastifyRequest, status: number): void {
    requests.leave(this);
    // what was in flight when the stop began did not tell its client so
    if (closing) setImmediate(() => app.server.closeIdleConnections());
    const ms = performance.now() - this.startedAt;
    onAnswered(this, status, ms);
    const { method, caller } = this;
    log.info({
      ...traceOf(this),
      method,
      path: pathOf(this.url),
      status,
      ms: Math.round(ms * 1_000) / 1_000,
      accountId: caller?.accountId,
      keyId: caller?.keyId,
      memberId: caller?.person?.memberId,
    });
  }

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = problemOf(error);
    if (problem.code === "internal") log.error({ ...traceOf(request), err: error }, "unexpected error");
    else if (problem.isOverload) return void refuseOverload(problem, request, reply);
    else if (problem.code === "unavailable") log.warn({ ...traceOf(request), err: problem.cause }, "unavailable");
    return sendProblem(request, reply, problem);
  }

  async function refuseOverload(problem: Problem, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      await surfaceOf(request, realms)?.gate.giveBack(request);
    } catch (error) {
      log.error({ ...traceOf(request), err: error }, "the quota of a refused request was not given back");
    }
    sendProblem(request, reply, problem);
  }

  /** A request outside the API. The framework answers it, whether it has a route or not. */
  function outside(request: FastifyRequest, reply: FastifyReply, problem: Problem | undefined, done: () => void): void {
    if (!problem) return done();
    if (request.is404) return sendProblem(request, reply, problem);
    void reply.code(statuses[problem.code]).header("X-Request-Id", request.id).send(errorBody(problem));
  }

  /** Refuses before the caller is identified: the header with the key may have been dropped. */
  async function refuseHeaders(request: FastifyRequest, reply: FastifyReply, { gate }: ApiSurface): Promise<void> {
    request.answerHeaders.push(...(await gate.limitHeadersOf(clientAddress(request))));
    sendProblem(request, reply, headersTooLarge());
  }

  /** Refuses before the caller is identified: a browser's cookies for another host are not this service's. */
  async function refuseHost(problem: Problem, request: FastifyRequest, reply: FastifyReply, { gate }: ApiSurface): Promise<void> {
    await gate.addLimitHeaders(request);
    sendProblem(request, reply, problem);
  }

  async function preflight(request: FastifyRequest, reply: FastifyReply, realm: ApiSurface): Promise<void> {
    const { gate, preflightHeaders = [] } = realm;
    const otherHost = checkHost(request);
    if (otherHost) return refuseHost(otherHost, request, reply, realm);
    await gate.addLimitHeaders(request);
    request.answerHeaders.push(...preflightHeaders);
    send(request, reply, 204);
  }

  /** A URL that cannot be routed passes no hook: its key and limits are looked at here. */
  async function refuseUnrouted(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const realm = begin(request, reply);
    if (realm?.preflightHeaders && isPreflight(request)) return preflight(request, reply, realm);
    const refusal = await realm?.gate.authenticate(request);
    refuse(refusal ?? error, request, reply);
  }

  return app;
}

/** The framework as far as it is used: it routes, and leaves bodies, validation, refusals and the log to this folder. */
function bareApp(
  trustedProxies: BlockList,
  refusals: Required<Pick<FastifyServerOptions, "frameworkErrors" | "clientErrorHandler">>,
): FastifyInstance {
  const trusts = (entry: string): boolean => {
    const address = forwardedAddress(entry);
    return address !== undefined && hasAddress(trustedProxies, address);
  };
  const app = Fastify({
    logger: false,
    genReqId: requestIdOf,
    trustProxy: trustedProxies.rules.length > 0 ? trusts : false,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, maxHeaderSize: headersBytesMax, requireHostHeader: false }, // Node's own refusal would lack our headers
    routerOptions: { maxParamLength: urlLengthMax, caseSensitive: true, ignoreTrailingSlash: false },
    rewriteUrl: originForm,
    ...refusals,
  });
  app.server.maxHeadersCount = headersMax + 1;
  // each gets the 405 of a path that exists, or its 404
  for (const method of METHODS) if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.decorateRequest("caller", null);
  app.decorateRequest("keyProblem", null);
  app.decorateRequest("startedAt", 0);
  app.decorateRequest("countedAt", 0);
  app.decorateRequest("inFlightOf", 0);
  app.decorateRequest("bodyBytes", 0);
  app.decorateRequest("answerHeaders");
  app.decorateRequest("traceparent");
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

/** What every log line of a request has. */
function traceOf({ id: requestId, traceparent }: FastifyRequest) {
  return { requestId, traceparent };
}

function wantsPage({ method, headers }: FastifyRequest): boolean {
  return (method === "GET" || method === "HEAD") && headers.accept !== undefined && headers.accept.includes("text/html");
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}
