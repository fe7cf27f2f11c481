import { Agent as HttpAgent, request as requestHttp, type AgentOptions, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { connectingBy, raceAddresses, type Connecting } from "./address-race.ts";

export type HttpClientOptions = {
  /** The certificate authorities (PEM) to trust. Default: Node's. */
  ca?: string | undefined;
  /** How long (ms) an idle connection is kept for the next request. Default: not at all. */
  idleMs?: number;
  /** The most idle connections, in all and to one host. */
  idleMax?: number;
  idlePerHostMax?: number;
  /** The most connections to one host. Default: as many as there are requests. */
  socketsMax?: number;
  /** The most bytes of an answer's head. Default: Node's 16 KiB. */
  headBytesMax?: number;
};

type OutboundRequest = {
  url: URL;
  method: string;
  headers: Record<string, string | number>;
  body?: string | undefined;
  /** Ends the request, so it carries the time-out. It bounds everything from the look-up of the name to the last byte of the answer. */
  signal: AbortSignal;
  /** Finds, and may refuse, the addresses of a host. Default: the system's resolver. */
  addressesOf?: Connecting["addressesOf"];
  /** Sends it on a new connection, so that it is never sent twice. */
  isSentOnce?: boolean | undefined;
  /** Called once the connection is open, right before the request is sent. If it throws, nothing is sent. */
  beforeSend?: (() => void) | undefined;
};

/** The requests that the service makes to others. They follow no redirects and use no proxies. */
export type HttpClient = {
  /** Resolves with the head of the answer, whose body the caller reads or destroys. Rejects if there is none. */
  send(sent: OutboundRequest): Promise<IncomingMessage>;
  close(): void;
};

export function openHttpClient({
  ca,
  idleMs,
  idleMax = Infinity,
  idlePerHostMax = idleMax,
  socketsMax = Infinity,
  headBytesMax,
}: HttpClientOptions = {}): HttpClient {
  const head = headBytesMax !== undefined && { maxHeaderSize: headBytesMax };
  const idle =
    idleMs === undefined ? {} : { keepAlive: true, timeout: idleMs, maxFreeSockets: idlePerHostMax, scheduling: "lifo" as const };
  const kept = openAgents({ ...idle, maxSockets: socketsMax }, ca);
  const fresh = openAgents({ maxSockets: socketsMax }, ca);
  if (idleMax < Infinity) boundIdle(Object.values(kept), idleMax);
  return {
    async send(sent) {
      const agents = sent.isSentOnce === true ? fresh : kept;
      const once = (): Promise<IncomingMessage> => sendOnce(agents, { ...sent, ...head });
      return once().catch((error: unknown) => {
        // The other side may have closed the idle connection just before its reuse.
        if (error instanceof StaleConnection) return once();
        throw error;
      });
    },
    close() {
      for (const agent of [...Object.values(kept), ...Object.values(fresh)]) agent.destroy();
    },
  };
}

type Agents = { http: HttpAgent; https: HttpsAgent };

function openAgents(options: AgentOptions, ca: string | undefined): Agents {
  return {
    http: raceAddresses(new HttpAgent(options)),
    https: raceAddresses(new HttpsAgent({ ...options, ca, minVersion: "TLSv1.2" })),
  };
}

/** Bounds the idle connections of several agents together. */
function boundIdle(agents: readonly HttpAgent[], idleMax: number): void {
  let idle = 0;
  for (const agent of agents) {
    const [kept, watched] = [new WeakSet<object>(), new WeakSet<object>()];
    const bare = { keep: agent.keepSocketAlive.bind(agent), reuse: agent.reuseSocket.bind(agent) };
    const take = (socket: object): void => void (kept.delete(socket) && idle--);
    agent.keepSocketAlive = (socket): boolean => {
      if (idle >= idleMax || !(bare.keep(socket) as unknown as boolean)) return false;
      kept.add(socket);
      idle++;
      if (!watched.has(socket)) socket.once("close", () => take(socket));
      watched.add(socket);
      return true;
    };
    agent.reuseSocket = (socket, request): void => {
      take(socket);
      bare.reuse(socket, request);
    };
  }
}

class StaleConnection extends Error {}

function sendOnce(agents: Agents, sent: OutboundRequest & { maxHeaderSize?: number }): Promise<IncomingMessage> {
  const { url, body, signal, addressesOf, isSentOnce: _, beforeSend, ...options } = sent;
  const headers = body === undefined ? sent.headers : { ...sent.headers, "content-length": Buffer.byteLength(body) };
  const connecting = connectingBy({ until: signal, ...(addressesOf && { addressesOf }) });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const given = { ...options, headers, signal, ...connecting };
  const request: ClientRequest =
    url.protocol === "http:"
      ? requestHttp(url, { ...given, agent: agents.http }, resolve)
      : requestHttps(url, { ...given, agent: agents.https }, resolve);
  request.on("error", (error: NodeJS.ErrnoException) => {
    const isStale = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE") && !signal.aborted;
    reject(isStale ? new StaleConnection(error.message, { cause: error }) : error);
  });
  // If the other side switches protocols, the connection closes without an error.
  request.on("close", () => reject(new Error("closed")));
  // The agent hands over a socket that has completed its TLS handshake.
  request.on("socket", () => {
    try {
      beforeSend?.();
      request.end(body);
    } catch (error) {
      request.destroy(error as Error);
    }
  });
  return promise;
}
