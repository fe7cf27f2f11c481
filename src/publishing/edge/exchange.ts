import type { IncomingMessage, ServerResponse } from "node:http";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import { addressName, clientAddressOf } from "../../platform/addresses.ts";
import type { ConnectionGuard } from "../../platform/connections.ts";
import type { RunInTurn } from "../../platform/event-loop.ts";
import { traceFields } from "../../platform/http/access-log.ts";
import { hasBody } from "../../platform/http/bodies.ts";
import { countHosts, parseHost, splitAbsoluteForm } from "../../platform/http/hosts.ts";
import { stopParsing } from "../../platform/http/parser-bounds.ts";
import { requestIdOf, traceparentOf } from "../../platform/http/request-ids.ts";
import { loggedPath } from "../../platform/log.ts";
import { hasAddress, type AddressList } from "../../platform/parse.ts";
import { overloaded, Problem } from "../../platform/problem.ts";
import { answer, temporarilyUnavailable, type EdgeContext } from "./answer.ts";
import type { Bodies } from "./bodies.ts";
import { type Answer, text } from "./files.ts";
import { collectForm, receivesForm, sendsForm } from "./forms.ts";
import type { Http2Bounds } from "./http2-bounds.ts";
import { deploymentAt } from "./requests.ts";
import { type Channel, dropBody, overHttp1, overHttp2, sendAnswer } from "./send.ts";
import { type Log, siteOf } from "./site.ts";
import type { OnRefused, OnVisit, Visit } from "./visits.ts";

/** A TLS connection and the name that it was made for. */
type SecureConnection = { readonly socket: TLSSocket; readonly host: string };

/** What the visits of an edge share. */
export type Exchange = {
  served: EdgeContext;
  /** Keyed by the socket of HTTP/1.1 or the session of HTTP/2. */
  secured: WeakMap<object, SecureConnection>;
  guard: ConnectionGuard;
  bodies: Bodies;
  http2Bounds: Http2Bounds;
  trustedProxies: AddressList;
  /** Begins an answer in the turn of its site and visitor. */
  inTurn: RunInTurn<string>;
  log: Log;
  onRefused: OnRefused;
  onVisit: OnVisit;
};

/** Answers a request over HTTP/1.1. */
export function answerHttp1(edge: Exchange, request: IncomingMessage, response: ServerResponse): void {
  const { served, secured, guard } = edge;
  const { method = "", url = "", headers, rawHeaders, socket } = request;
  const form = sendsForm(method, url, headers) ? receivesForm(request) : undefined;
  if (form === undefined && hasBody(headers)) stopParsing(socket); // the answer closes the connection, and nothing reads a body
  const authority = countHosts(rawHeaders) > 1 ? undefined : headers.host;
  const secureHost = secured.get(socket)?.host;
  const visit = openVisit(edge, { protocol: "http/1.1", method, url, authority, headers, secureHost, address: socket.remoteAddress, form });
  attempt(edge, visit, overHttp1(request, response, visit), () => {
    const reply = answer(visit, served);
    if (reply.host === undefined) return reply;
    const connectionHost = connectionHostOf(reply.host, served);
    // The connection still sends an earlier answer. If it changed its host now, removing the earlier host would not cut it.
    if (response.socket === null && !guard.isFor(socket, connectionHost)) return wrongHost;
    guard.setHost(socket, connectionHost);
    return reply;
  });
}

/** Answers a request over HTTP/2. */
export function answerHttp2(edge: Exchange, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const { served, secured, http2Bounds } = edge;
  const { session } = stream;
  stream.on("error", ignore);
  if (session === undefined) return;
  const { ":method": method = "", ":path": url = "", ":authority": named, host } = headers;
  const authority = named !== undefined && host !== undefined && host !== named ? undefined : (named ?? host);
  const secure = secured.get(session);
  if (secure === undefined || secure.socket.destroyed || !http2Bounds.addStream(stream)) return;
  const collected = sendsForm(method, url, headers) ? collectForm() : undefined;
  dropBody(stream, http2Bounds, collected);
  const address = secure.socket.remoteAddress;
  const visit = openVisit(edge, {
    protocol: "h2",
    method,
    url,
    authority,
    headers,
    secureHost: secure.host,
    address,
    form: collected?.form,
  });
  attempt(edge, visit, overHttp2(stream, visit, http2Bounds), () => answer(visit, served));
}

/** The host that a connection counts for: dropping a project's host cuts those of its deployments too. */
export function connectionHostOf(host: string, { platformDomain }: Pick<EdgeContext, "platformDomain">): string {
  return deploymentAt(host, platformDomain)?.projectHost ?? host;
}

type Arrival = Pick<Visit, "protocol" | "method" | "url" | "headers" | "secureHost"> & {
  /** The Host header or `:authority`; undefined where there is none, or more than one. */
  authority: string | undefined;
  /** That of the socket. */
  address: string | undefined;
  form: Visit["form"];
};

function openVisit({ served, trustedProxies }: Exchange, arrival: Arrival): Visit {
  const { protocol, method, headers, secureHost, address, form } = arrival;
  const { authority = arrival.authority, target } = splitAbsoluteForm(arrival.url);
  const host = parseHost(authority);
  const site = host === undefined ? "nothing" : siteOf(host, served.sites.get(host));
  const visitor = addressName(clientAddressOf(address, headers["x-forwarded-for"]?.toString(), trustedProxies));
  return {
    method,
    headers,
    url: target,
    id: requestIdOf(arrival),
    traceparent: headers.traceparent === undefined ? undefined : traceparentOf(arrival),
    startedAt: performance.now(),
    status: 0,
    protocol,
    scheme: secureHost === undefined ? "http" : "https",
    host,
    secureHost,
    cameByHttps: protocol === "http/1.1" && isForwardedHttps(headers, address, trustedProxies),
    site,
    turn: `${site} ${visitor}`,
    address: visitor,
    form,
    isKnown: false,
    bytes: 0,
    isCut: false,
  };
}

/** If several proxies have added to `X-Forwarded-Proto`, the first value is that of the visitor's connection. */
function isForwardedHttps(headers: IncomingHttpHeaders, address: string | undefined, trustedProxies: AddressList): boolean {
  const forwarded = headers["x-forwarded-proto"];
  if (forwarded === undefined || !/^https *(,|$)/i.test(String(forwarded))) return false;
  return address !== undefined && hasAddress(trustedProxies, address);
}

/** Answers a request in its turn. Never throws. */
function attempt(edge: Exchange, visit: Visit, channel: Channel, decide: () => Answer): void {
  const refuse = (): void => void fail(edge, visit, channel, temporarilyUnavailable, overloaded("Too many requests wait."));
  edge.inTurn(visit.turn, () => answerNow(edge, visit, channel, decide), refuse);
}

/** Answers a request and reports the visit. Never throws. An answer that is in memory is sent without a promise, at half the cost. */
function answerNow(edge: Exchange, visit: Visit, channel: Channel, decide: () => Answer): void {
  let reply = wrongHost;
  visit.isCut = channel.isGone(); // while the request waited
  if (visit.isCut) return report(edge, visit, reply);
  try {
    reply = decide();
    const sending = send(edge, visit, channel, reply);
    if (sending !== undefined) return void finish(edge, visit, channel, reply, sending);
  } catch (error) {
    return void fail(edge, visit, channel, reply, error);
  }
  report(edge, visit, reply);
}

/** Sends an answer at once, or when it is found. */
function send({ bodies }: Exchange, visit: Visit, channel: Channel, reply: Answer): void | Promise<void> {
  const { pending, host, headers } = reply;
  if (pending === undefined) return sendAnswer(reply, visit, channel, bodies);
  return pending().then((found) => {
    const answered = { ...found, ...(host !== undefined && { host }), headers: { ...found.headers, ...headers } };
    return sendAnswer(answered, visit, channel, bodies);
  });
}

/** Reports the visit when the answer is sent. Never rejects. */
async function finish(edge: Exchange, visit: Visit, channel: Channel, reply: Answer, sending: Promise<void>): Promise<void> {
  try {
    await sending;
  } catch (error) {
    return fail(edge, visit, channel, reply, error);
  }
  report(edge, visit, reply);
}

/** Reports the visit of a request that failed, and answers it if nothing was sent. Never rejects. */
async function fail(edge: Exchange, visit: Visit, channel: Channel, reply: Answer, error: unknown): Promise<void> {
  visit.isCut = isLostConnection(error);
  report(edge, visit, visit.isCut ? reply : await answerFailed(edge, visit, channel, reply, error));
}

/** Logs why a request failed or was refused, and answers with a 500 or 503 if nothing was sent yet. Returns the answer. */
async function answerFailed(edge: Exchange, visit: Visit, channel: Channel, reply: Answer, error: unknown): Promise<Answer> {
  const isRefusal = error instanceof Problem && error.code === "unavailable";
  if (isRefusal) edge.onRefused(visit, error.cause);
  else {
    const fields = { err: error, ...traceFields(visit), host: visit.host, path: loggedPath(visit.url) };
    edge.log.error(fields, "a request to a published site failed");
  }
  if (channel.hasBegun()) {
    visit.isCut = true;
    channel.cut();
    return reply;
  }
  const { headers, ...rest } = isRefusal ? temporarilyUnavailable : internalError;
  const instead: Answer = {
    ...rest,
    ...(reply.host !== undefined && { host: reply.host }),
    headers: { ...headers, "X-Request-Id": visit.id },
  };
  try {
    await sendAnswer(instead, visit, channel, edge.bodies);
  } catch {
    visit.isCut = true; // the visitor left
  }
  return instead;
}

function report(edge: Exchange, visit: Visit, { host, status }: Answer): void {
  visit.isKnown = host !== undefined;
  visit.status ||= status;
  edge.onVisit(visit, performance.now() - visit.startedAt);
}

const ignore = (): void => undefined;
const wrongHost = text(421, "This connection still answers for another name.");
const internalError = text(500, "Something went wrong on our side.");

function isLostConnection(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return ["ERR_STREAM_PREMATURE_CLOSE", "ERR_HTTP2_INVALID_STREAM", "ERR_STREAM_DESTROYED", "ECONNRESET", "EPIPE"].includes(code);
}
