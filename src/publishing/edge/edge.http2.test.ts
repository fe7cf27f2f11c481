import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect as connectHttp2, type OutgoingHttpHeaders } from "node:http2";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { connect } from "node:tls";
import { openRawSession, type RawSession } from "../../../test/support/raw-http2.ts";
import { openTestEdge, throwAwayCertificate, type TestEdge } from "../../../test/support/test-edge.ts";
import { openBounds, type Bound } from "../../platform/bounds.ts";
import { addressList } from "../../platform/parse.ts";
import { edgeLimits, type EdgeOptions } from "./edge.ts";

const host = "www.example.com";
const large = randomBytes(1_000_000);
const middle = randomBytes(200_000);
const { streamsMax, sessionsMax, unsentBytesMax, pieceBytes } = edgeLimits;

async function withEdge(options: Partial<EdgeOptions>, body: (edge: TestEdge, refused: Bound[]) => Promise<void>): Promise<void> {
  const refused: Bound[] = [];
  const edge = await openTestEdge({ bounds: { ...openBounds(), refused: (bound) => void refused.push(bound) }, ...options });
  try {
    await edge.publish(host, { "large.bin": large, "middle.bin": middle, "index.html": "x" });
    edge.certificates.set(host, throwAwayCertificate(host));
    await body(edge, refused);
  } finally {
    await edge.close(0);
  }
}

const openSessions = (edge: TestEdge, count: number, initialWindow = 0): Promise<RawSession[]> =>
  Promise.all(Array.from({ length: count }, () => openRawSession(edge, host, initialWindow)));

/** A client that reads everything it receives. */
async function download(edge: TestEdge, headers: OutgoingHttpHeaders, initialWindowSize = 65_535): Promise<Buffer> {
  const options = { host: "127.0.0.1", port: edge.addresses.https!.port, servername: host, ca: edge.certificates.get(host)!.cert };
  const session = connectHttp2(`https://${host}`, {
    settings: { initialWindowSize },
    createConnection: () => connect({ ...options, ALPNProtocols: ["h2"] }),
  });
  session.on("error", () => undefined);
  const bytes = await Array.fromAsync(session.request(headers) as AsyncIterable<Buffer>);
  session.destroy();
  return Buffer.concat(bytes);
}

/** Waits until the streams and bytes of a closed connection are freed. */
async function untilLoad(edge: TestEdge, key: "sessions" | "streams", most: number): Promise<void> {
  while (edge.http2Load()[key] > most) await new Promise(setImmediate);
}

test("an answer arrives in full, however small the client's window is", () =>
  withEdge({}, async (edge) => {
    for (const window of [500, 5_000, 65_535, 1_000_000]) {
      assert.ok((await download(edge, { ":path": "/large.bin" }, window)).equals(large), `large, window ${window}`);
      assert.ok((await download(edge, { ":path": "/middle.bin" }, window)).equals(middle), `middle, window ${window}`);
      const part = await download(edge, { ":path": "/middle.bin", range: "bytes=10-100009" }, window);
      assert.ok(part.equals(middle.subarray(10, 100_010)), `part, window ${window}`);
      assert.equal(String(await download(edge, { ":path": "/" }, window)), "x");
    }
    await untilLoad(edge, "sessions", 0);
    assert.deepEqual(edge.http2Load(), { sessions: 0, streams: 0, unsentBytes: 0 });
  }));

for (const [window, path, bytesOfStream] of [
  [0, "/large.bin", pieceBytes.min],
  [0, "/middle.bin", pieceBytes.min],
  [20_000, "/large.bin", pieceBytes.max],
] as const) {
  test(`140 sessions of one address with a window of ${window} hold few streams and few bytes of ${path}`, () =>
    withEdge({}, async (edge, refused) => {
      const sessions = await openSessions(edge, 140, window);
      for (const session of sessions) session.open(path, streamsMax.session);
      await Promise.all(sessions.map((session) => session.settled(streamsMax.session)));
      const load = edge.http2Load();
      assert.ok(load.sessions <= sessionsMax.address, `${load.sessions} sessions`);
      assert.ok(load.streams <= streamsMax.address, `${load.streams} streams`);
      const most = Math.min(streamsMax.address * bytesOfStream, unsentBytesMax.address + streamsMax.address * pieceBytes.min);
      assert.ok(load.unsentBytes <= most, `${load.unsentBytes} bytes`);
      assert.ok(refused.includes("http2_sessions") && refused.includes("http2_streams"));

      edge.now.ms += 1_000;
      assert.ok((await download(edge, { ":path": path })).length > 0, "a client that reads its answer is served beside them");
      for (const { socket } of sessions) socket.destroy();
      await untilLoad(edge, "sessions", 0);
      await untilLoad(edge, "streams", 0);
      assert.equal(edge.http2Load().unsentBytes, 0);
    }));
}

test("sessions have a total bound too, which also applies to addresses without a bound", () => {
  return withEdge({ trustedProxies: addressList("127.0.0.1")! }, async (edge) => {
    const sessions = await openSessions(edge, 30);
    for (const session of sessions) session.open("/large.bin", streamsMax.session);
    await Promise.all(sessions.map((session) => session.settled(streamsMax.session)));
    const load = edge.http2Load();
    assert.ok(load.streams <= streamsMax.all, `${load.streams} streams`);
    assert.ok(load.unsentBytes <= streamsMax.all * pieceBytes.min, `${load.unsentBytes} bytes`);
  });
});

test("the connection of a client that reads nothing is closed, and its unsent bytes are bounded", () =>
  withEdge({ limits: { timeoutCheckMs: 5 } }, async (edge) => {
    await edge.publish("huge", { "huge.bin": Buffer.alloc(20_000_000) });
    edge.sites.set(host, edge.sites.get("huge")!);
    const sessions = await openSessions(edge, 12, 2 ** 31 - 1);
    for (const session of sessions) {
      session.socket.pause();
      session.widen(0, 2 ** 31 - 1 - 65_535);
      session.open("/huge.bin", 20);
    }
    let most = 0;
    for (let load = edge.http2Load(); load.sessions > 0; load = edge.http2Load()) {
      most = Math.max(most, load.unsentBytes);
      edge.now.ms += 1_000;
      await setTimeout(5);
    }
    assert.ok(most > unsentBytesMax.session, `${most} bytes`);
    assert.ok(most <= unsentBytesMax.address + 240 * pieceBytes.min, `${most} bytes`);
  }));

test("a stream whose client reads nothing is reset, even if PING frames arrive", () =>
  withEdge({ limits: { timeoutCheckMs: 5 } }, async (edge, refused) => {
    const [session] = await openSessions(edge, 1);
    session!.open("/large.bin", 2);
    await session!.until("headers", 2);
    edge.now.ms += edgeLimits.idleTimeoutMs - 1;
    session!.ping();
    await session!.until("ping", 1);
    session!.open("/large.bin");
    await session!.until("headers", 3);
    edge.now.ms += 1;
    await session!.until("reset", 2);
    assert.deepEqual(refused, ["http2_stalled_streams", "http2_stalled_streams"]);
    assert.deepEqual(edge.http2Load(), { sessions: 1, streams: 1, unsentBytes: pieceBytes.min });
  }));

test("a session that opens no stream is closed, even if PING frames arrive", () =>
  withEdge({ limits: { timeoutCheckMs: 5 } }, async (edge) => {
    const [idle, visitor] = await openSessions(edge, 2, 65_535);
    edge.now.ms += edgeLimits.idleTimeoutMs - 1;
    idle!.ping();
    await idle!.until("ping", 1);
    visitor!.open("/");
    await visitor!.until("data", 1);
    edge.now.ms += 1;
    await idle!.closed;
    assert.equal(edge.http2Load().sessions, 1);
    visitor!.open("/");
    await visitor!.until("data", 2);
  }));

test("new streams replace stalled ones, the longest idle first; a stream that makes progress stays", () =>
  withEdge({ limits: { streamsMax: { session: 100, address: 3, all: 3_000 } } }, async (edge) => {
    const [moving, stalled] = await openSessions(edge, 2);
    moving!.open("/large.bin");
    stalled!.open("/large.bin", 2);
    await stalled!.until("headers", 2);
    for (let round = 1; round <= 5; round += 1) {
      edge.now.ms += 999;
      moving!.widen(1, pieceBytes.min);
      await moving!.until("data", round);
      edge.now.ms += 2;
      stalled!.open("/large.bin");
      await stalled!.until("reset", round);
    }
    await stalled!.until("headers", 7);
    assert.equal(moving!.received.reset, 0);
  }));

test("a session is closed after too many of its streams were refused", () =>
  withEdge({ limits: { streamsMax: { session: 100, address: 5, all: 3_000 }, streamRefusalsMax: 10 } }, async (edge, refused) => {
    const [session] = await openSessions(edge, 1);
    session!.open("/large.bin", 16);
    await session!.closed;
    assert.equal(refused.filter((what) => what === "http2_streams").length, 11);
    assert.equal(session!.received.goaway, 1);
  }));

test("sessions over the bound of an address replace only idle ones", () =>
  withEdge({ limits: { sessionsMax: { address: 2, all: 100 } } }, async (edge) => {
    const [first, second] = await openSessions(edge, 2, 65_535);
    const refused = await openRawSession(edge, host, 65_535);
    await refused.closed;
    edge.now.ms += 1_000;
    second!.open("/");
    await second!.until("data", 1);
    const third = await openRawSession(edge, host, 65_535);
    await first!.closed;
    third.open("/");
    await third.until("data", 1);
    second!.open("/");
    await second!.until("data", 2);
  }));
