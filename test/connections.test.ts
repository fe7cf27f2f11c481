import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { openRaw, type RawConnection } from "./support/raw.ts";
import { startService } from "./support/service.ts";

async function openScene(t: TestContext, options: Parameters<typeof startService>[0]) {
  const service = await startService(options);
  t.after(() => service.close());
  const open = async (): Promise<RawConnection> => {
    const connection = await openRaw(service.address);
    t.after(() => connection.close());
    return connection;
  };
  const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${service.key}\r\n\r\n`;
  return { service, open, request };
}

test("the API closes connections over CONNECTIONS_PER_ADDRESS without an answer, and serves the others", async (t) => {
  const { open, request } = await openScene(t, { env: { CONNECTIONS_PER_ADDRESS: "2" } });
  const held = [await open(), await open()];
  const over = await open();
  await assert.rejects(over.answer(), /ended before an answer's headers: $/);
  for (const connection of held) {
    await connection.write(request("/v1/pets"));
    assert.equal((await connection.answer()).status, 200);
  }
});

test("the API closes a connection whose client never reads its answers", async (t) => {
  const { service, open, request } = await openScene(t, { connections: { idleTimeoutMs: 300 } });
  const arrived = once(service.app.server, "connection") as Promise<[Socket]>;
  const reader = await open();
  reader.socket.pause();
  const [socket] = await arrived;
  // pipelined until the buffers of both ends are full, and nothing moves
  reader.socket.write(request("/openapi.json").repeat(31));
  if (!socket.closed) await once(socket, "close");
  const metrics = await (await fetch(`${service.address}/metrics`)).text();
  assert.match(metrics, /^petstore_bound_refusals_total\{reason="connections_idle"\} 1$/m);
});

/** Writes text over and over until the connection closes; returns how many bytes it wrote. */
async function flood(connection: RawConnection, text: string): Promise<number> {
  const many = text.repeat(Math.ceil(65_536 / text.length));
  let bytes = 0;
  for (; !connection.socket.destroyed; bytes += many.length) await connection.write(many).catch(() => undefined);
  return bytes;
}

for (const [what, first, text] of [
  ["blank lines before a request", "", "\r\n"],
  ["blank lines after a request", "GET /v1/events/stream", "\r\n"],
  [
    "requests that are not read, because the last one is being answered",
    "GET /v1/events/stream",
    "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
  ],
] as const) {
  test(`the API closes a connection that floods it: ${what}`, async (t) => {
    const { service, open, request } = await openScene(t, {});
    const connection = await open();
    if (first !== "") await connection.write(request(first.slice(4)));
    const bytes = await flood(connection, text);
    assert.ok(bytes < 32 * 1_048_576, `${bytes} bytes`);
    const metrics = await (await fetch(`${service.address}/metrics`)).text();
    assert.match(metrics, /^petstore_bound_refusals_total\{reason="unrequested_bytes"\} 1$/m);
  });
}

for (const [how, header, pieceOf] of [
  ["with a length", "Content-Length: 20480000", (bytes: string) => bytes],
  ["in chunks", "Transfer-Encoding: chunked", (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`],
] as const) {
  test(`a body of 20 MB is no flood, even if its request is refused: ${how}`, async (t) => {
    const { open, request } = await openScene(t, {});
    const connection = await open();
    await connection.write(request("/v1/pets").replace("GET", "POST").replace("\r\n\r\n", `\r\n${header}\r\n\r\n`));
    const piece = pieceOf(" ".repeat(20_480));
    for (let count = 0; count < 1_000; count += 1) await connection.write(piece);
    assert.equal((await connection.answer()).status, 413);
    connection.close();
  });
}
