import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Bounds } from "../bounds.ts";
import type { Clock } from "../clock.ts";
import type { ConnectionGuard } from "../connections.ts";
import type { AddressList } from "../parse.ts";
import { openAccessLog } from "./access-log.ts";
import { type Admission, admit, headersBytesMax, headersMax, refuse, refuseUnparsed } from "./admission.ts";
import { announcedBytes, drain, drainBytesMax, expectContinue } from "./bodies.ts";
import { type Exchange, openExchange, type Surface } from "./exchange.ts";
import { checkHosts, type ServiceHosts, splitAbsoluteForm } from "./hosts.ts";
import { type Http1, type Http1Limits, openHttp1 } from "./http1.ts";
import { boundChunks } from "./parser-bounds.ts";
import { openRouter, type Router } from "./router.ts";
import type { OnAnswer } from "./traffic.ts";

/** The time in which a whole request has to arrive. */
export const requestTimeoutMs = 120_000;
const limits: Http1Limits = {
  headerBytesMax: headersBytesMax,
  headersTimeoutMs: 20_000,
  requestTimeoutMs,
  keepAliveTimeoutMs: 65_000,
  timeoutCheckMs: 30_000,
};

export type AppOptions = Pick<Admission, "log" | "requests" | "inSpan" | "notFoundPage"> & {
  /** The API comes first: it answers requests that cannot be parsed. */
  surfaces: readonly [Surface, ...Surface[]];
  /** The proxies whose X-Forwarded-For counts. They may change; undefined if the service never trusts one. */
  trustedProxies: AddressList | undefined;
  connections: ConnectionGuard;
  bounds: Pick<Bounds, "refused">;
  hosts: ServiceHosts;
  clock: Clock;
  /** Called with each answer, except those to probes and scrapes. */
  onAnswered: OnAnswer;
};

/** The service's own HTTP server, without routes at first. */
export type App = Router & Pick<Http1, "server" | "listen" | "retire" | "close">;

/** Opens the server with what all requests share: ids, gates, CORS, refusals, the log. */
export function openApp(options: AppOptions): App {
  const { surfaces, log, trustedProxies, connections, requests, bounds, hosts, clock, onAnswered } = options;
  const router = openRouter(surfaces);
  const admission: Admission = { ...options, checkHost: checkHosts(hosts) };
  const writeLog = openAccessLog(log, clock);

  function answered(exchange: Exchange, at: number): void {
    requests.release(exchange);
    const ms = at - exchange.startedAt;
    if (!exchange.isProbe) onAnswered(exchange, ms);
    writeLog(exchange, ms);
  }
  const service = { trustedProxies, answered };

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const onChunk = (bytes: number): void => connections.expect(request.socket, bytes);
    const { method = "", url = "/", headers } = request;
    const { authority = headers.host, target } = splitAbsoluteForm(url);
    const to = router.find(method, target.startsWith("/") ? target : `/${target}`);
    if (boundChunks(request, response, to.route, onChunk)) response.once("finish", () => drain(request));
    const exchange = openExchange(service, request, response, to, authority);
    try {
      const done = admit(admission, exchange);
      if (done instanceof Promise) done.catch((error: unknown) => refuse(admission, exchange, error));
    } catch (error) {
      void refuse(admission, exchange, error);
    }
  }

  const http1 = openHttp1({ limits, guard: connections, bounds, bodyBytesOf: announcedBytes, handle });
  answerOddRequests(http1, (error, socket) => {
    connections.expect(socket, drainBytesMax);
    void refuseUnparsed(surfaces[0], log, http1.pipelines, error, socket);
  });
  return { ...router, ...http1 };
}

/** Answers what Node would answer itself, without this service's headers. */
function answerOddRequests({ server, onRequest }: Http1, refuseBytes: (error: Error, socket: Duplex) => void): void {
  server.maxHeadersCount = headersMax + 1;
  server.on("checkContinue", (request, response) => {
    expectContinue(request, response);
    onRequest(request, response);
  });
  // an unknown expectation may be ignored (RFC 9110, 10.1.1)
  server.on("checkExpectation", onRequest);
  server.on("connect", (_request, socket) => refuseBytes(new Error("CONNECT is for proxies"), socket));
  server.on("clientError", refuseBytes);
}
