import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { constants, createServer as createHttp2Server, type Http2Server, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { BlockList, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { TLSSocket, type Server as TlsServer } from "node:tls";
import type { Bounds } from "../../platform/bounds.ts";
import type { Clock } from "../../platform/clock.ts";
import { openLoopTurns } from "../../platform/event-loop.ts";
import { guardConnections, type ConnectionGuard } from "../../platform/connections.ts";
import { addressName } from "../../platform/addresses.ts";
import { boundPipelines, type Pipelines } from "../../platform/http/pipelining.ts";
import { listeningError } from "../../platform/listening.ts";
import { hasAddress, type AddressList } from "../../platform/parse.ts";
import type { Served } from "./answer.ts";
import type { OnVisit } from "./access-log.ts";
import { openBodies, type OpenContent } from "./bodies.ts";
import { trackConnections, type Connections } from "./connections.ts";
import { createExchange, type Exchange, type SecureConnection } from "./exchange.ts";
import { createHttp2Bounds, destroySession, type Http2Bounds, type Http2Load } from "./http2-bounds.ts";
import { edgeLimits, type EdgeLimits } from "./limits.ts";
import { openRefusalLog } from "./refusal-log.ts";
import { deploymentAt } from "./requests.ts";
import type { Certificates, Challenges, Log, Sites } from "./site.ts";
import { passConnections, type OwnHost } from "./own-host.ts";
import { createTlsServer } from "./tls.ts";

/** `publicPort`: the port to use in redirects, if a proxy maps it. Default: the port of the listener. */
type EdgeListener = { host: string; port: number; publicPort?: number };
export type EdgeOptions = {
  http: EdgeListener;
  https: EdgeListener | undefined;
  sites: Sites;
  platformDomain: string;
  /** Returns the max-age of a host's Strict-Transport-Security header; undefined to send none. */
  hstsSeconds: (host: string) => number | undefined;
  certificates: Certificates;
  challenges: Challenges;
  /** The host that another server of this process answers over HTTPS. Default: none. */
  own?: OwnHost | undefined;
  openContent: OpenContent;
  /** Renders the pages of built-in storefronts. Default: no site has one. */
  renderStorefront?: Served["renderStorefront"];
  /** Finds a photo's size. Default: there are no photos. */
  findPhoto?: Served["findPhoto"];
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
  /** Cuts all connections to a host. Remove the host from `sites` and `certificates` first, so that no client can reconnect to it. */
  dropHost(host: string): void;
  /** Makes each further answer over HTTP/1.1 close its connection, so that clients connect to another node before this one stops. */
  retire(): void;
  /** Stops accepting connections, gives running answers `graceMs` to finish, and then cuts them. Default: 5,000. */
  close(graceMs?: number): Promise<void>;
  /** The sessions, streams and bytes that HTTP/2 clients hold now. */
  http2Load(): Http2Load;
};

type State = {
  guard: ConnectionGuard;
  connections: Connections;
  http2Bounds: Http2Bounds;
  trustedProxies: AddressList;
  secured: WeakMap<object, SecureConnection>;
  http1: Server;
  http2: Http2Server;
  tls: TlsServer;
  /** The open HTTP/2 sessions. */
  sessions: Set<Http2Session>;
  isRetiring: boolean;
  own: { host: string; pass: (socket: TLSSocket) => void } | undefined;
};

/**
 * Opens the listeners of published sites: HTTP/1.1 on both, HTTP/2 on the one with TLS.
 *
 * @throws Error with a one-line message that names the setting, if its port is taken
 */
export async function openEdge(options: EdgeOptions): Promise<Edge> {
  const limits = { ...edgeLimits, ...options.limits };
  const { sites, certificates, challenges, platformDomain, hstsSeconds, trustedProxies = new BlockList(), bounds, log } = options;
  const { onVisit = () => undefined, findPhoto = async () => undefined } = options;
  const guard = guardConnections({ limits, exempt: trustedProxies, bounds, listener: "edge" });
  const connections = trackConnections((host) => deploymentAt(host, platformDomain)?.projectHost ?? host);
  const bodies = openBodies(options.openContent, limits, bounds);
  const ports = { http: 0, https: undefined };
  const served: Served = {
    sites,
    certificates,
    challenges,
    ports,
    platformDomain,
    hstsSeconds,
    findPhoto,
    renderStorefront: options.renderStorefront,
  };
  const secured = new WeakMap<object, SecureConnection>();
  const http2Bounds = createHttp2Bounds(limits, options.clock, bounds);
  const exchange = createExchange({
    served,
    secured,
    connections,
    bodies,
    http2Bounds,
    hotFileBytesMax: limits.hotFileBytesMax,
    trustedProxies,
    inTurn: openLoopTurns(bounds.queue("visits")),
    log,
    onRefused: openRefusalLog(log, options.clock),
    onVisit,
  });

  const http1 = openHttp1(exchange, limits, boundPipelines(bounds));
  const http2 = openHttp2(exchange, limits);
  const sessions = trackSessions(http2);
  const tls = createTlsServer({
    ...options,
    limits,
    serve: (socket, host) => serveSecure(edge, socket, host),
    http1Host: options.own?.host,
  });
  const own = options.own && openOwn(options.own, served);
  const edge: State = { guard, connections, http2Bounds, trustedProxies, secured, http1, http2, tls, sessions, isRetiring: false, own };
  guardListeners(edge);

  const addresses = await listenOnBoth(edge, options);
  served.ports.http = options.http.publicPort ?? addresses.http.port;
  served.ports.https = options.https?.publicPort ?? addresses.https?.port;
  const idleCheck = setInterval(() => http2Bounds.closeIdle(), limits.timeoutCheckMs).unref();

  return {
    addresses,
    dropHost: (host) => connections.drop(host),
    retire: () => void (edge.isRetiring = true),
    close: (graceMs = 5_000) => closeEdge(edge, idleCheck, graceMs),
    http2Load: () => http2Bounds.load(),
  };
}

function openOwn(own: OwnHost, { ports, hstsSeconds }: Served): State["own"] {
  // Only for ports 80 and 443, as in `withHsts` of answer.ts.
  const seconds = (): number | undefined => (ports.http === 80 && ports.https === 443 ? hstsSeconds(own.host) : undefined);
  return { host: own.host, pass: passConnections(own, seconds) };
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
function serveSecure(
  { guard, connections, secured, http1, http2, http2Bounds, trustedProxies, own }: State,
  socket: TLSSocket,
  host: string,
): void {
  connections.track(socket);
  connections.use(socket, host);
  if (socket.alpnProtocol !== "h2") guard.secured(socket);
  if (host === own?.host) return own.pass(socket);
  if (socket.alpnProtocol !== "h2") {
    secured.set(socket, { socket, host });
    http1.emit("connection", socket);
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

/** Counts the connections of both listeners, and their requests. */
function guardListeners(edge: State): void {
  const { guard, connections, secured, http1, http2, tls } = edge;
  for (const listener of [http1, tls]) {
    listener.prependListener("connection", (socket: Socket) => {
      connections.track(socket);
      if (!(socket instanceof TLSSocket)) guard.admit(socket);
    });
  }
  http1.prependListener("request", ({ socket }, response) => {
    guard.requested(socket, response);
    if (edge.isRetiring) response.shouldKeepAlive = false;
  });
  http2.on("stream", (stream) => {
    const socket = stream.session && secured.get(stream.session)?.socket;
    if (socket) guard.requested(socket, stream);
  });
}

async function listenOnBoth({ guard, http1, tls }: State, { http, https }: EdgeOptions): Promise<Edge["addresses"]> {
  const addresses: Edge["addresses"] = { http: await listen(http1, http, "EDGE_HTTP_PORT"), https: undefined };
  try {
    if (https !== undefined) addresses.https = await listen(tls, https, "EDGE_HTTPS_PORT");
  } catch (error) {
    http1.close();
    guard.close();
    throw error;
  }
  return addresses;
}

async function closeEdge({ guard, connections, http1, tls, sessions }: State, idleCheck: NodeJS.Timeout, graceMs: number): Promise<void> {
  const closing = Promise.all([closed(http1), closed(tls)]);
  // Without these two lines, a connection that is busy now would stay open after its answer.
  http1.keepAliveTimeout = 1;
  http1.keepAliveTimeoutBuffer = 0;
  http1.closeIdleConnections();
  for (const session of sessions) session.close();
  const cut = setTimeout(() => connections.dropAll(), graceMs);
  await closing;
  clearTimeout(cut);
  guard.close();
  clearInterval(idleCheck);
}

function openHttp1(exchange: Exchange, limits: EdgeLimits, pipelines: Pipelines): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      optimizeEmptyRequests: true, // nothing reads a body
    },
    (request, response) => {
      response.on("close", pipelines.begin(request, response));
      exchange.http1(request, response);
    },
  );
  server.setTimeout(limits.idleTimeoutMs);
  return server;
}

/** SETTINGS_NO_RFC7540_PRIORITIES: PRIORITY frames are ignored (RFC 9218, section 2.1). */
const noPriorities = 0x9;

function openHttp2(exchange: Exchange, limits: EdgeLimits): Http2Server {
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
  server.on("stream", (stream, headers) => exchange.http2(stream as ServerHttp2Stream, headers));
  server.on("sessionError", () => undefined);
  return server;
}

async function listen(server: NetServer, { host, port }: EdgeListener, setting: string): Promise<AddressInfo> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    throw listeningError(error, setting, { host, port });
  }
  return server.address() as AddressInfo;
}

async function closed(server: NetServer): Promise<void> {
  if (!server.listening) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
}
