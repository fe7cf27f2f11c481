import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import type { Bounds } from "../bounds.ts";
import type { ConnectionGuard } from "../connections.ts";
import { closeServers, listen, type Place } from "../listening.ts";
import { boundPipelines, type Pipelines } from "./parser-bounds.ts";

export type Http1Limits = {
  headerBytesMax: number;
  /** From the first byte of a request to the end of its headers. */
  headersTimeoutMs: number;
  /** From the first byte of a request to its last. */
  requestTimeoutMs: number;
  /** Between two requests. Each answer's `Keep-Alive` header has it. */
  keepAliveTimeoutMs: number;
  /** How often requests over their time-outs are looked for, and idle HTTP/2 streams and sessions. */
  timeoutCheckMs: number;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

type Http1Context = {
  limits: Http1Limits;
  guard: ConnectionGuard;
  bounds: Pick<Bounds, "refused">;
  /** The bytes that a request may send as its body. Default: none, because nothing reads it. */
  bodyBytesOf?: (headers: IncomingHttpHeaders) => number;
  handle: Handler;
};

/** A server of HTTP/1.1, for the API or for published sites. */
export type Http1 = {
  readonly server: Server;
  readonly pipelines: Pipelines;
  /** Handles a request of an event of Node's other than `request`, such as `checkContinue`. */
  onRequest: Handler;
  /** Listens, and returns the address. @throws Error with a one-line message that names the setting, if the port is taken */
  listen(place: Place): ReturnType<typeof listen>;
  /** Makes each further answer close its connection, so that clients connect to another node before this one stops. */
  retire(): void;
  /** Stops accepting connections, and resolves when the requests in flight are answered. */
  close(): Promise<void>;
};

/** Opens a server, which does not listen yet. Its guard counts its connections, and the requests of each. */
export function openHttp1({ limits, guard, bounds, bodyBytesOf, handle }: Http1Context): Http1 {
  const pipelines = boundPipelines(bounds);
  const listening: NetServer[] = [];
  let isRetiring = false;

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = guard.begun(request.socket, bodyBytesOf?.(request.headers));
    const closed = pipelines.begin(request, response);
    response.on("close", () => {
      guard.finished(connection);
      closed();
    });
    if (isRetiring) response.shouldKeepAlive = false;
    handle(request, response);
  }

  const server = createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      requireHostHeader: false, // Node's own refusal lacks this service's headers
      optimizeEmptyRequests: true,
    },
    onRequest,
  );
  server.prependListener("connection", (socket: Socket) => guard.admit(socket));

  return {
    server,
    pipelines,
    onRequest,
    async listen(place) {
      const listened = await listen(server, place);
      listening.push(server, ...listened.others);
      return listened;
    },
    retire: () => void (isRetiring = true),
    async close() {
      isRetiring = true;
      const closing = closeServers(listening);
      // Without these two lines, a connection that is busy now would stay open after its answer.
      server.keepAliveTimeout = 1;
      server.keepAliveTimeoutBuffer = 0;
      server.closeIdleConnections();
      await closing;
    },
  };
}

/** An answer whose head is set. */
export type OutgoingAnswer = { readonly response: ServerResponse; body: string | Buffer | undefined; encoding: "latin1" | "utf8" };

/**
 * Opens a queue of answers. Those of one turn of the event loop are written together, because waking a sleeping client costs more than
 * writing to one that is awake.
 *
 * @param onSent called with each answer when all have been written, at the same time by `performance.now()`
 */
export function openOutbox<T extends OutgoingAnswer>(onSent?: (answer: T, at: number) => void): (answer: T) => void {
  let unsent: T[] = [];

  function sendAll(): void {
    const answers = unsent;
    unsent = [];
    for (const answer of answers) {
      const { response, body, encoding } = answer;
      if (!response.destroyed) response.end(body, encoding);
      answer.body = undefined;
    }
    const at = performance.now();
    if (onSent) for (const answer of answers) onSent(answer, at);
  }

  return (answer) => {
    if (unsent.push(answer) === 1) setImmediate(sendAll);
  };
}
