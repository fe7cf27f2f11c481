import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { constants, createServer as createHttp2Server, type Http2Server, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, BlockList, type Server as NetServer, type Socket } from "node:net";
import type { Server as TlsServer, TLSSocket } from "node:tls";
import { addressName } from "../../platform/addresses.ts";
import type { Bounds } from "../../platform/bounds.ts";
import type { Clock } from "../../platform/clock.ts";
import { connectionLimits, type ConnectionLimits, guardConnections } from "../../platform/connections.ts";
import { openLoopTurns } from "../../platform/event-loop.ts";
import { type Http1, type Http1Limits, openHttp1 } from "../../platform/http/http1.ts";
import { closeServers, listen } from "../../platform/listening.ts";
import { type AddressList, hasAddress } from "../../platform/parse.ts";
import { type EdgeContent, type EdgeContext, hstsOf } from "./answer.ts";
import { type BodyLimits, openBodies, type OpenContent } from "./bodies.ts";
import { answerHttp1, answerHttp2, connectionHostOf, type Exchange } from "./exchange.ts";
import { createHttp2Bounds, destroySession, type Http2Limits, type Http2Load } from "./http2-bounds.ts";
import type { EdgeHosts, Log } from "./site.ts";
import { createTlsServer, type TlsLimits } from "./tls.ts";
import { type OnVisit, openRefusalLog } from "./visits.ts";

/** Bounds everything that a client can make the edge hold or wait for. */
export type EdgeLimits = BodyLimits &
  ConnectionLimits &
  Http2Limits &
  Http1Limits &
  TlsLimits & {
    /** A client may reset this many streams at once, and then this many a second; beyond that its connection is closed (CVE-2023-44487). */
    streamResetBurst: number;
    streamResetsPerSecond: number;
    /** Memory that one HTTP/2 session may take, in MB. */
    sessionMegabytesMax: number;
  };

export const edgeLimits: EdgeLimits = {
  ...connectionLimits,
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  keepAliveTimeoutMs: 15_000,
  handshakeTimeoutMs: 10_000,
  timeoutCheckMs: 2_000,
  sessionsMax: { address: 128, all: 2_000 },
  streamsMax: { session: 100, address: 512, all: 1_500 },
  unsentBytesMax: { session: 256 * 1024, address: 2 * 1024 * 1024, all: 16 * 1024 * 1024 },
  pieceBytes: { min: 1024, max: 64 * 1024 },
  streamRefusalsMax: 5,
  streamResetBurst: 200,
  streamResetsPerSecond: 33,
  sessionMegabytesMax: 4,
  secureContextsMax: 3_500,
  hotBytesMax: 64 * 1024 * 1024,
  hotFileBytesMax: 256 * 1024,
  openFilesMax: 1_000,
};

/** `publicPort`: the port to use in redirects, if a proxy maps it. Default: the port of the listener. */
type EdgeListener = { host: string; port: number; publicPort?: number };

/** A host whose HTTPS connections a server of HTTP/1.1 answers, such as that of the API. */
type ServiceHost = { host: string; server: Server };

export type EdgeOptions = {
  http: EdgeListener;
  https: EdgeListener | undefined;
  hosts: EdgeHosts;
  platformDomain: string;
  /** Default: none. */
  own?: ServiceHost | undefined;
  openContent: OpenContent;
  /** Default: no site has a storefront, and there are no photos. */
  shown?: EdgeContent;
  /** The proxies whose X-Forwarded-Proto and X-Forwarded-For headers count. Default: none. */
  trustedProxies?: AddressList;
  bounds: Bounds;
  log: Log;
  /** Called after each answer. */
  onVisit?: OnVisit;
  clock: Clock;
  limits?: Partial<EdgeLimits>;
};

export type Edge = {
  addresses: { http: AddressInfo; https: AddressInfo | undefined };
  /** Cuts all connections to a host. Remove the host from its site and certificate first, so that no client can reconnect to it. */
  dropHost(host: string): void;
  /** Makes each further answer over HTTP/1.1 close its connection, so that clients connect to another node before this one stops. */
  retire(): void;
  /** Stops accepting connections, gives running answers `graceMs` to finish, and then cuts them. Default: 5,000. */
  close(graceMs?: number): Promise<void>;
  /** The sessions, streams and bytes that HTTP/2 clients hold now. */
  http2Load(): Http2Load;
};

type State = Exchange & {
  http1: Http1;
  http2: Http2Server;
  tls: TlsServer;
  /** The open HTTP/2 sessions. */
  sessions: Set<Http2Session>;
  own: { host: string; pass: (socket: TLSSocket) => void } | undefined;
};

/**
 * Opens the listeners of published sites: HTTP/1.1 on both, HTTP/2 on the one with TLS.
 *
 * @throws Error with a one-line message that names the setting, if its port is taken
 */
export async function openEdge(options: EdgeOptions): Promise<Edge> {
  const limits = { ...edgeLimits, ...options.limits };
  const { hosts, platformDomain, own, trustedProxies = new BlockList(), bounds, log, clock, onVisit = () => undefined } = options;
  const { renderStorefront, findPhoto = async () => undefined, ...shown } = options.shown ?? {};
  const guard = guardConnections({ limits, exempt: trustedProxies, bounds, listener: "edge" });
  const served: EdgeContext = { ...hosts, ports: { http: 0, https: undefined }, platformDomain, renderStorefront, findPhoto, ...shown };
  const exchange: Exchange = {
    served,
    secured: new WeakMap(),
    guard,
    bodies: openBodies(options.openContent, limits, bounds),
    http2Bounds: createHttp2Bounds(limits, clock, bounds),
    trustedProxies,
    inTurn: openLoopTurns(bounds.queue("visits")),
    log,
    onRefused: openRefusalLog(log, clock),
    onVisit,
  };

  const http1 = openHttp1({ limits, guard, bounds, handle: (request, response) => answerHttp1(exchange, request, response) });
  const http2 = openHttp2(exchange, limits);
  const serve = (socket: TLSSocket, host: string): void => serveSecure(edge, socket, host);
  const tls = createTlsServer(hosts, { bounds, log }, limits, own?.host, serve);
  tls.prependListener("connection", (socket: Socket) => guard.admit(socket));
  const edge: State = { ...exchange, http1, http2, tls, sessions: trackSessions(http2), own: own && openOwn(own, served) };

  const { addresses, tlsServers } = await listenOnBoth(edge, options);
  served.ports.http = options.http.publicPort ?? addresses.http.port;
  served.ports.https = options.https?.publicPort ?? addresses.https?.port;
  const idleCheck = setInterval(() => exchange.http2Bounds.closeIdle(), limits.timeoutCheckMs).unref();

  return {
    addresses,
    dropHost: (host) => guard.dropHost(host),
    retire: () => http1.retire(),
    async close(graceMs = 5_000) {
      await closeEdge(edge, tlsServers, graceMs);
      clearInterval(idleCheck);
    },
    http2Load: () => exchange.http2Bounds.load(),
  };
}

/** The events that an HTTP server emits for a new request. */
const requestEvents = ["request", "checkContinue", "checkExpectation"];

/** The host's server reads and answers its connections like its own. The edge still counts them among its connections. */
function openOwn({ host, server }: ServiceHost, served: EdgeContext): State["own"] {
  const passed = new WeakSet<object>();
  const addHsts = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    const hsts = passed.has(socket) ? hstsOf(host, served) : undefined;
    if (hsts !== undefined) response.setHeader("Strict-Transport-Security", hsts);
  };
  for (const event of requestEvents) server.prependListener(event, addHsts);
  const pass = (socket: TLSSocket): void => {
    passed.add(socket);
    server.emit("connection", socket);
  };
  return { host, pass };
}

function trackSessions(http2: Http2Server): Set<Http2Session> {
  const sessions = new Set<Http2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  return sessions;
}

/** Passes a connection whose handshake has succeeded to the server of its protocol. */
function serveSecure(edge: State, socket: TLSSocket, host: string): void {
  const { guard, secured, served, http1, http2, http2Bounds, trustedProxies, own } = edge;
  guard.secured(socket);
  guard.setHost(socket, connectionHostOf(host, served));
  if (host === own?.host) return own.pass(socket);
  if (socket.alpnProtocol !== "h2") {
    secured.set(socket, { socket, host });
    http1.server.emit("connection", socket);
    return;
  }
  // Emitting the connection creates its session at once, before any frame is read.
  http2.once("session", (session) => {
    guard.secured(socket, () => endFlood(session, socket));
    const { remoteAddress = "" } = socket;
    const isTrusted = hasAddress(trustedProxies, remoteAddress);
    if (http2Bounds.addSession(session, socket, isTrusted ? undefined : addressName(remoteAddress))) secured.set(session, { socket, host });
  });
  http2.emit("connection", socket);
}

/** Closes a session that floods. Its socket follows at once, because Node goes on reading until the client has taken the GOAWAY frame. */
function endFlood(session: Http2Session, socket: TLSSocket): void {
  destroySession(session, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  setImmediate(() => socket.destroy());
}

async function listenOnBoth({ guard, http1, tls }: State, { http, https }: Pick<EdgeOptions, "http" | "https">) {
  const { address } = await http1.listen({ setting: "EDGE_HTTP_PORT", ...http });
  try {
    const secure = https && (await listen(tls, { setting: "EDGE_HTTPS_PORT", ...https }));
    const addresses: Edge["addresses"] = { http: address, https: secure?.address };
    return { addresses, tlsServers: [tls, ...(secure?.others ?? [])] };
  } catch (error) {
    void http1.close();
    guard.close();
    throw error;
  }
}

async function closeEdge({ guard, http1, sessions }: State, tlsServers: NetServer[], graceMs: number): Promise<void> {
  const closing = Promise.all([http1.close(), closeServers(tlsServers)]);
  for (const session of sessions) session.close();
  const cut = setTimeout(() => guard.dropAll(), graceMs);
  await closing;
  clearTimeout(cut);
  guard.close();
}

/** SETTINGS_NO_RFC7540_PRIORITIES: PRIORITY frames are ignored (RFC 9218, section 2.1). */
const noPriorities = 0x9;

function openHttp2(edge: Exchange, limits: EdgeLimits): Http2Server {
  const server = createHttp2Server({
    settings: {
      enablePush: false,
      maxConcurrentStreams: limits.streamsMax.session,
      maxHeaderListSize: limits.headerBytesMax,
      customSettings: { [noPriorities]: 1 },
    },
    maxSessionMemory: limits.sessionMegabytesMax,
    maxSessionInvalidFrames: 50,
    maxSessionRejectedStreams: 50,
    streamResetBurst: limits.streamResetBurst,
    streamResetRate: limits.streamResetsPerSecond,
  });
  server.on("stream", (stream, headers) => {
    const socket = stream.session && edge.secured.get(stream.session)?.socket;
    if (socket) edge.guard.requested(socket, stream);
    answerHttp2(edge, stream as ServerHttp2Stream, headers);
  });
  server.on("sessionError", () => undefined);
  return server;
}
