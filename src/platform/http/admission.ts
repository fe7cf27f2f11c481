import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { ConnectionGuard } from "../connections.ts";
import type { Problem } from "../problem.ts";
import { errorBody, problemOf, send, sendProblem } from "./answers.ts";
import { surfaceOf, type ApiSurface } from "./api-surfaces.ts";
import { drain } from "./bodies.ts";
import { boundChunks } from "./chunk-bounds.ts";
import { clientAddress } from "./caller.ts";
import type { HostCheck } from "./hosts.ts";
import type { Pipelines } from "./pipelining.ts";
import type { RequestBounds } from "./request-bounds.ts";
import { hideMalformedType, requestProblem } from "./request-form.ts";
import { traceparentOf } from "./request-ids.ts";
import { pathOf } from "./routes.ts";
import { statuses } from "./statuses.ts";
import { headersMax, headersTooLarge } from "./unparsed.ts";

/** Called with each answer: its status, and the time since the request's head in ms. */
export type Answered = (request: FastifyRequest, status: number, ms: number) => void;

/** What every request to an app passes through. */
export type Admission = {
  /** The API comes first: it answers requests that cannot be parsed. */
  surfaces: readonly [ApiSurface, ...ApiSurface[]];
  log: Logger;
  connections: ConnectionGuard;
  requests: RequestBounds;
  pipelines: Pipelines;
  checkHost: HostCheck;
  onAnswered: Answered;
  /** Closes the connections that wait for no answer. */
  closeIdle: () => void;
  isClosing: boolean;
  /** The `answered` of every request of this app. */
  answered: (this: FastifyRequest, status: number) => void;
};

type Done = (error?: Error) => void;

/**
 * Admits a request or refuses it: host, then the gate of its surface (key or session, limits), then its form, then the account's
 * requests in flight. Awaits nothing if the gate and the bounds answer at once.
 */
export function admit(admission: Admission, request: FastifyRequest, reply: FastifyReply, done: Done): void {
  const { checkHost } = admission;
  const surface = begin(admission, request, reply);
  const hasTooMany = request.raw.rawHeaders.length > 2 * headersMax;
  if (!surface) return admitOutside(request, reply, hasTooMany ? headersTooLarge() : checkHost(request), done);
  if (hasTooMany) return void refuseHeaders(request, reply, surface);
  if (surface.preflightHeaders && isPreflight(request)) return void answerPreflight(admission, request, reply, surface);
  const otherHost = surface.hosts === "any" ? undefined : checkHost(request);
  if (otherHost) return void refuseHost(otherHost, request, reply, surface);
  const refusal = surface.gate.authenticate(request);
  if (refusal instanceof Promise) return void refusal.then((settled) => enter(admission, request, reply, done, settled), done);
  return enter(admission, request, reply, done, refusal);
}

function enter(admission: Admission, request: FastifyRequest, reply: FastifyReply, done: Done, refused: Problem | undefined): void {
  const problem = refused ?? requestProblem(request, admission.checkHost);
  if (problem) return sendProblem(request, reply, problem);
  hideMalformedType(request);
  const overload = admission.requests.enter(request);
  if (overload instanceof Promise) return void overload.then((settled) => proceed(admission, request, reply, done, settled), done);
  return proceed(admission, request, reply, done, overload);
}

function proceed(admission: Admission, request: FastifyRequest, reply: FastifyReply, done: Done, overload: Problem | undefined): void {
  if (overload) refuse(admission, overload, request, reply);
  else done();
}

/** A URL that cannot be routed passes no hook: its key and its limits are checked here. */
export async function refuseUnrouted(admission: Admission, error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const surface = begin(admission, request, reply);
  if (surface?.preflightHeaders && isPreflight(request)) return answerPreflight(admission, request, reply, surface);
  const refusal = await surface?.gate.authenticate(request);
  refuse(admission, refusal ?? error, request, reply);
}

/** Answers a request with what went wrong; logs what was unexpected. */
export function refuse(admission: Admission, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { log } = admission;
  const problem = problemOf(error);
  if (problem.code === "internal") log.error({ ...traceOf(request), err: error }, "unexpected error");
  else if (problem.isOverload) return void refuseOverload(admission, problem, request, reply);
  else if (problem.code === "unavailable") log.warn({ ...traceOf(request), err: problem.cause }, "unavailable");
  return sendProblem(request, reply, problem);
}

/** An overload is not the caller's doing, so the request gets its quota back. */
async function refuseOverload({ surfaces, log }: Admission, problem: Problem, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  try {
    await surfaceOf(request, surfaces)?.gate.giveBack(request);
  } catch (error) {
    log.error({ ...traceOf(request), err: error }, "the quota of a refused request was not given back");
  }
  sendProblem(request, reply, problem);
}

/**
 * Prepares a request and returns its surface. A request whose URL cannot be routed has none of the app's decorations, so they are set
 * here.
 */
function begin(admission: Admission, request: FastifyRequest, reply: FastifyReply): ApiSurface | undefined {
  admission.connections.requested(request.raw.socket, reply.raw);
  request.answered = admission.answered;
  request.startedAt = performance.now();
  request.answerHeaders = ["X-Request-Id", request.id];
  request.traceparent = traceparentOf(request.raw);
  admission.pipelines.begin(request.raw, reply.raw);
  if (boundChunks(request.raw, reply.raw)) reply.raw.once("finish", () => drain(request.raw));
  const surface = surfaceOf(request, admission.surfaces);
  if (surface) request.answerHeaders.push(...surface.headers);
  // an open connection would delay the stop
  if (admission.isClosing) request.answerHeaders.push("Connection", "close");
  return surface;
}

/** Releases what an answered request held, and records the answer. */
export function noteAnswered(admission: Admission, request: FastifyRequest, status: number): void {
  admission.requests.leave(request);
  // answers to requests that were in flight when the stop began lack `Connection: close`
  if (admission.isClosing) setImmediate(admission.closeIdle);
  const ms = performance.now() - request.startedAt;
  admission.onAnswered(request, status, ms);
  const { method, caller } = request;
  admission.log.info({
    ...traceOf(request),
    method,
    path: pathOf(request.url),
    status,
    ms: Math.round(ms * 1_000) / 1_000,
    accountId: caller?.accountId,
    keyId: caller?.keyId,
    memberId: caller?.person?.memberId,
  });
}

/** A request outside the API and the dashboard's calls. The framework answers it, whether it has a route or not. */
function admitOutside(request: FastifyRequest, reply: FastifyReply, problem: Problem | undefined, done: Done): void {
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

async function answerPreflight(admission: Admission, request: FastifyRequest, reply: FastifyReply, surface: ApiSurface): Promise<void> {
  const otherHost = admission.checkHost(request);
  if (otherHost) return refuseHost(otherHost, request, reply, surface);
  await surface.gate.addLimitHeaders(request);
  request.answerHeaders.push(...(surface.preflightHeaders ?? []));
  send(request, reply, 204);
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

/** What every log line of a request has. */
function traceOf({ id: requestId, traceparent }: FastifyRequest) {
  return { requestId, traceparent };
}
