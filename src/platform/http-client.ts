import { lookup } from "node:dns/promises";
import { Agent as HttpAgent, request as requestHttp, type AgentOptions, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";

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
  body?: string | Uint8Array | undefined;
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
    // Says whether it keeps the socket, which its declaration leaves out.
    const keep: (socket: Duplex) => unknown = agent.keepSocketAlive.bind(agent);
    const reuse = agent.reuseSocket.bind(agent);
    const take = (socket: object): void => void (kept.delete(socket) && idle--);
    agent.keepSocketAlive = (socket): boolean => {
      if (idle >= idleMax || keep(socket) !== true) return false;
      kept.add(socket);
      idle++;
      if (!watched.has(socket)) socket.once("close", () => take(socket));
      watched.add(socket);
      return true;
    };
    agent.reuseSocket = (socket, request): void => {
      take(socket);
      reuse(socket, request);
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

/** Returns the addresses of a host (a name, or an address without brackets). A caller that allows only some of them checks them here. */
type AddressesOf = (host: string) => Promise<readonly string[]>;

/** How a request connects. `until` ends the attempts, so it carries the time-out. Default for `addressesOf`: the system's resolver. */
export type Connecting = { until: AbortSignal; addressesOf?: AddressesOf };

/** How long (ms) an attempt has before the next address is tried beside it (RFC 8305, section 5). */
const apartMs = 250;
/** The most addresses of a host that are tried, so that a name with very many does not open a connection to each. */
const addressesMax = 8;

/**
 * Makes an agent race the addresses of a host (RFC 8305): the families alternate, the next address is tried after 250 ms or when an attempt
 * fails, and each attempt may last as long as the whole. Over TLS an attempt includes the handshake, because an address may accept
 * connections and then answer nothing. The agent connects to the addresses that were looked up, and to no others.
 *
 * A request gives its `Connecting` with `connectingBy`.
 */
export function raceAddresses<Racing extends HttpAgent>(agent: Racing): Racing {
  const connect = agent.createConnection.bind(agent);
  const opened = agent instanceof HttpsAgent ? "secureConnect" : "connect";
  agent.createConnection = (options, done) => {
    const { connecting, host } = options as typeof options & { connecting: Connecting; host: string };
    const open = (address: string): Socket => connect({ ...options, host: address }) as Socket;
    race(host, connecting, open, opened).then(
      (socket) => done?.(null, socket),
      (error: Error) => (done as ((error: Error) => void) | undefined)?.(error),
    );
    return undefined;
  };
  return agent;
}

/** Returns the request option that says how to connect. */
export function connectingBy(connecting: Connecting): object {
  return { connecting };
}

async function race(
  host: string,
  { until, addressesOf = systemAddresses }: Connecting,
  open: (address: string) => Socket,
  opened: "connect" | "secureConnect",
): Promise<Socket> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(until.reason as Error);
  until.addEventListener("abort", abort, { once: true });
  if (until.aborted) abort();
  const attempts = new Set<Socket>();
  let waiting: string[] = [];
  try {
    const addresses = await Promise.race([addressesOf(host), aborted.promise]);
    until.throwIfAborted();
    waiting = alternating(addresses).slice(0, addressesMax);
    return await Promise.race([firstOpened(waiting, open, opened, attempts), aborted.promise]);
  } finally {
    until.removeEventListener("abort", abort);
    waiting.length = 0;
    for (const socket of attempts) socket.destroy();
  }
}

/** Resolves with the first socket that opens. `attempts` has the others; the caller destroys them, and empties `waiting` to end the race. */
function firstOpened(waiting: string[], open: (address: string) => Socket, opened: string, attempts: Set<Socket>): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const errors: NodeJS.ErrnoException[] = [];
  let timer: NodeJS.Timeout | undefined;
  const tryNext = (): void => {
    clearTimeout(timer);
    const address = waiting.shift();
    if (address === undefined) {
      if (attempts.size === 0) reject(mostTelling(errors));
      return;
    }
    timer = setTimeout(tryNext, apartMs);
    const socket = open(address);
    attempts.add(socket);
    const fail = (error: Error): void => {
      if (!attempts.delete(socket)) return;
      errors.push(error);
      tryNext();
    };
    const ignore = (): void => fail(new Error("closed"));
    socket.on("error", fail).once("close", ignore);
    socket.once(opened, () => {
      clearTimeout(timer);
      attempts.delete(socket);
      socket.off("error", fail).off("close", ignore);
      resolve(socket);
    });
  };
  tryNext();
  return promise;
}

/** The error of an address that was reached says more than that of one for which there is no route. */
function mostTelling(errors: NodeJS.ErrnoException[]): Error {
  const unreachable = new Set(["ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL"]);
  return errors.find(({ code = "" }) => !unreachable.has(code)) ?? errors[0] ?? new Error("no address");
}

/** Orders addresses so that the families alternate, beginning with IPv6 (RFC 8305, section 4). */
function alternating(addresses: readonly string[]): string[] {
  const [six, four] = [addresses.filter((one) => isIP(one) === 6), addresses.filter((one) => isIP(one) === 4)];
  return Array.from({ length: Math.max(six.length, four.length) }, (_, i) => [six[i], four[i]])
    .flat()
    .filter((one) => one !== undefined);
}

function systemAddresses(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return Promise.resolve([host]);
  const ofFamily = async (family: 4 | 6) => (await lookup(host, { family, all: true })).map(({ address }) => address);
  return addressesOfEither([ofFamily(4), ofFamily(6)]);
}

/**
 * Returns what the look-ups of the two families find. If one finds addresses, the other one has 250 ms more: a DNS server that does not answer for
 * IPv6 stops no connection over IPv4 (RFC 8305, section 3).
 *
 * @throws the first error, if no look-up finds an address and one fails
 */
export async function addressesOfEither(lookups: readonly Promise<readonly string[]>[]): Promise<string[]> {
  const found: string[] = [];
  const late = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const all = Promise.allSettled(
    lookups.map(async (addresses) => {
      found.push(...(await addresses));
      if (found.length > 0) timer ??= setTimeout(late.resolve, apartMs);
    }),
  );
  const outcomes = await Promise.race([all, late.promise]);
  clearTimeout(timer);
  const failed = outcomes?.find((one) => one.status === "rejected");
  if (found.length === 0 && failed) throw failed.reason;
  return [...found];
}
