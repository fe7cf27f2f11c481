import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Bounds } from "../bounds.ts";
import type { Clock } from "../clock.ts";
import type { ConnectionGuard } from "../connections.ts";
import { listen } from "../listening.ts";
import type { AddressList } from "../parse.ts";
import { openAccessLog } from "./access-log.ts";
import { admit, refuse, type Admission } from "./admission.ts";
import { announcedBytes, drain, drainBytesMax, expectContinue } from "./bodies.ts";
import { boundChunks } from "./chunk-bounds.ts";
import { closeAfter, openExchange, type Exchange, type Surface } from "./exchange.ts";
import { checkHosts, originForm, type OwnHosts } from "./hosts.ts";
import { boundPipelines } from "./pipelining.ts";
import { openRouter, type Router } from "./router.ts";
import type { Answered } from "./traffic.ts";
import { headersBytesMax, headersMax, refuseUnparsed } from "./unparsed.ts";

const headersTimeoutMs = 20_000;
/** How long an idle connection stays open. Each answer's `Keep-Alive` header has it. */
const keepAliveTimeoutMs = 65_000;
/** The time in which a whole request has to arrive. */
export const requestTimeoutMs = 120_000;

export type AppOptions = Pick<Admission, "log" | "requests" | "enter" | "notFoundPage"> & {
  /** The API comes first: it answers requests that cannot be parsed. */
  surfaces: readonly [Surface, ...Surface[]];
  /** The proxies whose X-Forwarded-For counts. They may change; undefined if the service never trusts one. */
  trustedProxies: AddressList | undefined;
  connections: ConnectionGuard;
  bounds: Pick<Bounds, "refused">;
  hosts: OwnHosts;
  clock: Clock;
  /** Called with each answer, except those to probes and scrapes. */
  onAnswered: Answered;
  /** Whether each answer closes its connection, so that clients connect to another node before this one stops. */
  isRetiring: () => boolean;
};

/** The service's own HTTP server, without routes at first. */
export type App = Router & {
  readonly server: Server;
  /** Listens, and returns the origin that it listens at. */
  listen(place: { port: number; host: string }): Promise<string>;
  /** Stops accepting connections, and resolves when the requests in flight are answered. */
  close(): Promise<void>;
};

/** Opens the server with what all requests share: ids, gates, CORS, refusals, the log. */
export function openApp(options: AppOptions): App {
  const { surfaces, log, trustedProxies, connections, requests, bounds, hosts, clock, onAnswered, isRetiring } = options;
  const pipelines = boundPipelines(bounds);
  const router = openRouter(surfaces);
  const admission: Admission = { ...options, checkHost: checkHosts(hosts) };
  const writeLog = openAccessLog(log, clock);
  let isClosing = false;

  function answered(exchange: Exchange, at: number): void {
    requests.leave(exchange);
    // an answer to a request that was in flight when the stop began lacks `Connection: close`
    if (isClosing) exchange.response.once("close", () => setImmediate(() => server.closeIdleConnections()));
    const ms = at - exchange.startedAt;
    if (!exchange.isProbe) onAnswered(exchange, ms);
    writeLog(exchange, ms);
  }
  const service = { trustedProxies, answered };

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = connections.begun(socket, announcedBytes(request.headers));
    const closed = pipelines.begin(request, response);
    response.on("close", () => {
      connections.finished(connection);
      closed();
    });
    if (boundChunks(request, response, (bytes) => connections.expect(socket, bytes))) response.once("finish", () => drain(request));
    const exchange = openExchange(service, request, response, router.find(request.method as string, originForm(request)));
    // an open connection would delay the stop
    if (isClosing || isRetiring()) closeAfter(exchange);
    try {
      const done = admit(admission, exchange);
      if (done instanceof Promise) done.catch((error: unknown) => refuse(admission, exchange, error));
    } catch (error) {
      void refuse(admission, exchange, error);
    }
  }

  const server = openServer(handle, (error, socket) => {
    connections.expect(socket, drainBytesMax);
    void refuseUnparsed(surfaces[0], log, pipelines, error, socket);
  });
  server.prependListener("connection", (socket: Socket) => connections.admit(socket));
  const listening: NetServer[] = [server];
  return {
    add: (...route) => router.add(...route),
    find: (...request) => router.find(...request),
    server,
    async listen(place) {
      const { origin, others } = await listen(server, place);
      listening.push(...others);
      return origin;
    },
    async close() {
      isClosing = true;
      await Promise.all(listening.map((each) => new Promise((resolve) => void each.close(resolve))));
    },
  };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

function openServer(handle: Handler, refuseBytes: (error: Error, socket: Duplex) => void): Server {
  const server = createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: headersBytesMax,
    requireHostHeader: false, // Node's own refusal lacks this service's headers
    optimizeEmptyRequests: true,
  });
  server.maxHeadersCount = headersMax + 1;
  server.on("request", handle);
  server.on("checkContinue", (request, response) => {
    expectContinue(request, response);
    handle(request, response);
  });
  // an unknown expectation may be ignored (RFC 9110, 10.1.1)
  server.on("checkExpectation", handle);
  server.on("connect", (_request, socket) => refuseBytes(new Error("CONNECT is for proxies"), socket));
  server.on("clientError", refuseBytes);
  return server;
}
