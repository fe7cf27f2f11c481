import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { clientAddressOf, forwardedChain } from "../addresses.ts";
import type { Awaitable } from "../db/database.ts";
import type { AddressList } from "../parse.ts";
import type { Problem, ProblemFields } from "../problem.ts";
import type { Caller } from "./caller.ts";
import { requestIdOf, traceparentOf } from "./request-ids.ts";
import { headerLine } from "./response-head.ts";

/** A request to the API or to a published site, and the status of its answer. */
export type HttpRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The path and the query, even if the request had a URL in absolute form. */
  readonly url: string;
  /** The `X-Request-Id`. */
  readonly id: string;
  /** The request's own header if it is valid (W3C Trace Context). */
  readonly traceparent: string | undefined;
  /** When the head of the request arrived, by `performance.now()`. */
  readonly startedAt: number;
  /** The status of the answer; 0 until there is one. */
  status: number;
};

/** One request to the API and its answer, from the head of the request until the answer has been handed to the socket. */
export type Exchange = HttpRequest & {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly service: Service;
  /** The host of a URL in absolute form, else the first Host header. */
  readonly authority: string | undefined;
  /** The text of the query, not decoded. */
  readonly query: string;
  readonly params: Record<string, string>;
  readonly route: Route;
  /** The template of its path, such as `/v1/pets/{petId}`; undefined if no route has the path. */
  readonly template: string | undefined;
  readonly surface: Surface | undefined;
  /** The limit headers of the answer, each as a line that ends with CRLF. */
  limits: string;
  /** The answer's other headers, in the same form. Code that adds a line without `addHeader` makes sure that its value may be sent. */
  lines: string;
  /** The body of the answer until it is sent, and the encoding of a text. */
  body: string | Buffer | undefined;
  encoding: "latin1" | "utf8";
  caller: Caller | null;
  /** The valid key of a request to the API, even if the request is refused by a limit. */
  identified: Caller | null;
  /** The refusal of a request with two keys. It is thrown when the request is validated. */
  keyProblem: Problem | null;
  /** When the request was counted, in ms by the clock of the counters. */
  countedAt: number;
  /** The account whose requests in flight include this one; 0 for none. */
  inFlightOf: number;
  /** The account or address that its body's bytes are counted for; undefined until bytes are reserved. */
  bodyOf: number | string | undefined;
  /** Bytes reserved for its body. */
  bodyBytes: number;
  /** Whether it is a probe or a scrape, which does not count as traffic. */
  isProbe: boolean;
};

/** What the exchanges of a listener share. */
type Service = {
  /** The proxies whose X-Forwarded-For counts; undefined if the service never trusts one. */
  trustedProxies: AddressList | undefined;
  /** Records an answer in the log and the metrics, and releases what its request held. `at` is when it was sent, by `performance.now()`. */
  answered(exchange: Exchange, at: number): void;
};

/** What answers a request, and who may call it. */
export type Route = {
  /** The name in the metrics: an operationId; `pages` for the pages, their files and the description; `none` for requests without a route. */
  readonly name: string;
  readonly operationId: string | undefined;
  /** Whether everyone may call the operation. */
  readonly isOpen: boolean;
  readonly surface: Surface | undefined;
  readonly hosts: HostRule;
  /** Whether supervisors and scrapers call it. */
  readonly isProbe: boolean;
  /** Returns the refusal of a path or method that does not exist. Called after the check of the key. */
  readonly problem: ((exchange: Exchange) => Problem | undefined) | undefined;
  /** Answers an admitted request. An error that it throws or rejects with is answered as a problem. */
  serve(exchange: Exchange): Awaitable<void>;
};

/**
 * Which values of the Host header a route accepts. The check stops DNS rebinding: an attacker makes the name of a web page resolve to this
 * machine, the browser then treats this service as the page's origin, and the page could read what only this machine or a signed-in member
 * may read.
 *
 *   any     every value: the response is the same for every caller, or the route needs an API key
 *   direct  an IP address or `localhost`, which DNS cannot change, and the host of PUBLIC_URL
 *   public  the host of PUBLIC_URL, and if that is a loopback name or address, any other one
 */
export type HostRule = "any" | "direct" | "public";

/** The operations below a prefix, with their gate and the headers of their answers (lines of a head). */
export type Surface = {
  prefix: string;
  gate: Gate;
  hosts: Extract<HostRule, "any" | "public">;
  /** On every answer. */
  lines: string;
  /** On the answer to a CORS preflight. Default: none, so that other origins get no CORS headers. */
  preflightLines?: string;
};

/**
 * Every request that reaches a route of a surface has passed its gate. The gate sets the limit headers of the answer, and either sets the caller or
 * returns the refusal. It returns a promise only if it has to wait.
 */
export type Gate = {
  authenticate(exchange: Exchange): Awaitable<ProblemFields | undefined>;
  /** Sets the limit headers of the answer to a request that is not counted, such as a CORS preflight. */
  addLimitHeaders(exchange: Exchange): Awaitable<void>;
  /** Gives back the quota that an admitted request took, and corrects the limit headers of its answer. */
  giveBack(exchange: Exchange): Awaitable<void>;
  /**
   * Counts a request that could not be parsed, or that has too many headers, and returns the limit headers of its answer, as lines of a head. The
   * dashboard's gate does not count it.
   */
  countUnparsed(address: string): Awaitable<string>;
};

/** Where a request was routed to. */
export type Destination = Pick<Exchange, "url" | "query" | "params" | "route" | "template" | "surface">;

export function openExchange(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  to: Destination,
  authority = request.headers.host,
): Exchange {
  const { headers, method } = request;
  const { url, query, params, route, template, surface } = to;
  const id = requestIdOf(request);
  return {
    request,
    response,
    service,
    method: method as string,
    headers,
    url,
    authority,
    query,
    params,
    route,
    template,
    surface,
    id,
    traceparent: headers["traceparent"] === undefined ? undefined : traceparentOf(request),
    startedAt: performance.now(),
    limits: "",
    lines: surface ? `X-Request-Id: ${id}\r\n${surface.lines}` : `X-Request-Id: ${id}\r\n`,
    status: 0,
    body: undefined,
    encoding: "utf8",
    caller: null,
    identified: null,
    keyProblem: null,
    countedAt: 0,
    inFlightOf: 0,
    bodyOf: undefined,
    bodyBytes: 0,
    isProbe: route.isProbe,
  };
}

/** Adds a header to the answer, or replaces its Cache-Control. @throws TypeError if the value cannot be sent (RFC 9110, 5.5) */
export function addHeader(exchange: Exchange, name: string, value: string): void {
  const line = headerLine(name, value);
  // A surface has this header for all its answers; that of one answer replaces it.
  const kept = name.toLowerCase() === "cache-control" ? withoutCacheControl(exchange.lines) : exchange.lines;
  exchange.lines = kept + line;
}

function withoutCacheControl(lines: string): string {
  const begin = lines.toLowerCase().indexOf("cache-control:");
  return begin < 0 ? lines : lines.slice(0, begin) + lines.slice(lines.indexOf("\n", begin) + 1);
}

/** Headers of an answer as lines of its head. */
export function headerLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => headerLine(name, value))
    .join("");
}

/** Whether the client has closed the connection, so that it reads no answer. */
export function isGone({ request }: Exchange): boolean {
  return request.socket.destroyed;
}

/** Makes the answer of a request the last one of its connection. */
export function closeAfter({ response }: Exchange): void {
  response.shouldKeepAlive = false;
}

/** The client's address (`clientAddressOf`). */
export function clientAddress({ request, headers, service }: Exchange): string {
  return clientAddressOf(request.socket.remoteAddress, headers["x-forwarded-for"]?.toString(), service.trustedProxies);
}

/** The socket's address, and after it those that trusted proxies name (`forwardedChain`). */
export function addressesOf({ request, headers, service }: Exchange): string[] {
  return forwardedChain(request.socket.remoteAddress, headers["x-forwarded-for"]?.toString(), service.trustedProxies);
}
