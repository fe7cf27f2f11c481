import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { addressName, clientAddressOf } from "../../platform/addresses.ts";
import type { RunInTurn } from "../../platform/event-loop.ts";
import { hasBody } from "../../platform/http/bodies.ts";
import { requestIdOf, traceIdOf, traceparentOf } from "../../platform/http/request-ids.ts";
import { stopParsing } from "../../platform/http/stop-parsing.ts";
import { hasAddress, type AddressList } from "../../platform/parse.ts";
import { overloaded, Problem } from "../../platform/problem.ts";
import { loggedPath } from "../../platform/logged-path.ts";
import { answer, later, text, type Answer, type Served } from "./answer.ts";
import type { OnVisit, Visit } from "./access-log.ts";
import type { Bodies } from "./bodies.ts";
import type { Connections } from "./connections.ts";
import type { Http2Bounds } from "./http2-bounds.ts";
import { dropBody, sendHttp2 } from "./send-http2.ts";
import type { OnRefused } from "./refusal-log.ts";
import { parseHost, splitAbsoluteForm } from "./requests.ts";
import { sendAnswer, type Sent } from "./send.ts";
import { siteOf, type Log } from "./site.ts";

/** A TLS connection and the name that it was made for. */
export type SecureConnection = { readonly socket: TLSSocket; readonly host: string };

export type ExchangeParts = {
  served: Served;
  /** Keyed by the socket of HTTP/1.1 or the session of HTTP/2. */
  secured: WeakMap<object, SecureConnection>;
  connections: Connections;
  bodies: Bodies;
  http2Bounds: Http2Bounds;
  hotFileBytesMax: number;
  trustedProxies: AddressList;
  /** Begins an answer in the turn of its site and visitor. */
  inTurn: RunInTurn<string>;
  log: Log;
  onRefused: OnRefused;
  /** Called after each answer. */
  onVisit: OnVisit;
};

export type Exchange = {
  http1(request: IncomingMessage, response: ServerResponse): void;
  http2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void;
};

/** Answers the requests of both protocols. An unexpected error becomes a neutral 500 and a line in the log. */
export function createExchange(parts: ExchangeParts): Exchange {
  const { served, secured, connections, bodies, http2Bounds, hotFileBytesMax, trustedProxies } = parts;
  function http1(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers, socket } = request;
    if (hasBody(headers)) stopParsing(socket); // the answer closes the connection, and nothing reads a body
    const authority = countHostHeaders(request) > 1 ? undefined : headers.host;
    const secureHost = secured.get(socket)?.host;
    const scheme = secureHost === undefined ? "http" : "https";
    const turn = turnOf(parts, { authority, url, headers }, socket);
    const asked = { protocol: "http/1.1", scheme, authority, method, url, headers, ...turn } as const;
    const decide = (): Answer => {
      const cameByHttps = isForwardedHttps(request, trustedProxies);
      const reply = answer({ ...asked, secureHost, cameByHttps }, served);
      if (reply.host === undefined) return reply;
      // The connection still sends an earlier answer. If it changed its host now, removing the earlier host would not cut it.
      if (response.socket === null && !connections.isFor(socket, reply.host)) return wrongHost;
      connections.use(socket, reply.host);
      return reply;
    };
    const send = (reply: Answer, sent: Sent): void | Promise<void> =>
      whenFound(reply, (found) => sendAnswer(found, request, response, sent, { bodies, hotFileBytesMax }));
    const cut = (): void => void response.destroy();
    attempt(parts, asked, { decide, send, begun: () => (response.headersSent ? cut : undefined), isGone: () => response.destroyed });
  }

  function http2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const { session } = stream;
    stream.on("error", ignore);
    if (session === undefined) return;
    const { ":method": method = "", ":path": url = "", ":authority": named, host } = headers;
    const authority = named !== undefined && host !== undefined && host !== named ? undefined : (named ?? host);
    const secure = secured.get(session);
    if (secure === undefined || secure.socket.destroyed || !http2Bounds.addStream(stream)) return;
    dropBody(stream, http2Bounds);
    const asked = {
      protocol: "h2",
      scheme: "https",
      authority,
      method,
      url,
      headers,
      ...turnOf(parts, { authority, url, headers }, secure.socket),
    } as const;
    const decide = (): Answer => answer({ ...asked, secureHost: secure.host, cameByHttps: false }, served);
    const send = (reply: Answer, sent: Sent): void | Promise<void> =>
      whenFound(reply, (found) => sendHttp2(found, stream, method === "HEAD", sent, { bodies, bounds: http2Bounds, hotFileBytesMax }));
    const cut = (): void => stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    attempt(parts, asked, { decide, send, begun: () => (stream.headersSent ? cut : undefined), isGone: () => stream.destroyed });
  }

  return { http1, http2 };
}

/** Sends an answer at once, or when it is found. */
function whenFound(reply: Answer, send: (found: Answer) => void | Promise<void>): void | Promise<void> {
  const { pending, host, headers } = reply;
  if (pending === undefined) return send(reply);
  return pending().then((found) => send({ ...found, ...(host !== undefined && { host }), headers: { ...found.headers, ...headers } }));
}

type Asked = Pick<Visit, "protocol" | "scheme" | "method"> & Arrival & Turn;
type Arrival = { authority: string | undefined; url: string; headers: IncomingHttpHeaders };

/** Whose turns a request takes: its site's, and of these its visitor's. */
type Turn = { site: string; turn: string };

function turnOf({ served, trustedProxies }: ExchangeParts, arrival: Arrival, { remoteAddress }: Pick<Socket, "remoteAddress">): Turn {
  const host = hostOf(arrival);
  const site = host === undefined ? "nothing" : siteOf(host, served.sites.get(host));
  const forwarded = arrival.headers["x-forwarded-for"]?.toString();
  return { site, turn: `${site} ${addressName(clientAddressOf(remoteAddress, forwarded, trustedProxies))}` };
}

function hostOf(arrival: Arrival): string | undefined {
  const { authority = arrival.authority } = splitAbsoluteForm(arrival.url);
  return parseHost(authority);
}

type Answering = {
  decide: () => Answer;
  /** Returns a promise only if the answer has to wait, for the disk or for the visitor. */
  send: (reply: Answer, sent: Sent) => void | Promise<void>;
  /** Returns undefined until the answer's headers are sent, then a function that cuts the answer off. */
  begun: () => (() => void) | undefined;
  /** Whether the visitor has left. */
  isGone: () => boolean;
};

/** A request that is being answered. */
type Progress = { asked: Asked; startedAt: number; sent: Sent; requestId: string | undefined };

/** Answers a request in its turn. Never throws. */
function attempt(parts: ExchangeParts, asked: Asked, answering: Answering): void {
  const progress: Progress = { asked, startedAt: performance.now(), sent: { status: 0, bytes: 0, isCut: false }, requestId: undefined };
  const refused = (): void => void fail(parts, progress, answering, { error: overloaded("Too many requests wait."), reply: later });
  parts.inTurn(asked.turn, () => answerNow(parts, progress, answering), refused);
}

/** Answers a request and reports the visit. Never throws. An answer that is in memory is sent without a promise, at half the cost. */
function answerNow(parts: ExchangeParts, progress: Progress, answering: Answering): void {
  let reply = wrongHost;
  progress.sent.isCut = answering.isGone(); // while the request waited
  if (progress.sent.isCut) return parts.onVisit(visitOf(progress, reply));
  try {
    reply = answering.decide();
    const sending = answering.send(reply, progress.sent);
    if (sending !== undefined) return void finish(parts, progress, answering, { sending, reply });
  } catch (error) {
    return void fail(parts, progress, answering, { error, reply });
  }
  parts.onVisit(visitOf(progress, reply));
}

/** Reports the visit when the answer is sent. Never rejects. */
async function finish(
  parts: ExchangeParts,
  progress: Progress,
  answering: Answering,
  { sending, reply }: { sending: Promise<void>; reply: Answer },
): Promise<void> {
  try {
    await sending;
  } catch (error) {
    return fail(parts, progress, answering, { error, reply });
  }
  parts.onVisit(visitOf(progress, reply));
}

/** Reports the visit of a request that failed, and answers it if nothing was sent. Never rejects. */
async function fail(
  parts: ExchangeParts,
  progress: Progress,
  answering: Answering,
  { error, reply }: { error: unknown; reply: Answer },
): Promise<void> {
  progress.sent.isCut = isLostConnection(error);
  const sent = progress.sent.isCut ? reply : await answerFailed(parts, progress, answering, { error, reply });
  parts.onVisit(visitOf(progress, sent));
}

/** Logs why a request failed or was refused, and answers with a 500 or 503 if nothing was sent yet. Returns the answer. */
async function answerFailed(
  { log, onRefused }: ExchangeParts,
  progress: Progress,
  { send, begun }: Answering,
  { error, reply }: { error: unknown; reply: Answer },
): Promise<Answer> {
  const { sent } = progress;
  const { requestId, traceId, host, path } = visitOf(progress, reply);
  const isRefusal = error instanceof Problem && error.code === "unavailable";
  if (isRefusal) onRefused(progress.asked.site, host, error.cause);
  else log.error({ err: error, requestId, traceId, host, path }, "a request to a published site failed");
  const cut = begun();
  if (cut !== undefined) {
    sent.isCut = true;
    cut();
    return reply;
  }
  const { headers, ...rest } = isRefusal ? later : internalError;
  const known = reply.host === undefined ? {} : { host: reply.host };
  const instead: Answer = { ...rest, ...known, headers: { ...headers, "X-Request-Id": requestId } };
  try {
    await send(instead, sent);
  } catch {
    sent.isCut = true; // the visitor left
  }
  return instead;
}

function visitOf(progress: Progress, { host, status }: Answer): Visit {
  const { asked, startedAt, sent } = progress;
  const { protocol, scheme, method, headers } = asked;
  const { target } = splitAbsoluteForm(asked.url);
  const traceparent = headers.traceparent === undefined ? undefined : traceparentOf(asked);
  return {
    host: host ?? hostOf(asked),
    isKnown: host !== undefined,
    protocol,
    scheme,
    requestId: (progress.requestId ??= requestIdOf(asked)),
    traceparent,
    traceId: traceparent && traceIdOf(traceparent),
    method,
    path: loggedPath(target),
    status: sent.status || status,
    bytes: sent.bytes,
    ms: performance.now() - startedAt,
    isCut: sent.isCut,
  };
}

const ignore = (): void => undefined;
const wrongHost = text(421, "This connection still answers for another name.");
const internalError = text(500, "Something went wrong on our side.");

/** If several proxies have added to `X-Forwarded-Proto`, the first value is that of the visitor's connection. */
function isForwardedHttps({ headers, socket }: IncomingMessage, trustedProxies: AddressList): boolean {
  const forwarded = headers["x-forwarded-proto"];
  if (forwarded === undefined || !/^https *(,|$)/i.test(String(forwarded))) return false;
  return socket.remoteAddress !== undefined && hasAddress(trustedProxies, socket.remoteAddress);
}

/** Counts the Host headers. Node passes on the first of several, but such a request is invalid (RFC 9112, section 3.2). */
function countHostHeaders({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

function isLostConnection(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return ["ERR_STREAM_PREMATURE_CLOSE", "ERR_HTTP2_INVALID_STREAM", "ERR_STREAM_DESTROYED", "ECONNRESET", "EPIPE"].includes(code);
}
