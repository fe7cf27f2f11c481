import type { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { addressName } from "./addresses.ts";
import type { Bound, Bounds, Listener } from "./bounds.ts";
import { type AddressList, attempt, hasAddress } from "./parse.ts";

/** The bounds of the connections to a group of listeners. Times in milliseconds. */
export type ConnectionLimits = {
  /** The most connections of all addresses together. */
  connectionsMax: number;
  /** The most connections of one address; IPv6 addresses count by their /64. */
  connectionsPerAddress: number;
  /** If one address has more connections than this, the guard closes those that sent no request for `quietMs`, the quietest first. */
  crowdedAt: number;
  quietMs: number;
  /** Time without a byte in either direction, after which a connection is closed. */
  idleTimeoutMs: number;
};

/** Assumed if the system reports no limit. */
const assumedFiles = 4_096;
const connectionsMost = 10_000;
const connectionsLeast = 64;
/** The share of the process's file limit that the API and the edge each get; a quarter is left for everything else. */
const share = 3 / 8;

export const connectionLimits: ConnectionLimits = {
  connectionsMax: connectionsWithin(fileLimit()),
  connectionsPerAddress: 1_024,
  crowdedAt: 256,
  quietMs: 1_000,
  idleTimeoutMs: 75_000,
};

/** Above this share of `connectionsMax`, quiet connections of every address are closed. */
const fullAt = 0.9;
/** How many times in an idle time-out the sweeps compare the bytes of a connection. */
const idleLooks = 15;
/**
 * How often (ms) the guard looks for connections that send too much, and how much longer it waits for each connection: a look takes less than 0.4 µs
 * for each, so all of them take at most 2 % of the time.
 */
const floodLookMs = 25;
const floodLookMsEach = 0.02;

export type ConnectionGuard = {
  /** Counts a new connection until it closes, and closes at once one that is over a bound. One that another guard counts stays there. */
  admit(socket: Socket): void;
  /** Records that a counted connection continues as this one, over TLS. `endFlood` closes it where it sends too much. Default: destroys it. */
  secured(socket: TLSSocket, endFlood?: () => void): void;
  /** Records a request: until its `answer` closes, the connection is not quiet. `bodyBytes`: the length that it announces. */
  requested(socket: object, answer: EventEmitter, bodyBytes?: number): void;
  /** Like `requested`, for a caller that listens for the close of the answer itself, and then passes the result of this to `finished`. */
  begun(socket: object, bodyBytes?: number): Connection | undefined;
  finished(connection: Connection | undefined): void;
  /** Records bytes that a connection sends for a body, or may send within other bounds: they are no flood. */
  expect(socket: object, bytes: number): void;
  /** Records the host that a connection is for. On plain HTTP it may change with each request. */
  setHost(socket: object, host: string): void;
  /** Whether a connection is for this host now. */
  isFor(socket: object, host: string): boolean;
  /** Cuts every connection to a host, even in the middle of an answer. */
  dropHost(host: string): void;
  dropAll(): void;
  /** Closes floods, idle connections, and quiet ones where there are too many. The guard's timers call it. */
  sweep(): void;
  /** Stops the timer. */
  close(): void;
};

/** A counted connection, and what the guard knows about it. */
type Connection = {
  raw: Socket;
  peer: string;
  /** The socket to close: `raw`, or TLS on top of it. */
  socket: Socket;
  /** The name of its address; undefined if the address is exempt. */
  address: string | undefined;
  /** The host that it is for; undefined until a request or a handshake names one. */
  host: string | undefined;
  /** Requests that are being answered. */
  requests: number;
  /** When it last was opened, sent a request or finished an answer. */
  activeAt: number;
  bytes: number;
  /** When a sweep last saw `bytes` change. */
  movedAt: number;
  account: ByteAccount;
  endFlood: () => void;
};

export type GuardOptions = {
  limits: ConnectionLimits;
  /** Proxies, which many callers share: their connections count only towards `connectionsMax`. */
  exempt: AddressList;
  bounds: Pick<Bounds, "refused" | "show">;
  /** The label of these connections in the metrics. */
  listener: Listener;
  /** A monotonic clock in ms. */
  now?: () => number;
};

type Connections = {
  open: Set<Connection>;
  byAddress: Map<string, Set<Connection>>;
  byPeer: Map<string, Connection>;
};
type State = Required<GuardOptions> & Connections & { idleLookAt: number; floodLookAt: number };

/** The counted connections of all guards: the edge's listener passes connections to the server of the API. */
const connectionOf = new WeakMap<object, Connection>();

/** Bounds the connections of one or more listeners, for all protocols on them (specification 4.10). */
export function guardConnections(options: GuardOptions): ConnectionGuard {
  const { quietMs, idleTimeoutMs } = options.limits;
  const none: Connections = { open: new Set(), byAddress: new Map(), byPeer: new Map() };
  const guard: State = { now: () => performance.now(), ...options, ...none, idleLookAt: 0, floodLookAt: 0 };
  guard.bounds.show("petstore_connections_open", guard.listener, () => guard.open.size);
  // If this process was too busy to read, requests may wait in the sockets: the immediate runs after they were read.
  const sweeps = setInterval(() => setImmediate(() => sweep(guard)), Math.min(quietMs, idleTimeoutMs / idleLooks)).unref();
  const looks = setInterval(() => endFloods(guard), floodLookMs).unref();
  return {
    admit: (socket) => admit(guard, socket),
    secured: (socket, endFlood) => secured(guard, socket, endFlood),
    requested(socket, answer, bodyBytes) {
      const connection = begun(socket, bodyBytes);
      if (connection) answer.on("close", () => finished(guard, connection));
    },
    begun,
    finished: (connection) => finished(guard, connection),
    expect(socket, bytes) {
      const connection = connectionOf.get(socket);
      if (connection) connection.account.bodyBytes += bytes;
    },
    setHost(socket, host) {
      const connection = connectionOf.get(socket);
      if (connection) connection.host = host;
    },
    isFor: (socket, host) => connectionOf.get(socket)?.host === host,
    dropHost(host) {
      for (const { host: own, socket } of guard.open) if (own === host) socket.destroy();
    },
    dropAll() {
      for (const { socket } of guard.open) socket.destroy();
    },
    sweep: () => sweep(guard),
    close() {
      clearInterval(sweeps);
      clearInterval(looks);
    },
  };
}

function admit(guard: State, raw: Socket): void {
  const { open, byAddress, exempt, bounds, now } = guard;
  const { connectionsMax, connectionsPerAddress } = guard.limits;
  const { remoteAddress } = raw;
  if (connectionOf.has(raw)) return;
  if (remoteAddress === undefined) return void raw.destroy(); // closed already
  const address = hasAddress(exempt, remoteAddress) ? undefined : addressName(remoteAddress);
  const own = address === undefined ? 0 : (byAddress.get(address)?.size ?? 0);
  const bound = open.size >= connectionsMax ? "connections" : own >= connectionsPerAddress ? "connections_per_address" : undefined;
  if (bound !== undefined) {
    bounds.refused(bound);
    return void raw.destroy();
  }
  const connection: Connection = {
    raw,
    socket: raw,
    peer: peerOf(raw),
    address,
    host: undefined,
    requests: 0,
    activeAt: now(),
    bytes: 0,
    movedAt: now(),
    account: openByteAccount(now()),
    endFlood: () => connection.socket.destroy(),
  };
  open.add(connection);
  connectionOf.set(raw, connection);
  guard.byPeer.set(connection.peer, connection);
  if (address !== undefined) byAddress.set(address, (byAddress.get(address) ?? new Set()).add(connection));
  raw.once("close", () => forget(guard, connection));
}

function forget({ open, byPeer, byAddress }: State, connection: Connection): void {
  const { peer, address = "" } = connection;
  open.delete(connection);
  if (byPeer.get(peer) === connection) byPeer.delete(peer);
  const others = byAddress.get(address);
  others?.delete(connection);
  if (others?.size === 0) byAddress.delete(address);
}

function secured({ byPeer }: State, socket: TLSSocket, endFlood?: () => void): void {
  const connection = byPeer.get(peerOf(socket));
  if (connection === undefined) return;
  connection.socket = socket;
  if (endFlood) connection.endFlood = endFlood;
  connectionOf.set(socket, connection);
}

function begun(socket: object, bodyBytes = 0): Connection | undefined {
  const connection = connectionOf.get(socket);
  if (connection === undefined) return undefined;
  connection.requests += 1;
  connection.account.requests += 1;
  connection.account.bodyBytes += bodyBytes;
  return connection;
}

function finished({ now }: State, connection: Connection | undefined): void {
  if (connection === undefined) return;
  connection.requests -= 1;
  connection.activeAt = now();
}

function sweep(guard: State): void {
  const { open, byAddress } = guard;
  const { connectionsMax, crowdedAt, idleTimeoutMs } = guard.limits;
  const time = guard.now();
  endFloods(guard);
  if (time >= guard.idleLookAt) {
    guard.idleLookAt = time + idleTimeoutMs / idleLooks;
    for (const connection of open) if (isIdle(connection, time, idleTimeoutMs)) drop(guard, connection, "connections_idle");
  }
  for (const own of byAddress.values()) thinOut(guard, own, crowdedAt, time);
  thinOut(guard, open, Math.floor(connectionsMax * fullAt), time);
}

/** Closes the connections that have sent more than their requests account for. */
function endFloods(guard: State): void {
  const time = guard.now();
  if (time < guard.floodLookAt) return;
  for (const connection of guard.open) {
    const { account, raw, socket } = connection;
    const counts = { received: socket.bytesRead, sent: socket.bytesWritten, receivedBelowTls: socket === raw ? 0 : raw.bytesRead };
    if (!isOverdrawn(account, counts, time)) continue;
    guard.bounds.refused("unrequested_bytes");
    forget(guard, connection);
    connection.endFlood();
  }
  guard.floodLookAt = time + guard.open.size * floodLookMsEach;
}

function isIdle(connection: Connection, time: number, idleTimeoutMs: number): boolean {
  const bytes = bytesMoved(connection.raw);
  if (bytes !== connection.bytes) {
    connection.bytes = bytes;
    connection.movedAt = time;
  }
  return time - connection.movedAt >= idleTimeoutMs;
}

/** Closes quiet connections, the quietest first, until at most `keep` are left. */
function thinOut(guard: State, connections: Set<Connection>, keep: number, time: number): void {
  if (connections.size <= keep) return;
  const quiet = [...connections].filter(({ requests, activeAt }) => requests === 0 && time - activeAt >= guard.limits.quietMs);
  const first = quiet.toSorted((a, b) => a.activeAt - b.activeAt).slice(0, connections.size - keep);
  for (const connection of first) drop(guard, connection, "connections_without_requests");
}

function drop(guard: State, connection: Connection, bound: Bound): void {
  guard.bounds.refused(bound);
  forget(guard, connection);
  connection.socket.destroy();
}

/** Both ends of a connection, the same for TLS and what is beneath it. */
function peerOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}

/**
 * The bytes that have passed through a socket, both ways. `bytesWritten` also counts bytes that still wait in this
 * process, because the client has stopped reading: only the handle knows how many those are.
 */
function bytesMoved(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { bytesRead: number; bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesRead + handle.bytesWritten - handle.writeQueueSize : socket.bytesRead + socket.bytesWritten;
}

/** Returns how many files this process may open: on Linux the soft limit, which Node raises to the hard limit. */
export function fileLimit(): number {
  const limits = attempt(() => readFileSync("/proc/self/limits", "utf8")) ?? "";
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? assumedFiles);
}

/** Returns how many connections the API and the edge may each have if the process may open this many files. */
export function connectionsWithin(files: number): number {
  return Math.min(connectionsMost, Math.max(connectionsLeast, Math.floor(files * share)));
}

/** The bytes that a client may send at any time without a request for them, and how many more each second. */
const burstBytes = 256 * 1024;
const bytesPerSecond = 16 * 1024;
/** What a request accounts for besides its body: its line, headers and trailers, which are bounded to 16 KiB each. */
const bytesOfRequest = 32 * 1024;
/** A client may send one byte for each so many that it gets. WINDOW_UPDATE frames, for example, follow the bytes of answers. */
const sentPerByte = 8;
/** The most bytes of TLS for each byte of content. A frame of 13 bytes takes 35 in a record of its own. */
const tlsBytesPerByte = 8;

/** What the bytes of a connection are at one moment: of content in each direction, and received below TLS. */
export type ByteCounts = { received: number; sent: number; receivedBelowTls: number };

/** The account of a connection's bytes. */
export type ByteAccount = {
  /** How many more bytes the client may send now without a request for them. */
  left: number;
  /** Requests since the last look. */
  requests: number;
  /** Bytes of bodies that are still to come. Their own bounds apply to them. */
  bodyBytes: number;
  seen: { received: number; sent: number; at: number };
};

/** Opens the account of a new connection. @param now a monotonic time in ms */
export function openByteAccount(now: number): ByteAccount {
  return { left: burstBytes, requests: 0, bodyBytes: 0, seen: { received: 0, sent: 0, at: now } };
}

/**
 * Whether a client has sent more than its requests and their bodies account for. Every protocol has bytes that carry neither and cost the
 * server time: blank lines before a request, requests after the last one that is read, HTTP/2 frames of all types but DATA and HEADERS, key
 * updates of TLS. So the bound is on what is left when all else is taken away.
 */
export function isOverdrawn(account: ByteAccount, { received, sent, receivedBelowTls }: ByteCounts, now: number): boolean {
  const { seen } = account;
  const more = received - seen.received;
  const ofBodies = Math.min(account.bodyBytes, more);
  const earned =
    account.requests * bytesOfRequest + (sent - seen.sent) / sentPerByte + ((now - seen.at) / 1_000) * bytesPerSecond - (more - ofBodies);
  account.left = Math.min(burstBytes, account.left + earned);
  account.bodyBytes -= ofBodies;
  account.requests = 0;
  account.seen = { received, sent, at: now };
  return account.left < 0 || receivedBelowTls > burstBytes + received * tlsBytesPerByte;
}
