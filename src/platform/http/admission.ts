import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { andThen, type Awaitable } from "../db/database.ts";
import { errorTable, statusOf } from "../error-table.ts";
import type { Logger } from "../log.ts";
import { invalidAt, Problem, type ProblemFields } from "../problem.ts";
import { traceFields } from "./access-log.ts";
import { errorBody, problemOf, send, sendProblem } from "./answers.ts";
import { drainBytesMax, drainTimeMaxMs } from "./bodies.ts";
import { clientAddress, closeAfter, type Exchange, headerLines, type Surface } from "./exchange.ts";
import type { HostCheck } from "./hosts.ts";
import type { Pipelines } from "./parser-bounds.ts";
import type { RequestBounds } from "./request-bounds.ts";
import { nextRequestId } from "./request-ids.ts";

/** The most bytes of a request line with its headers, as node:http counts them: the URL, the names and the values. */
export const headersBytesMax = 16_384;
/** The most headers of a request. Node reads one more, which shows that there are too many, and drops the rest. */
export const headersMax = 256;

/** What `admit` and `refuse` work with. */
export type Admission = {
  log: Logger;
  requests: RequestBounds;
  checkHost: HostCheck;
  /** Begins a span for an admitted request and calls `callRoute` in it. Default: no span. */
  inSpan?: ((exchange: Exchange, callRoute: () => void) => void) | undefined;
  /** Answers a browser's request for a page that does not exist; programs get the problem `not_found`. */
  notFoundPage?: ((exchange: Exchange) => void) | undefined;
};

/**
 * Admits a request or refuses it: host, then the gate of its surface (key or session, limits), then its form, then the account's
 * requests in flight. Awaits nothing if the gate and the bounds answer at once.
 */
export function admit(admission: Admission, exchange: Exchange): Awaitable<void> {
  const { surface, route } = exchange;
  const hasTooMany = exchange.request.rawHeaders.length > 2 * headersMax;
  if (!surface) return admitOutside(admission, exchange, hasTooMany ? headersTooLarge() : admission.checkHost(exchange));
  if (hasTooMany) return refuseHeaders(exchange, surface);
  if (surface.preflightLines !== undefined && isPreflight(exchange)) return answerPreflight(admission, exchange, surface);
  const otherHost = route.hosts === "any" ? undefined : admission.checkHost(exchange);
  if (otherHost) return refuseHost(otherHost, exchange, surface);
  const refusal = surface.gate.authenticate(exchange);
  if (refusal instanceof Promise) return refusal.then((settled) => admitRequest(admission, exchange, settled));
  return admitRequest(admission, exchange, refusal);
}

function admitRequest(admission: Admission, exchange: Exchange, refused: ProblemFields | undefined): Awaitable<void> {
  const problem = refused ?? formProblem(exchange, admission.checkHost);
  if (problem) return sendProblem(exchange, problem);
  const overload = admission.requests.admit(exchange);
  if (overload === undefined) return serve(admission, exchange);
  return andThen(overload, (late) => (late ? refuse(admission, exchange, late) : serve(admission, exchange)));
}

/** The refusal of a malformed request, or of a path or method that does not exist. */
function formProblem(exchange: Exchange, checkHost: HostCheck): Problem | undefined {
  const coding = exchange.headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    closeAfter(exchange); // where the body ends, and the next request begins, is unknown
    return invalidAt("header.Transfer-Encoding", "must be chunked, or absent");
  }
  return checkHost(exchange) ?? exchange.route.problem?.(exchange);
}

/** A request outside the API and the dashboard's calls. */
function admitOutside(admission: Admission, exchange: Exchange, problem: Problem | undefined): Awaitable<void> {
  const refusal = problem ?? exchange.route.problem?.(exchange);
  return refusal ? refuse(admission, exchange, refusal) : serve(admission, exchange);
}

function serve(admission: Admission, exchange: Exchange): Awaitable<void> {
  const { route } = exchange;
  if (!admission.inSpan) return route.serve(exchange);
  return new Promise((resolve, reject) => {
    // the span lasts until the route's promise settles
    admission.inSpan?.(exchange, () => void (async () => route.serve(exchange))().then(resolve, reject));
  });
}

/** Answers a request with the problem of an error. Logs the error if it was unexpected. */
export function refuse(admission: Admission, exchange: Exchange, error: unknown): Awaitable<void> {
  const { log, notFoundPage } = admission;
  const problem = problemOf(error);
  if (problem.code === "internal") logUnexpected(log, exchange, error);
  else if (problem.isOverload) return refuseOverload(admission, exchange, problem);
  else if (problem.code === "unavailable") log.warn({ ...traceFields(exchange), err: problem.cause }, "unavailable");
  if (exchange.status !== 0) return;
  if (problem.code === "not_found" && !exchange.surface && notFoundPage && wantsPage(exchange)) notFoundPage(exchange);
  else sendProblem(exchange, problem);
}

export function logUnexpected(log: Logger, exchange: Exchange, error: unknown): void {
  log.error({ ...traceFields(exchange), err: error }, "unexpected error");
}

/** Gives the caller the request's quota back, because the caller did not cause the overload. */
async function refuseOverload({ log }: Admission, exchange: Exchange, problem: Problem): Promise<void> {
  try {
    await exchange.surface?.gate.giveBack(exchange);
  } catch (error) {
    log.error({ ...traceFields(exchange), err: error }, "the quota of a refused request was not given back");
  }
  sendProblem(exchange, problem);
}

/** Refuses before the caller is identified: the header with the key may have been dropped. */
async function refuseHeaders(exchange: Exchange, { gate }: Surface): Promise<void> {
  exchange.limits = await gate.countUnparsed(clientAddress(exchange));
  sendProblem(exchange, headersTooLarge());
}

/** Refuses before the caller is identified: a browser's cookies for another host are not this service's. */
async function refuseHost(problem: Problem, exchange: Exchange, { gate }: Surface): Promise<void> {
  await gate.addLimitHeaders(exchange);
  sendProblem(exchange, problem);
}

async function answerPreflight({ checkHost }: Admission, exchange: Exchange, surface: Surface): Promise<void> {
  const otherHost = checkHost(exchange);
  if (otherHost) return refuseHost(otherHost, exchange, surface);
  await surface.gate.addLimitHeaders(exchange);
  exchange.lines += surface.preflightLines ?? "";
  send(exchange, 204);
}

function isPreflight({ method, headers }: Exchange): boolean {
  return method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

function wantsPage({ method, headers }: Exchange): boolean {
  return (method === "GET" || method === "HEAD") && headers.accept !== undefined && headers.accept.includes("text/html");
}

/** The refusal of a request line and headers beyond a bound. */
function headersTooLarge(): Problem {
  return new Problem("headers_too_large", errorTable.headers_too_large.example, { headers: { Connection: "close" } });
}

type Connection = Duplex & { remoteAddress?: string };

/** Connections that were refused. Node reports an error for every further packet of such a connection. */
const refused = new WeakSet<Connection>();

/**
 * Answers a request that cannot be parsed, once for each connection, with the headers of a surface's answers. Earlier requests get their
 * answers first. Closes the connection when the client has read the answer.
 */
export async function refuseUnparsed(
  { gate, lines }: Surface,
  log: Logger,
  pipelines: Pick<Pipelines, "answered">,
  error: Error & { code?: string },
  socket: Connection,
): Promise<void> {
  if (refused.has(socket)) return;
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  refused.add(socket);
  drainConnection(socket);
  await pipelines.answered(socket);
  if (!socket.writable) return;
  const problem = error.code === "HPE_HEADER_OVERFLOW" ? headersTooLarge() : invalidAt("request", "must be valid HTTP/1.1");
  const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : statusOf(problem.code);
  const body = JSON.stringify({ ...errorBody(problem), status });
  const limits = await gate.countUnparsed(socket.remoteAddress ?? "unknown");
  const requestId = nextRequestId();
  log.info({ requestId, status }, "a request that could not be read");
  const own = headerLines({
    "X-Request-Id": requestId,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": `${Buffer.byteLength(body)}`,
    Connection: "close",
  });
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}${limits}${own}\r\n${body}`);
}

/** Reads what the client still sends, within bounds. Closing earlier would reset the connection, and lose the answer. */
function drainConnection(socket: Connection): void {
  let bytes = 0;
  const timer = setTimeout(() => socket.destroy(), drainTimeMaxMs).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > drainBytesMax) socket.destroy();
  });
}
