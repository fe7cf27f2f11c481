import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createServer, type Server } from "node:http";
import { BlockList, connect, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { openBounds } from "./bounds.ts";
import { connectionLimits, type ConnectionLimits, connectionsWithin, guardConnections } from "./connections.ts";
import { addressList } from "./parse.ts";

/** A listener whose guard sweeps only when the test calls it, at a time that the test sets. */
async function openScene(t: TestContext, limits: Partial<ConnectionLimits>, exempt = new BlockList()) {
  const now = { ms: 0 };
  const bounds = openBounds();
  const guard = guardConnections({ limits: { ...connectionLimits, ...limits }, exempt, bounds, listener: "api", now: () => now.ms });
  guard.close(); // stops the timer
  const server: Server = createServer((request, response) => {
    guard.requested(request.socket, response);
    if (request.url === "/large") response.end(Buffer.alloc(32_000_000));
    if (request.url === "/") response.end("x");
  });
  server.prependListener("connection", (socket: Socket) => guard.admit(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const open = async (from = "127.0.0.1"): Promise<Socket> => {
    const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", localAddress: from });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  };
  const ask = async (socket: Socket, path = "/"): Promise<string> => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return String((await once(socket, "data"))[0]);
  };
  /** Moves the clock forward, and sweeps. */
  const after = (ms: number): void => {
    now.ms += ms;
    guard.sweep();
  };
  const figure = (line: string): number => {
    const [name, label] = line.split("=");
    const sample = bounds
      .metrics()
      .find((metric) => metric.name === name)
      ?.samples.find(({ labels }) => Object.values(labels ?? {})[0] === label);
    return sample?.value ?? assert.fail(line);
  };
  return { open, ask, after, figure, guard };
}

/** Waits until a connection is closed, cleanly or not, and returns the text that it received. */
async function untilClosed(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let received = "";
  socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1"))).on("close", () => resolve());
  if (!socket.closed) await promise;
  return received;
}

test("a connection over the bound of its address is closed without an answer; another address and a proxy are not", async (t) => {
  const { open, ask, figure } = await openScene(t, { connectionsPerAddress: 2 }, addressList("127.0.0.3"));
  const held = [await open(), await open()];
  assert.equal(await untilClosed(await open()), "");
  for (const socket of [...held, await open("127.0.0.2")]) assert.match(await ask(socket), /^HTTP\/1\.1 200 /);
  for (let count = 0; count < 4; count += 1) assert.match(await ask(await open("127.0.0.3")), /^HTTP\/1\.1 200 /);
  assert.equal(figure("petstore_bound_refusals_total=connections_per_address"), 1);
});

test("a connection that closes makes room for the next", async (t) => {
  const { open, ask } = await openScene(t, { connectionsPerAddress: 1 });
  for (let count = 0; count < 3; count += 1) {
    const socket = await open();
    socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert.match(await untilClosed(socket), /^HTTP\/1\.1 200 /);
  }
  assert.match(await ask(await open()), /^HTTP\/1\.1 200 /);
});

test("connections over the bound of all addresses are closed", async (t) => {
  const { open, ask, figure } = await openScene(t, { connectionsMax: 2 });
  const held = [await open("127.0.0.2"), await open("127.0.0.3")];
  assert.equal(await untilClosed(await open("127.0.0.4")), "");
  for (const socket of held) assert.match(await ask(socket), /^HTTP\/1\.1 200 /);
  assert.equal(figure("petstore_bound_refusals_total=connections"), 1);
  assert.equal(figure("petstore_connections_open=api"), 2);
});

test("an address with many connections loses those that sent no request for a second, the quietest first", async (t) => {
  const { open, ask, after, figure } = await openScene(t, { crowdedAt: 2 });
  const [first, second, third, waiting] = [await open(), await open(), await open(), await open()];
  waiting.write("GET /never HTTP/1.1\r\nHost: a\r\n\r\n"); // it is being answered
  await ask(third);
  after(900);
  assert.equal(figure("petstore_connections_open=api"), 4);
  await ask(first);
  after(100);
  await Promise.all([second, third].map(untilClosed));
  assert.match(await ask(first), /^HTTP\/1\.1 200 /);
  assert.equal(waiting.closed, false);
  assert.equal(figure("petstore_bound_refusals_total=connections_without_requests"), 2);
});

test("near the bound of all addresses, quiet connections of every address are closed", async (t) => {
  const { open, after, figure } = await openScene(t, { connectionsMax: 10 });
  const opened: Socket[] = [];
  for (let number = 1; number <= 10; number += 1) opened.push(await open(`127.0.0.${number}`));
  after(1_000);
  assert.equal(await untilClosed(opened[0]!), "");
  assert.equal(figure("petstore_connections_open=api"), 9);
});

test("a client that never reads its answer, and one that stops sending, are closed after 75 seconds", async (t) => {
  const { open, after, figure } = await openScene(t, {});
  const reader = await open();
  reader.pause().write("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  const sender = await open();
  sender.write("POST /never HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
  await once(reader, "readable");
  after(0);
  after(74_000);
  assert.equal(figure("petstore_connections_open=api"), 2);
  after(6_000);
  assert.equal(figure("petstore_connections_open=api"), 0);
  assert.equal(figure("petstore_bound_refusals_total=connections_idle"), 2);
  assert.equal(await untilClosed(sender), "");
});

test("a client that reads a little now and then is not idle", async (t) => {
  const { open, after, figure } = await openScene(t, {});
  const reader = await open();
  reader.write("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  for (let round = 0; round < 4; round += 1) {
    // more than the buffers between both ends hold
    for (let received = 0; received < 7_000_000;) received += ((await once(reader, "data")) as [Buffer])[0].length;
    reader.pause();
    after(70_000);
    assert.equal(figure("petstore_connections_open=api"), 1);
    reader.resume();
  }
});

test("a request on a connection that is not counted changes nothing", (t) => {
  const guard = guardConnections({ limits: connectionLimits, exempt: new BlockList(), bounds: openBounds(), listener: "api" });
  t.after(() => guard.close());
  guard.requested({}, new EventEmitter());
});

test("the bound of all connections depends on the number of files that the process may open", () => {
  assert.deepEqual([100, 1_024, 20_000, 1_048_576].map(connectionsWithin), [64, 384, 7_500, 10_000]);
});
