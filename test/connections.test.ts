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
