import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { closed, exchangeRaw, fetchFrom, openTestEdge, throwAwayCertificate, type TestEdge } from "../../../test/support/test-edge.ts";
import type { EdgeLimits } from "./edge.ts";

const host = "www.example.com";

async function withEdge(limits: Partial<EdgeLimits>, body: (edge: TestEdge) => Promise<void>): Promise<void> {
  const edge = await openTestEdge({ limits });
  try {
    await edge.publish("plain.example", { "index.html": "x", "large.bin": Buffer.alloc(32_000_000) });
    edge.sites.set(host, edge.sites.get("plain.example")!);
    edge.certificates.set(host, throwAwayCertificate(host));
    await body(edge);
  } finally {
    await edge.close(0);
  }
}

const openPlain = async (edge: TestEdge): Promise<Socket> => {
  const socket = connect(edge.addresses.http.port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
};

const openSession = async (edge: TestEdge) => {
  const options = { host: "127.0.0.1", servername: host, ca: edge.certificates.get(host)!.cert };
  const session = connectHttp2(`https://${host}:${edge.addresses.https!.port}`, {
    ...options,
    createConnection: () => connectTls({ ...options, port: edge.addresses.https!.port, ALPNProtocols: ["h2"] }),
  });
  session.on("error", () => undefined);
  await once(session, "remoteSettings");
  return session;
};

/** Repeats a request until the only place for a large file is free. */
async function untilServed(edge: TestEdge, name: string): Promise<void> {
  for (let status = 503; status !== 200;) ({ status } = await fetchFrom(edge, name, "/large.bin"));
}

test("headers over the limit return 431", () =>
  withEdge({}, async (edge) => {
    const { port } = edge.addresses.http;
    assert.match(await exchangeRaw(port, `GET / HTTP/1.1\r\nHost: plain.example\r\nX: ${"x".repeat(20_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /);
    assert.match(await exchangeRaw(port, `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: plain.example\r\n\r\n`), /^HTTP\/1\.1 431 /);
  }));

test("the first 32 pipelined requests are answered, and then the connection closes", () =>
  withEdge({}, async (edge) => {
    const answers = await exchangeRaw(edge.addresses.http.port, "GET / HTTP/1.1\r\nHost: plain.example\r\n\r\n".repeat(1_000));
    assert.equal(answers.match(/HTTP\/1\.1 200 /g)?.length, 32);
  }));

test("a client that does not finish its headers or its handshake in time is disconnected", () =>
  withEdge({ headersTimeoutMs: 50, timeoutCheckMs: 10, handshakeTimeoutMs: 50 }, async (edge) => {
    assert.match(await exchangeRaw(edge.addresses.http.port, "GET / HTTP/1.1\r\nHost: plain"), /^HTTP\/1\.1 408 /);
    assert.equal(await exchangeRaw(edge.addresses.https!.port, Buffer.of(0x16, 0x03)), "");
  }));

test("a client that stops reading in the middle of a file is disconnected", () =>
  withEdge({ idleTimeoutMs: 300, openFilesMax: 1 }, async (edge) => {
    await edge.publish("second.example", { "large.bin": Buffer.alloc(1_000_000, 1) });
    const socket = await openPlain(edge);
    socket.write("GET /large.bin HTTP/1.1\r\nHost: plain.example\r\n\r\n");
    await once(socket, "readable");
    await untilServed(edge, "second.example");
    let received = 0;
    socket.on("data", (chunk: Buffer) => (received += chunk.length));
    await closed(socket);
    assert.ok(received < 32_000_000, `${received} bytes came`);
  }));

test("connections over the bound of both listeners are closed, and those below it are served", () =>
  withEdge({ connectionsMax: 2 }, async (edge) => {
    const held = [await openPlain(edge), await openPlain(edge)];
    assert.equal(await exchangeRaw(edge.addresses.http.port, "GET / HTTP/1.1\r\nHost: plain.example\r\n\r\n"), "");
    const socket = held[0]!;
    socket.write("GET / HTTP/1.1\r\nHost: plain.example\r\nConnection: close\r\n\r\n");
    assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1\.1 200 /);
  }));

test("an address with many TLS connections loses those that have sent no request for a while, and keeps those with a request", () =>
  withEdge({ crowdedAt: 1, quietMs: 50 }, async (edge) => {
    const quiet = await openSession(edge);
    const session = await openSession(edge);
    const busy = session.request({ ":path": "/large.bin" }).on("error", () => undefined);
    if (!quiet.destroyed) await once(quiet, "close");
    await once(busy, "data");
    const more = await openPlain(edge);
    await closed(more);
    assert.equal(session.destroyed, false);
    session.destroy();
  }));

test("a handshake waits for none of those that another address has begun", () =>
  withEdge({}, async (edge) => {
    const ended: string[] = [];
    const shake = async (localAddress: string): Promise<void> => {
      const options = { host: "127.0.0.1", port: edge.addresses.https!.port, servername: host, localAddress };
      const socket = connectTls({ ...options, ca: edge.certificates.get(host)!.cert });
      await once(socket, "secureConnect");
      ended.push(localAddress);
      socket.destroy();
    };
    const crowd = Array.from({ length: 100 }, () => shake("127.0.0.1"));
    await Promise.all([shake("127.0.0.2"), ...crowd]);
    assert.ok(ended.indexOf("127.0.0.2") < 50, `it was number ${ended.indexOf("127.0.0.2")}`);
  }));

test("both listeners count towards the bound of an address", () =>
  withEdge({ connectionsPerAddress: 2 }, async (edge) => {
    const session = await openSession(edge);
    await openPlain(edge);
    for (const { port } of [edge.addresses.http, edge.addresses.https!]) assert.equal(await exchangeRaw(port, "GET"), "");
    session.destroy();
  }));

test("a client that keeps opening and resetting streams loses its connection", () =>
  withEdge({ streamResetBurst: 20, streamResetsPerSecond: 1 }, async (edge) => {
    const session = await openSession(edge);
    const goaway = once(session, "goaway");
    for (let count = 0; count < 100 && !session.closed; count += 1) {
      const stream = session.request({ ":path": "/large.bin" });
      stream.on("error", () => undefined);
      stream.close(8);
    }
    await goaway;
    session.destroy();
    assert.equal((await fetchFrom(edge, "plain.example", "/")).status, 200);
  }));

test("SETTINGS announce the limits on concurrent streams and header size", () =>
  withEdge({ streamsMax: { session: 7, address: 512, all: 4_096 }, headerBytesMax: 4096 }, async (edge) => {
    const session = await openSession(edge);
    assert.equal(session.remoteSettings.maxConcurrentStreams, 7);
    assert.equal(session.remoteSettings.maxHeaderListSize, 4096);
    const stream = session.request({ ":path": "/", "x-large": "x".repeat(8000) });
    const [outcome] = (await Promise.race([once(stream, "response"), once(stream, "error")]).catch((error: unknown) => [
      error,
    ])) as unknown[];
    assert.notEqual((outcome as Record<string, unknown>)[":status"], 200);
    session.destroy();
  }));

test("an unexpected body is not read: the answer comes at once, and ends the stream of a large body", () =>
  withEdge({}, async (edge) => {
    const session = await openSession(edge);
    const stream = session.request({ ":path": "/", ":method": "POST" }, { endStream: false });
    stream.on("error", () => undefined).resume();
    stream.write(Buffer.alloc(1000));
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    assert.equal(headers[":status"], 405);
    stream.write(Buffer.alloc(50_000));
    await once(stream, "close");
    session.destroy();
  }));

test("over the limit of open large files a request gets 503 with Retry-After, and a closed file frees its place", () =>
  withEdge({ openFilesMax: 1 }, async (edge) => {
    await edge.publish("second.example", { "large.bin": Buffer.alloc(1_000_000, 1) });
    const socket = await openPlain(edge);
    socket.write("GET /large.bin HTTP/1.1\r\nHost: plain.example\r\n\r\n");
    await once(socket, "readable");
    const refused = await fetchFrom(edge, "second.example", "/large.bin");
    assert.deepEqual([refused.status, refused.headers["retry-after"]], [503, "1"]);
    assert.equal(
      (await fetchFrom(edge, "plain.example", "/large.bin", { headers: { range: "bytes=0-9" } })).status,
      206,
      "an open file is shared",
    );
    edge.dropHost("plain.example");
    await closed(socket);
    await untilServed(edge, "second.example");
  }));

test("the visitors of one site take at most half of the places for large files, and another site's visitors find one", () =>
  withEdge({ openFilesMax: 4 }, async (edge) => {
    const file = (n: number) => Buffer.alloc(32_000_000, n);
    await edge.publish("crowded.example", { "1.bin": file(1), "2.bin": file(2), "3.bin": file(3) });
    const held: Socket[] = [];
    for (const name of ["1.bin", "2.bin"]) {
      const socket = await openPlain(edge);
      socket.write(`GET /${name} HTTP/1.1\r\nHost: crowded.example\r\n\r\n`);
      await once(socket, "readable");
      held.push(socket);
    }
    assert.equal((await fetchFrom(edge, "crowded.example", "/3.bin")).status, 503);
    const part = { headers: { range: "bytes=0-9" } };
    assert.equal((await fetchFrom(edge, "crowded.example", "/2.bin", part)).status, 206, "an open file is shared");
    assert.equal((await fetchFrom(edge, "plain.example", "/large.bin", part)).status, 206);
    held[0]!.destroy();
    for (let status = 503; status !== 206;) ({ status } = await fetchFrom(edge, "crowded.example", "/3.bin", part));
  }));

test("closing the edge accepts no new connections, and lets a running answer finish", () =>
  withEdge({}, async (edge) => {
    const { port } = edge.addresses.http;
    const running = await openPlain(edge);
    running.write("GET /large.bin HTTP/1.1\r\nHost: plain.example\r\n\r\n");
    await once(running, "readable");
    const closing = edge.close(60_000);
    await assert.rejects(once(connect(port, "127.0.0.1"), "connect"), { code: "ECONNREFUSED" });
    let received = 0;
    running.on("data", (chunk: Buffer) => (received += chunk.length));
    await closed(running);
    await closing;
    assert.ok(received > 32_000_000);
  }));

test("closing the edge cuts answers that have not finished after the grace period", () =>
  withEdge({}, async (edge) => {
    const stalled = await openPlain(edge);
    stalled.write("GET /large.bin HTTP/1.1\r\nHost: plain.example\r\n\r\n");
    await once(stalled, "readable");
    const session = await openSession(edge);
    session.request({ ":path": "/large.bin" }).on("error", () => undefined);
    await edge.close(1);
    await closed(stalled);
  }));
