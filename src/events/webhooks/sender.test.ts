import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import { createServer as createTcp, type AddressInfo, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { throwAwayCertificate } from "../../../test/support/test-edge.ts";
import { answerBytesMax, openSender, type Outcome, type SenderOptions } from "./sender.ts";

const names: Record<string, string[]> = { "hooks.example": ["127.0.0.1"], "public.example": ["192.88.98.1"], "none.example": [] };
const open: SenderOptions = { privateAddresses: true, resolve: (name) => Promise.resolve(names[name] ?? []), timeoutMs: 700 };

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.on("error", () => socket.destroy())));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function senderOf(t: TestContext, options: Partial<SenderOptions> = {}) {
  const sender = openSender({ ...open, ...options });
  t.after(() => sender.close());
  return (url: string, signal?: AbortSignal): Promise<Outcome> =>
    sender.send({ url: new URL(url), headers: { "content-type": "application/json" }, body: '{"a":1}', accountId: 1, signal });
}

const errorOf = (outcome: Outcome): string => (outcome.status === null ? outcome.error : assert.fail(JSON.stringify(outcome)));
const receiver = (t: TestContext, listener: RequestListener) => listen(t, createHttp(listener));
const pieceOf = (bytes: number) => "x".repeat(bytes);

test("messages are posted over one connection that is kept open, and their answers are read", async (t) => {
  const seen: unknown[] = [];
  const ports = new Set<unknown>();
  const port = await receiver(t, (request, response) => {
    ports.add(request.socket.remotePort);
    request.setEncoding("utf8").on("data", (body) => seen.push([request.method, request.headers["content-length"], body]));
    response.setHeader("retry-after", "7").end("thanks");
  });
  const send = senderOf(t);
  for (let i = 0; i < 3; i++)
    assert.deepEqual(await send(`http://hooks.example:${port}/in?x=1`), { status: 200, answer: "thanks", retryAfter: "7" });
  assert.deepEqual(seen[0], ["POST", "7", '{"a":1}']);
  assert.equal(ports.size, 1);
});

test("an endpoint that closes its idle connection still gets the next message", async (t) => {
  const server = createHttp((_, response) => response.end());
  const port = await listen(t, server);
  const send = senderOf(t);
  assert.equal((await send(`http://127.0.0.1:${port}/`)).status, 200);
  server.closeAllConnections();
  assert.equal((await send(`http://127.0.0.1:${port}/`)).status, 200);
});

test("redirects are not followed", async (t) => {
  let visits = 0;
  const target = await receiver(t, () => visits++);
  for (const status of [301, 302, 307, 308]) {
    const port = await receiver(t, (_, response) => response.writeHead(status, { location: `http://127.0.0.1:${target}/` }).end());
    assert.equal((await senderOf(t)(`http://127.0.0.1:${port}/`)).status, status);
  }
  assert.equal(visits, 0);
});

test("an attempt times out if an endpoint never accepts, never answers, or sends its head byte by byte", async (t) => {
  const silent = await listen(
    t,
    createTcp(() => undefined),
  );
  const dribbling = await listen(
    t,
    createTcp((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write("x-a: b\r\n"), 50);
      socket.on("close", () => clearInterval(timer));
    }),
  );
  const informing = await receiver(t, (_, response) => {
    const timer = setInterval(() => response.writeProcessing(), 50);
    response.on("close", () => clearInterval(timer));
  });
  const send = senderOf(t);
  const outcomes = await Promise.all([silent, dribbling, informing].map((port) => send(`http://127.0.0.1:${port}/`)));
  for (const outcome of outcomes) assert.equal(errorOf(outcome), "No answer within 0.7 seconds.");
});

test("a look-up that never ends counts as no answer", async (t) => {
  const send = senderOf(t, { resolve: () => new Promise(() => undefined) });
  assert.equal(errorOf(await send("http://slow.example/")), "No answer within 0.7 seconds.");
});

test("only the start of an endless answer is read, its connection is closed, and its status counts", async (t) => {
  const closed: string[] = [];
  const endless = await receiver(t, (_, response) => {
    const write = (): void => void (response.write(pieceOf(65_536)) ? setImmediate(write) : response.once("drain", write));
    response.on("close", () => closed.push("endless"));
    write();
  });
  const dribbling = await receiver(t, (_, response) => {
    const timer = setInterval(() => response.write("."), 20);
    response.on("close", () => {
      closed.push("dribbling");
      clearInterval(timer);
    });
    response.write(".");
  });
  const send = senderOf(t, { timeoutMs: 5_000 });
  assert.deepEqual(await send(`http://127.0.0.1:${endless}/`), { status: 200, answer: pieceOf(answerBytesMax), retryAfter: undefined });
  const slow = await send(`http://127.0.0.1:${dribbling}/`);
  assert.ok(slow.status === 200 && slow.answer.length < 200);
  while (closed.length < 2) await new Promise(setImmediate);
});

test("an answer that is not HTTP, has too many headers, or breaks off is a failure with a reason", async (t) => {
  const answering = (text: string) =>
    listen(
      t,
      createTcp((socket) => void socket.once("data", () => socket.end(text))),
    );
  const send = senderOf(t);
  const failed = async (text: string) => errorOf(await send(`http://127.0.0.1:${await answering(text)}/`));
  assert.equal(await failed("SSH-2.0-OpenSSH_9.2\r\n"), "The answer is not HTTP.");
  assert.equal(await failed(`HTTP/1.1 200 OK\r\n${"x-flood: y\r\n".repeat(2_000)}\r\n`), "The answer's head is longer than 8192 bytes.");
  assert.equal(await failed(""), "The connection was closed without an answer.");
  assert.match(await failed("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"), /^The connection broke/);
  assert.equal(errorOf(await send("http://127.0.0.1:1024/")), "The connection was refused.");
});

test("invalid UTF-8 and NUL in an answer become text that a database can store", async (t) => {
  const port = await receiver(t, (_, response) => response.end(Buffer.from([0x61, 0, 0xff, 0xc3])));
  const outcome = await senderOf(t)(`http://127.0.0.1:${port}/`);
  assert.ok(outcome.status === 200 && outcome.answer.isWellFormed() && !outcome.answer.includes("\0"));
});

test("a certificate from an unknown authority or for another name is refused; a valid one is accepted", async (t) => {
  const pair = throwAwayCertificate("hooks.example");
  const port = await listen(
    t,
    createHttps(pair, (_, response) => response.end("safe")),
  );
  assert.match(errorOf(await senderOf(t)(`https://hooks.example:${port}/`)), /^No TLS connection: self-signed certificate/);
  const trusting = senderOf(t, { ca: pair.cert });
  assert.deepEqual(await trusting(`https://hooks.example:${port}/`), { status: 200, answer: "safe", retryAfter: undefined });
  assert.match(errorOf(await trusting(`https://127.0.0.1:${port}/`)), /^No TLS connection: Hostname\/IP does not match/);
  const old = await listen(
    t,
    createHttps({ ...pair, maxVersion: "TLSv1.1", minVersion: "TLSv1" }, (_, response) => response.end()),
  );
  assert.match(errorOf(await trusting(`https://hooks.example:${old}/`)), /^No TLS connection/);
});

test("without private addresses no connection is made to one, by name or by number, on the first look-up or a later one", async (t) => {
  let connections = 0;
  const port = await listen(
    t,
    createTcp(() => connections++),
  );
  const answers = [["192.88.98.1"], ["192.88.98.1", "127.0.0.1"], ["127.0.0.1"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"]];
  const refusedAs = "The URL leads to an address that is not on the public internet.";
  for (const found of answers.slice(1)) {
    const send = senderOf(t, { privateAddresses: false, resolve: () => Promise.resolve(found) });
    assert.equal(errorOf(await send(`https://turns.example:${port}/`)), refusedAs);
  }
  const send = senderOf(t, { privateAddresses: false });
  for (const host of ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "localhost", "a.localhost", "localhost."])
    assert.equal(errorOf(await send(`https://${host}:${port}/`)), refusedAs, host);
  assert.equal(errorOf(await send(`http://public.example:${port}/`)), "The URL is not an https URL.");
  assert.match(errorOf(await send("https://none.example/")), /without an address/);
  assert.equal(connections, 0);
});

test("no connection is made to a port that webhooks may not have, even if an endpoint was made with it", async (t) => {
  for (const privateAddresses of [true, false]) {
    const send = senderOf(t, { privateAddresses });
    for (const url of ["https://public.example:22/", "http://127.0.0.1:0/", "https://[::1]:1023/"])
      assert.equal(errorOf(await send(url)), "The URL must have port 80, 443, or one from 1024 to 65535.", url);
  }
});

test("an attempt that is aborted says so", async (t) => {
  const silent = await listen(
    t,
    createTcp(() => undefined),
  );
  const stop = new AbortController();
  const sending = senderOf(t)(`http://127.0.0.1:${silent}/`, stop.signal);
  stop.abort();
  assert.deepEqual(await sending, { status: null, error: "The service was stopping.", isAborted: true });
});
