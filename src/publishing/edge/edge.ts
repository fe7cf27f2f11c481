import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createHttp2Server, type Http2Server, type Http2Session } from "node:http2";
import { BlockList, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../platform/clock.ts";
import { listeningError } from "../../platform/listening.ts";
import type { Served } from "./answer.ts";
import { openBodies, type OpenContent } from "./bodies.ts";
import { trackConnections } from "./connections.ts";
import { createExchange, type Exchange, type SecureConnection } from "./exchange.ts";
import { edgeLimits, type EdgeLimits } from "./limits.ts";
import type { Certificates, Challenges, Log, Sites } from "./site.ts";
import { createTlsServer } from "./tls.ts";

export type { KeyPair, Log, Site } from "./site.ts";

/** `publicPort` is the one that redirects name, where a proxy maps it; the bound one unless told. */
export type EdgeListener = { host: string; port: number; publicPort?: number };
export type EdgeOptions = {
  http: EdgeListener;
  https: EdgeListener | undefined;
  sites: Sites;
  certificates: Certificates;
  challenges: Challenges;
  openContent: OpenContent;
  /** At least 32 bytes, the same on all nodes. */
  ticketSecret: Buffer;
  /** The proxies whose X-Forwarded-Proto is believed; none unless told. */
  trustedProxies?: BlockList;
  log: Log;
  clock: Clock;
  limits?: Partial<EdgeLimits>;
};

export type Edge = {
  addresses: { http: AddressInfo; https: AddressInfo | undefined };
  /** Cuts all connections that speak to a host. Call it once the host has left the maps: then none can come back to it. */
  dropHost(host: string): void;
  /** Takes no new connections, lets running answers end for `graceMs`, then cuts them. */
  close(graceMs?: number): Promise<void>;
};

/**
 * Opens the listeners that published sites are served from: HTTP/1.1 on both, HTTP/2 on the one with TLS.
 *
 * @throws one line that names the setting of a port that cannot be listened on
 */
export async function openEdge(options: EdgeOptions): Promise<Edge> {
  const limits = { ...edgeLimits, ...options.limits };
  const { sites, certificates, challenges, trustedProxies = new BlockList(), log } = options;
  const connections = trackConnections();
  const bodies = openBodies(options.openContent, limits);
  const served: Served = { sites, certificates, challenges, ports: { http: 0, https: undefined } };
  const secured = new WeakMap<object, SecureConnection>();
  const { hotFileBytesMax } = limits;
  const exchange = createExchange({ served, secured, connections, bodies, hotFileBytesMax, trustedProxies, log });

  const http1 = openHttp1(exchange, limits);
  const http2 = openHttp2(exchange, limits);
  const sessions = new Set<Http2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  const tls = createTlsServer({ ...options, limits, serve: serveSecure });

  function serveSecure(socket: TLSSocket, host: string | undefined): void {
    connections.track(socket);
    if (host !== undefined) connections.use(socket, host);
    if (socket.alpnProtocol !== "h2") {
      secured.set(socket, { socket, host });
      http1.emit("connection", socket);
      return;
    }
    // Emitting the connection makes its session at once, before any frame is read.
    http2.once("session", (session) => secured.set(session, { socket, host }));
    http2.emit("connection", socket);
  }

  for (const listener of [http1, tls]) listener.prependListener("connection", (socket: Socket) => connections.track(socket));
  const addresses = { http: await listen(http1, options.http, "EDGE_HTTP_PORT"), https: undefined as AddressInfo | undefined };
  try {
    if (options.https !== undefined) addresses.https = await listen(tls, options.https, "EDGE_HTTPS_PORT");
  } catch (error) {
    http1.close();
    throw error;
  }
  served.ports.http = options.http.publicPort ?? addresses.http.port;
  served.ports.https = options.https?.publicPort ?? addresses.https?.port;

  async function close(graceMs = 5_000): Promise<void> {
    const closing = Promise.all([closed(http1), closed(tls)]);
    // A connection that is answering now would be kept alive afterwards.
    http1.keepAliveTimeout = 1;
    http1.keepAliveTimeoutBuffer = 0;
    http1.closeIdleConnections();
    for (const session of sessions) session.close();
    const cut = setTimeout(() => connections.dropAll(), graceMs);
    await closing;
    clearTimeout(cut);
  }

  return { addresses, dropHost: (host) => connections.drop(host), close };
}

function openHttp1(exchange: Exchange, limits: EdgeLimits): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
    },
    (request, response) => exchange.http1(request, response),
  );
  server.maxConnections = limits.connectionsMax;
  server.setTimeout(limits.idleTimeoutMs);
  return server;
}

function openHttp2(exchange: Exchange, limits: EdgeLimits): Http2Server {
  const server = createHttp2Server(
    {
      settings: { enablePush: false, maxConcurrentStreams: limits.streamsMax, maxHeaderListSize: limits.headerBytesMax },
      maxSessionMemory: limits.sessionMegabytesMax,
      maxSessionInvalidFrames: 50,
      maxSessionRejectedStreams: 50,
      streamResetBurst: limits.streamResetBurst,
      streamResetRate: limits.streamResetsPerSecond,
    },
    (request, response) => exchange.http2(request, response),
  );
  server.setTimeout(limits.idleTimeoutMs);
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
