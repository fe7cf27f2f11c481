import assert from "node:assert/strict";
import { constants } from "node:http2";
import { test } from "node:test";
import { frame, openRawSession, requestOf, type RawSession } from "../../../test/support/raw-http2.ts";
import { openTestEdge, throwAwayCertificate, type TestEdge } from "../../../test/support/test-edge.ts";
import { edgeLimits } from "./edge.ts";

const host = "www.example.com";
const [endStream, endHeaders, padded] = [0x1, 0x4, 0x8];
/** `x-test: ok`, as a literal without indexing (RFC 7541, section 6.2.2). */
const trailers = Buffer.from("\0\u0006x-test\u0002ok");
const one = Buffer.of(0, 0, 0, 1);
const refusal = "Published files are read-only.";

async function withSession(body: (session: RawSession, edge: TestEdge) => Promise<void>): Promise<void> {
  const edge = await openTestEdge({ limits: { timeoutCheckMs: 5 } });
  try {
    await edge.publish(host, { "index.html": "x", "large.bin": Buffer.alloc(100_000) });
    edge.certificates.set(host, throwAwayCertificate(host));
    await body(await openRawSession(edge, host, 65_535), edge);
  } finally {
    await edge.close(0);
  }
}

/** Starts a POST with a body, on stream 1. */
const post = (session: RawSession): void => session.send("headers", endHeaders, 1, requestOf(host, "/", "POST"));

/** Resolves once the server has processed all frames sent so far. */
async function processed(session: RawSession): Promise<void> {
  const pings = session.received.ping;
  session.ping();
  await session.until("ping", pings + 1);
}

test("a request is answered before its body arrives, and a small body ends its stream without a reset", () =>
  withSession(async (session, edge) => {
    post(session);
    await session.until("data", 1);
    assert.deepEqual([session.received.headers, session.received.dataBytes], [1, refusal.length]);
    session.send("data", 0, 1, Buffer.from("half"));
    session.send("data", endStream, 1, Buffer.from("whole"));
    await processed(session);
    assert.equal(session.received.reset, 0);
    assert.equal(edge.http2Load().streams, 0);
  }));

test("a large body after the answer gets RST_STREAM, and the next request is answered", () =>
  withSession(async (session) => {
    post(session);
    await session.until("data", 1);
    session.send("data", 0, 1, Buffer.alloc(16_384));
    await processed(session);
    assert.equal(session.received.reset, 0);
    session.send("data", 0, 1, Buffer.alloc(1));
    await session.until("reset", 1);
    assert.deepEqual(session.codes.reset, [constants.NGHTTP2_NO_ERROR]);
    session.send("headers", endHeaders + endStream, 3, requestOf(host, "/"));
    await session.until("headers", 2);
  }));

test("a stream that its client never ends is reset at the idle time-out, even if bytes arrive now and then", () =>
  withSession(async (session, edge) => {
    post(session);
    await session.until("data", 1);
    edge.now.ms += edgeLimits.idleTimeoutMs - 1;
    session.send("data", 0, 1, Buffer.from("a"));
    session.send("headers", endHeaders + endStream, 3, requestOf(host, "/"));
    await session.until("headers", 2);
    await processed(session);
    assert.equal(edge.http2Load().streams, 1);
    edge.now.ms += 1;
    await session.until("reset", 1);
    assert.deepEqual([session.codes.reset, edge.http2Load().streams], [[constants.NGHTTP2_ENHANCE_YOUR_CALM], 0]);
  }));

test("trailers without END_STREAM are a stream error (RFC 9113, section 8.1)", () =>
  withSession(async (session) => {
    post(session);
    await session.until("data", 1);
    session.send("data", 0, 1, Buffer.from("test"));
    session.send("headers", endHeaders, 1, trailers);
    await session.until("reset", 1);
    assert.deepEqual(session.codes.reset, [constants.NGHTTP2_PROTOCOL_ERROR]);
  }));

test("padding that is longer than its frame is a connection error (RFC 9113, section 6.1)", () =>
  withSession(async (session) => {
    post(session);
    await session.until("data", 1);
    session.send("data", endStream + padded, 1, Buffer.from("\u0006Test"));
    await session.closed;
    assert.deepEqual(session.codes.goaway, [constants.NGHTTP2_PROTOCOL_ERROR]);
  }));

test("SETTINGS announce that PRIORITY frames are ignored (RFC 9218, section 2.1)", () =>
  withSession(async (session) => {
    await session.until("settings", 1);
    assert.equal(session.settings.get(0x9), 1);
  }));

for (const [what, send] of [
  ["DATA on a stream that was answered", (session) => session.send("data", endStream, 5, Buffer.from("a"))],
  ["HEADERS on a stream that was answered", (session) => session.send("headers", endHeaders + endStream, 5, requestOf(host, "/"))],
  ["HEADERS with a lower identifier", (session) => session.send("headers", endHeaders + endStream, 3, requestOf(host, "/"))],
  ["PRIORITY on stream 0", (session) => session.send("priority", 0, 0, Buffer.alloc(5))],
  ["PRIORITY that depends on its own stream", (session) => session.send("priority", 0, 7, Buffer.of(0, 0, 0, 7, 0))],
] satisfies [string, (session: RawSession) => void][]) {
  test(`${what} starts no request, and the next request is answered`, () =>
    withSession(async (session, edge) => {
      session.send("headers", endHeaders + endStream, 5, requestOf(host, "/"));
      await session.until("data", 1);
      send(session);
      await processed(session);
      assert.deepEqual([session.received.headers, edge.http2Load().streams], [1, 0]);
      session.send("headers", endHeaders + endStream, 9, requestOf(host, "/"));
      await session.until("data", 2);
      assert.deepEqual([session.received.headers, session.received.reset, session.received.goaway], [2, 0, 0]);
    }));
}

for (const [what, send] of [
  ["a PING acknowledgement without a PING", (session) => session.send("ping", 0x1, 0, Buffer.alloc(8))],
  [
    "a window above 2^31-1",
    (session) => {
      session.open("/large.bin");
      for (let count = 0; count < 2; count += 1) session.widen(1, 2 ** 31 - 1);
    },
  ],
] satisfies [string, (session: RawSession) => void][]) {
  test(`${what} closes its connection`, () =>
    withSession(async (session, edge) => {
      send(session);
      await session.closed;
      assert.equal(edge.http2Load().sessions, 0);
    }));
}

for (const [what, flood] of [
  ["WINDOW_UPDATE of the connection", frame(8, 0, 0, one)],
  ["WINDOW_UPDATE of an open stream", frame(8, 0, 3, one)],
  ["WINDOW_UPDATE of a closed stream", frame(8, 0, 1, one)],
  ["PRIORITY", frame(2, 0, 9, Buffer.alloc(5))],
  ["PRIORITY_UPDATE", frame(16, 0, 0, Buffer.from("\0\0\0\u0009u=1"))],
  ["SETTINGS", frame(4, 0, 0, Buffer.alloc(0))],
  ["acknowledged SETTINGS", frame(4, 1, 0, Buffer.alloc(0))],
  ["SETTINGS of the table size", frame(4, 0, 0, Buffer.of(0, 1, 0xff, 0xff, 0xff, 0xff))],
  ["PING", frame(6, 0, 0, Buffer.alloc(8))],
  ["RST_STREAM", frame(3, 0, 1, one)],
  ["empty DATA", frame(0, 0, 3, Buffer.alloc(0))],
  ["DATA of one byte", frame(0, 0, 3, Buffer.of(1))],
  ["DATA of padding", frame(0, padded, 3, Buffer.concat([Buffer.of(255), Buffer.alloc(255)]))],
  ["CONTINUATION", frame(9, 0, 3, Buffer.alloc(0))],
  ["GOAWAY", frame(7, 0, 0, Buffer.alloc(8))],
  ["an unknown type", frame(0xbe, 0, 0, Buffer.alloc(16))],
] satisfies [string, Buffer][]) {
  test(`a connection that floods the edge with frames is closed: ${what}`, () =>
    withSession(async (session, edge) => {
      session.open("/");
      await session.until("data", 1);
      session.send("headers", endHeaders, 3, requestOf(host, "/large.bin"));
      await session.until("headers", 2);
      const bytes = await session.flood(flood);
      assert.ok(bytes < 32 * 1_048_576, `${bytes} bytes`);
      assert.equal(edge.http2Load().sessions, 0);
    }));
}

test("the GOAWAY frame of a flood asks the client to calm down", () =>
  withSession(async (session) => {
    await session.flood(frame(8, 0, 0, one));
    await session.closed;
    assert.deepEqual(session.codes.goaway, [constants.NGHTTP2_ENHANCE_YOUR_CALM]);
  }));

test("a client that opens its windows for every 1,000 bytes of a download keeps its connection", () =>
  withSession(async (session, edge) => {
    await edge.publish(host, { "large.bin": Buffer.alloc(2_000_000) });
    session.widen(0, 2_000_000);
    session.open("/large.bin");
    for (let frames = 1; session.received.dataBytes < 2_000_000; frames += 1) {
      session.widen(1, 1_000);
      session.widen(0, 1_000);
      if (frames % 60 === 0) await processed(session);
    }
    assert.equal(session.received.goaway, 0);
  }));
