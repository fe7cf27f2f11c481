import { constants, type Http2Session, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import type { Bounds } from "../../platform/bounds.ts";
import type { Clock } from "../../platform/clock.ts";

export type Http2Limits = {
  sessionsMax: { address: number; all: number };
  /** The most open streams. SETTINGS announce the number for a session; a stream beyond it is refused. */
  streamsMax: { session: number; address: number; all: number };
  /** The most bytes of answers that are read and not sent yet. Beyond this a stream still gets pieces, of the smallest size. */
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
   * Counts a session until it closes. False if it refused the session.
   *
   * @param address the name that the client's connections are counted under; undefined exempts the session from the bounds of an address
   */
  addSession(http2: Http2Session, socket: Duplex, address: string | undefined): boolean;
  /** Counts a stream until it closes. False if it refused the stream (`REFUSED_STREAM`). */
  addStream(http2: ServerHttp2Stream): boolean;
  /**
   * Returns the size of the next piece of an answer that has `left` bytes left. They count as unsent until `sent`, or
   * until the stream closes.
   */
  reserve(http2: ServerHttp2Stream, left: number): number;
  sent(http2: ServerHttp2Stream): void;
  /** Resets the streams and closes the sessions that have been idle for too long. */
  closeIdle(): void;
  load(): Http2Load;
};

/** Both sets are in the order of activity, the longest idle first. */
type Holder = { sessions: Set<Session>; streams: Set<Stream>; unsentBytes: number };
type Session = { http2: Http2Session; socket: Duplex; address: Holder; unsentBytes: number; activeAt: number; refusals: number };
/** `pieceBytes` is the size of its next piece, if the bounds allow it. */
type Stream = { http2: ServerHttp2Stream; session: Session; unsentBytes: number; activeAt: number; pieceBytes: number };

/** When there are too many streams or sessions, one that has been idle for this long is replaced by a new one. */
const stalledAfterMs = 1_000;
/** A client that takes longer than this for a piece gets smaller pieces, so that its progress shows. */
const pieceMs = 250;

/** The time that a client has to take the GOAWAY of its session, which is sent behind the frames that wait already. */
const goawayMs = 1_000;

/**
 * Bounds what HTTP/2 clients make this process hold: sessions, open streams and unsent bytes, of each session, each address and in all. A
 * client decides when it takes an answer (RFC 9113, section 5.2), so without bounds it could hold all of these for as long as it likes.
 * When there are too many, a new one replaces the one that has been idle for longest, or is refused if none has stalled. So a client that
 * takes its answers keeps its streams, however many stalled ones other clients open.
 */
export function createHttp2Bounds(limits: Http2Limits, clock: Clock, bounds: Pick<Bounds, "refused">): Http2Bounds {
  const { sessionsMax, streamsMax, unsentBytesMax, pieceBytes, idleTimeoutMs, streamRefusalsMax } = limits;
  const all = newHolder();
  const addresses = new Map<string, Holder>();
  const sessionOf = new WeakMap<Http2Session, Session>();
  const streamOf = new WeakMap<ServerHttp2Stream, Stream>();

  function addSession(http2: Http2Session, socket: Duplex, name: string | undefined): boolean {
    const address = (name === undefined ? undefined : addresses.get(name)) ?? newHolder();
    const session: Session = { http2, socket, address, unsentBytes: 0, activeAt: clock(), refusals: 0 };
    const hasRoom = makeRoom(address.sessions, sessionsMax.address, closeSession) && makeRoom(all.sessions, sessionsMax.all, closeSession);
    if (!hasRoom) {
      bounds.refused("http2_sessions");
      end(session, constants.NGHTTP2_ENHANCE_YOUR_CALM);
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

  function addStream(http2: ServerHttp2Stream): boolean {
    const session = http2.session && sessionOf.get(http2.session);
    if (session === undefined || session.http2.destroyed) return false;
    const { address } = session;
    if (!makeRoom(address.streams, streamsMax.address, resetStream) || !makeRoom(all.streams, streamsMax.all, resetStream)) {
      bounds.refused("http2_streams");
      http2.close(constants.NGHTTP2_REFUSED_STREAM);
      countRefusal(session);
      return false;
    }
    // Later changes of the client's window are not visible here; at the start the window is the one in SETTINGS.
    const window = session.http2.remoteSettings.initialWindowSize ?? 0;
    const stream: Stream = { http2, session, unsentBytes: 0, activeAt: 0, pieceBytes: Math.min(window, pieceBytes.max) };
    streamOf.set(http2, stream);
    touch(stream);
    http2.once("close", () => {
      streamOf.delete(http2);
      countUnsent(stream, -stream.unsentBytes);
      for (const { streams } of [address, all]) streams.delete(stream);
    });
    return true;
  }

  function makeRoom<T extends { activeAt: number }>(among: ReadonlySet<T>, max: number, close: (one: T) => void): boolean {
    if (among.size < max) return true;
    const longestIdle = among.values().next().value;
    if (longestIdle === undefined || longestIdle.activeAt > clock() - stalledAfterMs) return false;
    close(longestIdle);
    return true;
  }

  function touch(stream: Stream): void {
    const { session } = stream;
    stream.activeAt = session.activeAt = clock();
    for (const { sessions, streams } of [session.address, all]) {
      moveToEnd(sessions, session);
      moveToEnd(streams, stream);
    }
  }

  function countUnsent(stream: Stream, bytes: number): void {
    for (const holder of [stream, stream.session, stream.session.address, all]) holder.unsentBytes += bytes;
  }

  function reserve(http2: ServerHttp2Stream, left: number): number {
    const stream = streamOf.get(http2);
    if (stream === undefined) return Math.min(left, pieceBytes.min);
    const { session } = stream;
    const allowed = Math.min(
      unsentBytesMax.session - session.unsentBytes,
      unsentBytesMax.address - session.address.unsentBytes,
      unsentBytesMax.all - all.unsentBytes,
    );
    const bytes = Math.min(left, Math.max(pieceBytes.min, Math.min(Math.ceil(stream.pieceBytes), allowed)));
    countUnsent(stream, bytes);
    return bytes;
  }

  function sent(http2: ServerHttp2Stream): void {
    const stream = streamOf.get(http2);
    if (stream === undefined) return;
    countUnsent(stream, -stream.unsentBytes);
    const isSlow = clock() - stream.activeAt > pieceMs;
    stream.pieceBytes = isSlow ? stream.pieceBytes / 2 : Math.min(2 * Math.max(stream.pieceBytes, pieceBytes.min), pieceBytes.max);
    if (all.streams.has(stream)) touch(stream);
  }

  /** The stream closes a little later; until then it must not count as the longest idle one again. */
  function resetStream(stream: Stream): void {
    const { http2, session } = stream;
    bounds.refused("http2_stalled_streams");
    for (const { streams } of [session.address, all]) streams.delete(stream);
    http2.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  function countRefusal(session: Session): void {
    session.refusals += 1;
    if (session.refusals > streamRefusalsMax && !session.http2.destroyed) closeSession(session);
  }

  function closeSession(session: Session): void {
    bounds.refused("http2_sessions");
    end(session, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** Node ends a session only after it has sent GOAWAY; a client that reads nothing would postpone that for ever. */
  function end(session: Session, code: number): void {
    for (const { sessions } of [session.address, all]) sessions.delete(session);
    session.http2.destroy(undefined, code);
    setTimeout(() => session.socket.destroy(), goawayMs).unref();
  }

  function closeIdle(): void {
    const before = clock() - idleTimeoutMs;
    for (const stream of all.streams) {
      if (stream.activeAt > before) break;
      resetStream(stream);
    }
    for (const session of all.sessions) {
      if (session.activeAt > before) break;
      end(session, constants.NGHTTP2_NO_ERROR);
    }
  }

  const load = (): Http2Load => ({ sessions: all.sessions.size, streams: all.streams.size, unsentBytes: all.unsentBytes });

  return { addSession, addStream, reserve, sent, closeIdle, load };
}

const newHolder = (): Holder => ({ sessions: new Set(), streams: new Set(), unsentBytes: 0 });

function moveToEnd<T>(set: Set<T>, item: T): void {
  set.delete(item);
  set.add(item);
}
