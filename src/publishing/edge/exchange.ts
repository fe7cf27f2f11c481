import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { BlockList } from "node:net";
import type { TLSSocket } from "node:tls";
import { hasAddress } from "../../platform/parse.ts";
import { Problem } from "../../platform/problem.ts";
import { answer, later, text, type Answer, type Served } from "./answer.ts";
import type { Bodies } from "./bodies.ts";
import type { Connections } from "./connections.ts";
import { parseHost, splitAbsoluteForm } from "./requests.ts";
import { sendAnswer, type Incoming, type Outgoing } from "./send.ts";
import type { Log } from "./site.ts";

/** A TLS connection and the name that it was made for; undefined until its first request tells it. */
export type SecureConnection = { readonly socket: TLSSocket; host: string | undefined };

export type ExchangeParts = {
  served: Served;
  /** By the socket of HTTP/1.1, or the session of HTTP/2. */
  secured: WeakMap<object, SecureConnection>;
  connections: Connections;
  bodies: Bodies;
  hotFileBytesMax: number;
  trustedProxies: BlockList;
  log: Log;
};

export type Exchange = {
  http1(request: IncomingMessage, response: ServerResponse): void;
  http2(request: Http2ServerRequest, response: Http2ServerResponse): void;
};

/** Answers requests: reads one off its protocol, decides, sends. Whatever goes wrong on our side is a neutral 500 and a line in the log. */
export function createExchange(parts: ExchangeParts): Exchange {
  const { served, secured, connections, bodies, hotFileBytesMax, trustedProxies, log } = parts;
  function http1(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers, socket } = request;
    const authority = hostHeaders(request) > 1 ? undefined : headers.host;
    const secureHost = secureHostOf(socket, url, authority);
    if (socket.destroyed) return;
    void attempt(request, response, () => {
      const cameByHttps = isForwardedHttps(request, trustedProxies);
      const reply = answer({ method, url, authority, secureHost, cameByHttps, headers }, served);
      if (reply.host === undefined) return reply;
      // Behind an answer that is still under way: were the connection another host's now, removing the first would not cut it.
      if (response.socket === null && !connections.speaksTo(socket, reply.host)) return elsewhere;
      connections.use(socket, reply.host);
      return reply;
    });
  }

  function http2(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { method, url, headers, stream } = request;
    const { session } = stream;
    if (session === undefined) return;
    const named = headers[":authority"];
    const authority = named !== undefined && headers.host !== undefined && headers.host !== named ? undefined : (named ?? headers.host);
    const secureHost = secureHostOf(session, url, authority);
    if (session.destroyed || secured.get(session)?.socket.destroyed) return;
    void attempt(request, response, () => answer({ method, url, authority, secureHost, cameByHttps: false, headers }, served));
  }

  /** The name of a connection over TLS. One that has none takes that of its first request, and is cut where that is not served over TLS. */
  function secureHostOf(connection: object, url: string | undefined, authority: string | undefined): string | undefined {
    const secure = secured.get(connection);
    if (secure === undefined || secure.host !== undefined) return secure?.host;
    const host = parseHost(splitAbsoluteForm(url ?? "").authority ?? authority);
    if (host === undefined || served.certificates.current(host) === undefined) {
      secure.socket.destroy();
      return undefined;
    }
    connections.use(secure.socket, host);
    secure.host = host;
    return host;
  }

  async function attempt(request: Incoming, response: Outgoing, decide: () => Answer): Promise<void> {
    try {
      await sendAnswer(decide(), request, response, bodies, hotFileBytesMax);
    } catch (error) {
      if (isLostConnection(error)) return;
      log.error({ err: error }, "a request to a published site failed");
      const isBusy = error instanceof Problem && error.code === "unavailable";
      if (response.headersSent) response.destroy();
      else await sendAnswer(isBusy ? later : wentWrong, request, response, bodies, hotFileBytesMax);
    }
  }

  return { http1, http2 };
}

const elsewhere = text(421, "This connection still answers for another name.");
const wentWrong = text(500, "Something went wrong on our side.");

/** Where several proxies have added to `X-Forwarded-Proto`, the first value is of the visitor's own connection. */
function isForwardedHttps({ headers, socket }: IncomingMessage, trustedProxies: BlockList): boolean {
  const forwarded = headers["x-forwarded-proto"];
  if (forwarded === undefined || !/^https *(,|$)/i.test(String(forwarded))) return false;
  return socket.remoteAddress !== undefined && hasAddress(trustedProxies, socket.remoteAddress);
}

/** Node hands over the first of several Host headers; which one was meant is anybody's guess (RFC 9112, section 3.2). */
function hostHeaders({ rawHeaders }: IncomingMessage): number {
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
