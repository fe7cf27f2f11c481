import { METHODS } from "node:http";
import type { BlockList, Socket } from "node:net";
import type { Duplex } from "node:stream";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type FastifyServerOptions } from "fastify";
import { forwardedAddress } from "../addresses.ts";
import type { Bounds } from "../bounds.ts";
import { hasAddress } from "../parse.ts";
import { admit, noteAnswered, refuse, refuseUnrouted, type Admission } from "./admission.ts";
import { sendProblem } from "./answers.ts";
import { surfaceOf } from "./api-surfaces.ts";
import { expectContinue } from "./bodies.ts";
import { checkHosts, originForm, type OwnHosts } from "./hosts.ts";
import { boundPipelines } from "./pipelining.ts";
import { requestIdOf } from "./request-ids.ts";
import { notFound } from "./routes.ts";
import { headersBytesMax, headersMax, refuseUnparsed } from "./unparsed.ts";

const headersTimeoutMs = 20_000;
/** The time in which a whole request has to arrive. */
export const requestTimeoutMs = 120_000;
const keepAliveTimeoutMs = 65_000;
const urlLengthMax = 16_384;

export type AppOptions = Pick<Admission, "surfaces" | "log" | "connections" | "requests" | "onAnswered"> & {
  trustedProxies: BlockList;
  bounds: Pick<Bounds, "refused">;
  hosts: OwnHosts;
  /** Answers a browser's request for an unknown page; programs get the problem `not_found`. */
  notFoundPage?: ((request: FastifyRequest, reply: FastifyReply) => FastifyReply) | undefined;
};

/** The Fastify app with what all requests share: ids, gates, CORS, refusals, the log. It has no routes yet. */
export function openApp(options: AppOptions): FastifyInstance {
  const { surfaces, log, trustedProxies, connections, requests, bounds, hosts, onAnswered, notFoundPage } = options;
  const pipelines = boundPipelines(bounds);
  const checkHost = checkHosts(hosts, surfaces);
  const admission: Admission = {
    surfaces,
    log,
    connections,
    requests,
    pipelines,
    checkHost,
    onAnswered,
    isClosing: false,
    closeIdle: () => app.server.closeIdleConnections(),
    answered(status) {
      noteAnswered(admission, this, status);
    },
  };
  const refuseBytes = (error: Error, socket: Duplex): void => void refuseUnparsed(surfaces[0], log, pipelines, error, socket);
  const app = bareApp(trustedProxies, {
    frameworkErrors: (error, request, reply) => void refuseUnrouted(admission, error, request, reply),
    clientErrorHandler: refuseBytes,
  });
  app.addHook("preClose", (done) => {
    admission.isClosing = true;
    done();
  });
  app.addHook("onRequest", (request, reply, done) => admit(admission, request, reply, done));
  app.setErrorHandler((error, request, reply) => refuse(admission, error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    if (!notFoundPage || surfaceOf(request, surfaces) || !wantsPage(request)) return sendProblem(request, reply, notFound());
    reply.header("X-Request-Id", request.id).raw.once("close", () => request.answered(reply.statusCode));
    return notFoundPage(request, reply);
  });
  app.server.prependListener("connection", (socket: Socket) => connections.admit(socket));
  app.server.on("checkContinue", (request, response) => {
    expectContinue(request, response);
    app.routing(request, response);
  });
  // an unknown expectation may be ignored (RFC 9110, 10.1.1)
  app.server.on("checkExpectation", (request, response) => app.routing(request, response));
  app.server.on("connect", (_request, socket) => refuseBytes(new Error("CONNECT is for proxies"), socket));
  return app;
}

/** The framework as a router: this folder reads and validates bodies, refuses requests and writes the log. */
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
    http: { headersTimeout: headersTimeoutMs, maxHeaderSize: headersBytesMax, requireHostHeader: false }, // Node's own refusal lacks this service's headers
    routerOptions: { maxParamLength: urlLengthMax, caseSensitive: true, ignoreTrailingSlash: false },
    rewriteUrl: originForm,
    ...refusals,
  });
  app.server.maxHeadersCount = headersMax + 1;
  // every method gets the 405 of an existing path, or the 404 of any other
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
  // handlers read bodies themselves, after every check that does not need them
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setValidatorCompiler(() => () => true);
  return app;
}

/**
 * Adds routes outside the API, whose answers the framework sends.
 *
 * @param add adds the routes to the app that it gets
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
