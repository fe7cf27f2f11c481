import { constants, type Http2Session, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import type { Bounds } from "../../platform/bounds.ts";
import type { Clock } from "../../platform/clock.ts";

export type Http2Limits = {
  sessionsMax: { address: number; all: number };
  /** The most open streams. SETTINGS announce the number for a session; a stream beyond it is refused. */
  streamsMax: { session: number; address: number; all: number };
  /** The most bytes of answers that have been read but not sent. Beyond it streams get pieces of the smallest size. */
  unsentBytesMax: { session: number; address: number; all: number };
  /** The size of the pieces that an answer is sent in; only its last one may be smaller. */
  pieceBytes: { min: number; max: number };
  /**
   * A stream that sends no piece for this long is reset, and a session in which no stream opens or sends is closed.
   * PING frames change neither.
   */
  idleTimeoutMs: number;
  /** A session is closed after more than this many of its streams were refused or reset. */
  streamRefusalsMax: number;
};

export type Http2Load = { sessions: number; streams: number; unsentBytes: number };

export type Http2Bounds = {
  /**
   * Counts a session until it closes. Returns false if the session was refused.
   *
   * @param address the name that the client's connections are counted under; undefined exempts the session from the bounds of an address
   */
  addSession(http2: Http2Session, socket: Duplex, address: string | undefined): boolean;
  /** Counts a stream until it closes. Returns false if the stream was refused (`REFUSED_STREAM`). */
  addStream(http2: ServerHttp2Stream): boolean;
  /** Resets a stream that costs too much, and counts it as refused. */
  refuse(http2: ServerHttp2Stream): void;
  /**
   * Returns the size of the next piece of an answer that has `left` bytes left. The piece counts as unsent until `sent` is
   * called, or until the stream closes.
   */
  reserve(http2: ServerHttp2Stream, left: number): number;
  sent(http2: ServerHttp2Stream): void;
  /** Resets the streams and closes the sessions that have been idle for too long. */
  closeIdle(): void;
  load(): Http2Load;
};

/** The use of one address, or of all together. Both sets are in the order of activity, the longest idle first. */
type Usage = { sessions: Set<Session>; streams: Set<Stream>; unsentBytes: number };
type Session = { http2: Http2Session; socket: Duplex; address: Usage; unsentBytes: number; activeAt: number; refusals: number };
/** `pieceBytes` is the size of its next piece, if the bounds allow it. */
type Stream = { http2: ServerHttp2Stream; session: Session; unsentBytes: number; activeAt: number; pieceBytes: number };
type State = {
  limits: Http2Limits;
  clock: Clock;
  bounds: Pick<Bounds, "refused">;
  all: Usage;
  addresses: Map<string, Usage>;
  sessionOf: WeakMap<Http2Session, Session>;
  streamOf: WeakMap<ServerHttp2Stream, Stream>;
};

/** At a bound, a new stream or session replaces the longest idle one if that has been idle for this long. */
const stalledAfterMs = 1_000;
/** A client that takes longer than this for a piece gets smaller pieces, so that its progress shows. */
const pieceMs = 250;
/** How long a client has to read the GOAWAY of its session, which is queued behind earlier frames. */
const goawayMs = 1_000;

/**
 * Bounds what HTTP/2 clients make this process hold: sessions, open streams and unsent bytes, per session, per address and in total. A
 * client decides when it reads an answer (RFC 9113, section 5.2), so without bounds it could hold all of these for as long as it likes. At a
 * bound, a new session or stream replaces the one that has been idle for longest, or is refused if none has stalled. So a client that reads
 * its answers keeps its streams, however many stalled ones other clients open.
 */
export function createHttp2Bounds(limits: Http2Limits, clock: Clock, bounds: Pick<Bounds, "refused">): Http2Bounds {
  const all = newUsage();
  const state: State = { limits, clock, bounds, all, addresses: new Map(), sessionOf: new WeakMap(), streamOf: new WeakMap() };
  return {
    addSession: (http2, socket, address) => addSession(state, http2, socket, address),
    addStream: (http2) => addStream(state, http2),
    refuse: (http2) => refuse(state, http2, constants.NGHTTP2_ENHANCE_YOUR_CALM),
    reserve: (http2, left) => reserve(state, http2, left),
    sent: (http2) => sent(state, http2),
    closeIdle: () => closeIdle(state),
    load: () => ({ sessions: all.sessions.size, streams: all.streams.size, unsentBytes: all.unsentBytes }),
  };
}

function addSession(state: State, http2: Http2Session, socket: Duplex, name: string | undefined): boolean {
  const { clock, bounds, all, addresses, sessionOf } = state;
  const { sessionsMax } = state.limits;
  const address = (name === undefined ? undefined : addresses.get(name)) ?? newUsage();
  const session: Session = { http2, socket, address, unsentBytes: 0, activeAt: clock(), refusals: 0 };
  const hasRoom =
    makeRoom(state, address.sessions, sessionsMax.address, closeSession) && makeRoom(state, all.sessions, sessionsMax.all, closeSession);
  if (!hasRoom) {
    bounds.refused("http2_sessions");
    end(state, session, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    return false;
  }
  if (name !== undefined) addresses.set(name, address);
  sessionOf.set(http2, session);
  for (const { sessions } of [address, all]) sessions.add(session);
  http2.once("close", () => {
    for (const { sessions } of [address, all]) sessions.delete(session);
    if (name !== undefined && address.sessions.size === 0 && addresses.get(name) === address) addresses.delete(name);
  });
  return true;
}

function addStream(state: State, http2: ServerHttp2Stream): boolean {
  const { all, sessionOf, streamOf } = state;
  const { streamsMax, pieceBytes } = state.limits;
  const session = http2.session && sessionOf.get(http2.session);
  if (session === undefined || session.http2.destroyed) return false;
  const { address } = session;
  if (!makeRoom(state, address.streams, streamsMax.address, resetStream) || !makeRoom(state, all.streams, streamsMax.all, resetStream)) {
    refuse(state, http2, constants.NGHTTP2_REFUSED_STREAM);
    return false;
  }
  // The client's first window is the one in its SETTINGS; later changes of it are not visible here.
  const window = session.http2.remoteSettings.initialWindowSize ?? 0;
  const stream: Stream = { http2, session, unsentBytes: 0, activeAt: 0, pieceBytes: Math.min(window, pieceBytes.max) };
  streamOf.set(http2, stream);
  touch(state, stream);
  // `on` is cheaper than `once`, and a stream closes once
  http2.on("close", () => {
    streamOf.delete(http2);
    countUnsent(state, stream, -stream.unsentBytes);
    for (const { streams } of [address, all]) streams.delete(stream);
  });
  return true;
}

function makeRoom<T extends { activeAt: number }>(
  state: State,
  among: ReadonlySet<T>,
  max: number,
  close: (state: State, one: T) => void,
): boolean {
  if (among.size < max) return true;
  const longestIdle = among.values().next().value;
  if (longestIdle === undefined || longestIdle.activeAt > state.clock() - stalledAfterMs) return false;
  close(state, longestIdle);
  return true;
}

function touch(state: State, stream: Stream): void {
  const { session } = stream;
  stream.activeAt = session.activeAt = state.clock();
  for (const { sessions, streams } of [session.address, state.all]) {
    moveToEnd(sessions, session);
    moveToEnd(streams, stream);
  }
}

function countUnsent(state: State, stream: Stream, bytes: number): void {
  for (const usage of [stream, stream.session, stream.session.address, state.all]) usage.unsentBytes += bytes;
}

function reserve(state: State, http2: ServerHttp2Stream, left: number): number {
  const { all, limits, streamOf } = state;
  const { unsentBytesMax, pieceBytes } = limits;
  const stream = streamOf.get(http2);
  if (stream === undefined) return Math.min(left, pieceBytes.min);
  const { session } = stream;
  const allowed = Math.min(
    unsentBytesMax.session - session.unsentBytes,
    unsentBytesMax.address - session.address.unsentBytes,
    unsentBytesMax.all - all.unsentBytes,
  );
  const bytes = Math.min(left, Math.max(pieceBytes.min, Math.min(Math.ceil(stream.pieceBytes), allowed)));
  countUnsent(state, stream, bytes);
  return bytes;
}

function sent(state: State, http2: ServerHttp2Stream): void {
  const { all, clock, limits, streamOf } = state;
  const { pieceBytes } = limits;
  const stream = streamOf.get(http2);
  if (stream === undefined) return;
  countUnsent(state, stream, -stream.unsentBytes);
  const isSlow = clock() - stream.activeAt > pieceMs;
  stream.pieceBytes = isSlow ? stream.pieceBytes / 2 : Math.min(2 * Math.max(stream.pieceBytes, pieceBytes.min), pieceBytes.max);
  if (all.streams.has(stream)) touch(state, stream);
}

/** Removes the stream from the sets at once: it closes a little later, and must not be the longest idle one again. */
function resetStream(state: State, stream: Stream): void {
  const { http2, session } = stream;
  state.bounds.refused("http2_stalled_streams");
  for (const { streams } of [session.address, state.all]) streams.delete(stream);
  http2.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
}

function refuse(state: State, http2: ServerHttp2Stream, code: number): void {
  const session = http2.session && state.sessionOf.get(http2.session);
  state.bounds.refused("http2_streams");
  http2.close(code);
  if (session === undefined) return;
  session.refusals += 1;
  if (session.refusals > state.limits.streamRefusalsMax && !session.http2.destroyed) closeSession(state, session);
}

function closeSession(state: State, session: Session): void {
  state.bounds.refused("http2_sessions");
  end(state, session, constants.NGHTTP2_ENHANCE_YOUR_CALM);
}

/** Node ends a session only after sending GOAWAY. A client that reads nothing could delay that for ever, so its socket is closed. */
function end(state: State, session: Session, code: number): void {
  for (const { sessions } of [session.address, state.all]) sessions.delete(session);
  destroySession(session.http2, code);
  setTimeout(() => session.socket.destroy(), goawayMs).unref();
}

/** Destroys a session, with a GOAWAY frame. Node ignores a code that comes without an error. */
export function destroySession(http2: Http2Session, code: number): void {
  http2.destroy(code === constants.NGHTTP2_NO_ERROR ? undefined : new Error("The client exceeded a bound."), code);
}

function closeIdle(state: State): void {
  const { all, clock, limits } = state;
  const before = clock() - limits.idleTimeoutMs;
  for (const stream of all.streams) {
    if (stream.activeAt > before) break;
    resetStream(state, stream);
  }
  for (const session of all.sessions) {
    if (session.activeAt > before) break;
    end(state, session, constants.NGHTTP2_NO_ERROR);
  }
}

const newUsage = (): Usage => ({ sessions: new Set(), streams: new Set(), unsentBytes: 0 });

function moveToEnd<T>(set: Set<T>, item: T): void {
  set.delete(item);
  set.add(item);
}
