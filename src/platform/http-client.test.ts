import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, createServer as createHttps, request as requestHttps } from "node:https";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { throwAwayCertificate } from "../../test/support/test-edge.ts";
import { addressesOfEither, connectingBy, raceAddresses } from "./http-client.ts";

const pair = throwAwayCertificate("shop.example");

async function listen(t: TestContext, host: string, port: number, onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on("error", () => socket.destroy()));
    onSocket(socket);
  });
  server.listen(port, host);
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** An HTTPS server whose handshake begins after a pause. */
function answering(pauseMs: number): (socket: Socket) => void {
  const server = createHttps(pair, (request, response) => response.end(request.socket.localAddress));
  return (socket) => void setTimeout(() => server.emit("connection", socket), pauseMs);
}

function get(t: TestContext, port: number, addresses: string[], { ms = 10_000, url = `https://shop.example:${port}/` } = {}) {
  const until = AbortSignal.timeout(ms);
  const addressesOf = (host: string) => Promise.resolve(host === "shop.example" ? addresses : assert.fail(host));
  const agents = { http: raceAddresses(new HttpAgent()), https: raceAddresses(new HttpsAgent({ ca: pair.cert, keepAlive: true })) };
  t.after(() => agents.https.destroy());
  const options = { signal: until, ...connectingBy({ until, addressesOf }) };
  return new Promise<string>((answered, failed) => {
    const request = url.startsWith("https:")
      ? requestHttps(url, { ...options, agent: agents.https })
      : requestHttp(url, { ...options, agent: agents.http });
    request.on("response", (response) => response.setEncoding("utf8").on("data", answered));
    request.on("error", failed).end();
  });
}

test("an address that accepts and then answers nothing does not stop another one, whose handshake takes a second", async (t) => {
  const port = await listen(t, "127.0.0.1", 0, answering(1_000));
  await listen(t, "::1", port, () => undefined);
  assert.equal(await get(t, port, ["127.0.0.1", "::1"]), "127.0.0.1");
});

test("attempts begin 250 ms apart, IPv6 first and the families in turn, and no attempt is given up for a later one", async (t) => {
  const begun: [address: string, at: number][] = [];
  const record = (socket: Socket) => void begun.push([socket.localAddress!, performance.now()]);
  const slow = answering(900);
  const port = await listen(t, "::1", 0, (socket) => {
    record(socket);
    slow(socket);
  });
  for (const address of ["127.0.0.1", "127.0.0.2"]) await listen(t, address, port, record);
  assert.equal(await get(t, port, ["127.0.0.1", "127.0.0.2", "::1"]), "::1");
  assert.deepEqual(
    begun.map(([address]) => address),
    ["::1", "127.0.0.1", "127.0.0.2"],
  );
  for (const [i, [, at]] of begun.slice(1).entries()) assert.ok(at - begun[i]![1] >= 200, "not at once");
});

test("an attempt that fails starts the next one at once, and the losers are closed", async (t) => {
  const closed = Promise.withResolvers<void>();
  const port = await listen(t, "127.0.0.3", 0, answering(0));
  await listen(t, "127.0.0.1", port, (socket) => void socket.resume().on("close", () => closed.resolve()));
  const before = performance.now();
  assert.equal(await get(t, port, ["127.0.0.4", "127.0.0.5", "127.0.0.1", "127.0.0.3"]), "127.0.0.3");
  assert.ok(performance.now() - before < 2 * 250 + 200, "both refusals cost no pause");
  await closed.promise;
});

test("if every address fails, the error is that of one that was reached", async (t) => {
  const port = await listen(t, "127.0.0.1", 0, (socket) => socket.destroy());
  await assert.rejects(get(t, port, ["100::1", "127.0.0.1"]), { code: "ECONNRESET" });
  await assert.rejects(get(t, port, ["127.0.0.9"]), { code: "ECONNREFUSED" });
});

test("a race ends with its time, also while the name is looked up, and tries no address after it", async (t) => {
  let connections = 0;
  const port = await listen(t, "127.0.0.1", 0, () => connections++);
  await assert.rejects(get(t, port, Array<string>(8).fill("127.0.0.1"), { ms: 300 }), { name: "TimeoutError" });
  const reached = connections;
  assert.ok(reached >= 1 && reached <= 2);
  const never = new HttpAgent();
  const until = AbortSignal.timeout(50);
  const request = requestHttp("http://shop.example/", {
    agent: raceAddresses(never),
    signal: until,
    ...connectingBy({ until, addressesOf: () => new Promise(() => undefined) }),
  });
  request.end();
  const [error] = (await once(request, "error")) as [Error];
  assert.match(error.name, /^(Abort|Timeout)Error$/);
  assert.equal(connections, reached);
});

test("at most eight addresses of a host are tried", async (t) => {
  let connections = 0;
  const port = await listen(t, "127.0.0.1", 0, (socket) => {
    connections++;
    socket.destroy();
  });
  await assert.rejects(get(t, port, Array<string>(100).fill("127.0.0.1")), { code: "ECONNRESET" });
  assert.equal(connections, 8);
});

test("a look-up of one family that never ends or fails stops no connection over the other; without any address its error counts", async () => {
  const never = new Promise<string[]>(() => undefined);
  const failing = () => Promise.reject<string[]>(new Error("SERVFAIL"));
  assert.deepEqual(await addressesOfEither([Promise.resolve(["192.0.2.1"]), never]), ["192.0.2.1"]);
  assert.deepEqual(await addressesOfEither([never, Promise.resolve(["2001:db8::1"])]), ["2001:db8::1"]);
  assert.deepEqual(await addressesOfEither([Promise.resolve(["192.0.2.1"]), failing()]), ["192.0.2.1"]);
  const soon = new Promise<string[]>((resolve) => setTimeout(resolve, 20, ["2001:db8::1"]));
  assert.deepEqual(await addressesOfEither([Promise.resolve(["192.0.2.1"]), soon]), ["192.0.2.1", "2001:db8::1"]);
  assert.deepEqual(await addressesOfEither([Promise.resolve([]), Promise.resolve([])]), []);
  await assert.rejects(addressesOfEither([Promise.resolve([]), failing()]), /SERVFAIL/);
});
