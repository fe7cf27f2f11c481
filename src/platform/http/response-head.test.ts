import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { headerLine, sendsField, writeHead } from "./response-head.ts";

const keepAliveTimeoutMs = 65_000;

/** Everything that a server sends to a request on one connection, which the server or this client then ends. */
async function answerTo(t: TestContext, request: string, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, (incoming, response) => {
    answer(incoming, response);
    setImmediate(() => server.closeIdleConnections());
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1", () => void socket.write(request));
  let bytes = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (bytes += piece));
  await once(socket, "close");
  return bytes.replace(/Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/, "Date: now\r\n");
}

const host = "Host: localhost\r\n";
const lines = "X-Request-Id: a\r\nContent-Length: 4\r\n";
const both = (
  name: string,
  request: string,
  status: number,
  body: string | undefined,
  before: (response: ServerResponse) => void = () => {},
): void =>
  void test(`${name}: the head equals the one that Node writes for the same headers`, async (t) => {
    const own = await answerTo(t, request, (incoming, response) => {
      before(response);
      writeHead(incoming, response, status, lines);
      response.end(body, "utf8");
    });
    const nodes = await answerTo(t, request, (_incoming, response) => {
      before(response);
      response.writeHead(status, ["X-Request-Id", "a", "Content-Length", "4"]);
      response.end(body);
    });
    assert.equal(own, nodes);
    assert.match(own, /^HTTP\/1\.1 \d{3} .*\r\n[^]*Date: now\r\n/);
  });

test("this release of Node sends the head as it was set", () => assert.ok(sendsField));

both("an ordinary answer", `GET / HTTP/1.1\r\n${host}\r\n`, 200, "text");
both("an answer beyond ASCII", `GET / HTTP/1.1\r\n${host}\r\n`, 200, "üab");
both("an answer to HEAD", `HEAD / HTTP/1.1\r\n${host}\r\n`, 200, undefined);
both("a 304", `GET / HTTP/1.1\r\n${host}\r\n`, 304, undefined);
both("a 204", `DELETE / HTTP/1.1\r\n${host}\r\n`, 204, undefined);
both("the last answer of a connection", `GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 200, "text");
both("HTTP/1.0", `GET / HTTP/1.0\r\n${host}\r\n`, 200, "text");
both("HTTP/1.0 that keeps its connection", `GET / HTTP/1.0\r\n${host}Connection: keep-alive\r\n\r\n`, 200, "text");
both("an answer with a header that something else has set", `GET / HTTP/1.1\r\n${host}\r\n`, 200, "text", (response) => {
  response.setHeader("Strict-Transport-Security", "max-age=1");
});

test("a header value with a character that cannot be sent is refused", () => {
  assert.equal(headerLine("Location", "/é\t"), "Location: /é\t\r\n");
  for (const value of ["a\r\nSet-Cookie: a=b", "a\n", "\u0000", "\u007f", "ā"])
    assert.throws(() => headerLine("Location", value), TypeError);
});
