import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { BlockList } from "node:net";
import type { TLSSocket } from "node:tls";
import { hasBody } from "../../platform/http/bodies.ts";
import { stopParsing } from "../../platform/http/stop-parsing.ts";
import { hasAddress } from "../../platform/parse.ts";
import { Problem } from "../../platform/problem.ts";
import { answer, later, text, type Answer, type Served } from "./answer.ts";
import type { Bodies } from "./bodies.ts";
import type { Connections } from "./connections.ts";
import type { Http2Bounds } from "./http2-bounds.ts";
import { sendHttp2 } from "./send-http2.ts";
import { sendAnswer } from "./send.ts";
import type { Log } from "./site.ts";

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
  trustedProxies: BlockList;
  log: Log;
};

export type Exchange = {
  http1(request: IncomingMessage, response: ServerResponse): void;
  http2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void;
};

/** Answers the requests of both protocols. An unexpected error becomes a neutral 500 and a line in the log. */
export function createExchange(parts: ExchangeParts): Exchange {
  const { served, secured, connections, bodies, http2Bounds, hotFileBytesMax, trustedProxies, log } = parts;
  function http1(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers, socket } = request;
    if (hasBody(headers)) stopParsing(socket); // the answer closes the connection, and nothing reads a body
    const authority = countHostHeaders(request) > 1 ? undefined : headers.host;
    const secureHost = secured.get(socket)?.host;
    const decide = (): Answer => {
      const cameByHttps = isForwardedHttps(request, trustedProxies);
      const reply = answer({ method, url, authority, secureHost, cameByHttps, headers }, served);
      if (reply.host === undefined) return reply;
      // The connection still sends an earlier answer. If it changed its host now, removing the earlier host would not cut it.
      if (response.socket === null && !connections.speaksTo(socket, reply.host)) return wrongHost;
      connections.use(socket, reply.host);
      return reply;
    };
    const send = (reply: Answer): Promise<void> => sendAnswer(reply, request, response, bodies, hotFileBytesMax);
    const cut = (): void => void response.destroy();
    void attempt(decide, send, () => (response.headersSent ? cut : undefined));
  }

  function http2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const { session } = stream;
    stream.on("error", ignore);
    if (session === undefined) return;
    const { ":method": method = "", ":path": url = "", ":authority": named, host } = headers;
    const authority = named !== undefined && host !== undefined && host !== named ? undefined : (named ?? host);
    const secure = secured.get(session);
    if (secure === undefined || secure.socket.destroyed || !http2Bounds.addStream(stream)) return;
    if (!stream.endAfterHeaders) stream.resume();
    const decide = (): Answer => answer({ method, url, authority, secureHost: secure.host, cameByHttps: false, headers }, served);
    const send = (reply: Answer): Promise<void> =>
      sendHttp2(reply, stream, method === "HEAD", { bodies, bounds: http2Bounds, hotFileBytesMax });
    const cut = (): void => stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    void attempt(decide, send, () => (stream.headersSent ? cut : undefined));
  }

  /** @param begun returns undefined until the answer's headers are sent, then a function that cuts the answer off */
  async function attempt(
    decide: () => Answer,
    send: (reply: Answer) => Promise<void>,
    begun: () => (() => void) | undefined,
  ): Promise<void> {
    try {
      await send(decide());
    } catch (error) {
      if (isLostConnection(error)) return;
      log.error({ err: error }, "a request to a published site failed");
      const isBusy = error instanceof Problem && error.code === "unavailable";
      const cut = begun();
      if (cut === undefined) await send(isBusy ? later : internalError);
      else cut();
    }
  }

  return { http1, http2 };
}

const ignore = (): void => undefined;
const wrongHost = text(421, "This connection still answers for another name.");
const internalError = text(500, "Something went wrong on our side.");

/** If several proxies have added to `X-Forwarded-Proto`, the first value is that of the visitor's connection. */
function isForwardedHttps({ headers, socket }: IncomingMessage, trustedProxies: BlockList): boolean {
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
