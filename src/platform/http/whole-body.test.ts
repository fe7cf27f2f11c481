import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gatherBody, gathersBodies } from "./whole-body.ts";

/** Opens a connection to a server that answers with `handle`. */
async function open(t: TestContext, handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Socket> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay();
  t.after(() => {
    socket.destroy();
    server.close();
  });
  return socket;
}

/** Sends pieces, each of which the server reads before the next. */
async function send(socket: Socket, pieces: string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    for (let turns = 0; turns < 5; turns++) await nextTurn();
  }
}

const head = (length: number): string => `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;
const unexpected = (): never => assert.fail("called");

test("bodies can be gathered on this release of Node", () => assert.ok(gathersBodies));

test("bodies in pieces arrive whole, and a connection serves one request after another", async (t) => {
  const bodies: string[] = [];
  const socket = await open(t, (request, response) => {
    const whole = (bytes: Buffer): void => {
      bodies.push(bytes.toString());
      response.end("ok");
    };
    assert.ok(gatherBody(request, whole, () => undefined));
  });
  for (const pieces of [[`${head(6)}abcdef`], [head(6), "abc", "def"], [`${head(6)}a`, "bcdef"]]) {
    const answered = once(socket, "data");
    await send(socket, pieces);
    await answered;
  }
  await send(socket, [`${head(1)}x${head(1)}y`]);
  while (bodies.length < 5) await nextTurn();
  assert.deepEqual(bodies, ["abcdef", "abcdef", "abcdef", "x", "y"]);
});

test("a connection that ends before the body is whole cuts the body", async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = await open(t, (request) => void gatherBody(request, unexpected, resolve));
  await send(socket, [head(6), "abc"]);
  socket.destroy();
  await promise;
});

test("a body that has arrived, that something else reads, or that comes from no connection is left to the stream", async (t) => {
  const { promise, resolve } = Promise.withResolvers<boolean[]>();
  const socket = await open(t, (request, response) => {
    const taken: boolean[] = [];
    const isTaken = () => taken.push(gatherBody(request, unexpected, unexpected));
    const push = request.push.bind(request);
    request.push = (chunk: unknown) => push(chunk);
    isTaken();
    Reflect.deleteProperty(request, "push");
    setImmediate(() => {
      isTaken();
      response.end();
      resolve(taken);
    });
  });
  await send(socket, [`${head(6)}abcdef`]);
  assert.deepEqual(await promise, [false, false]);
  assert.equal(gatherBody(Readable.from(["x"]) as IncomingMessage, unexpected, unexpected), false);
});
