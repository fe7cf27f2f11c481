import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { bytesMax, send } from "./send.ts";

for (const [bytes, isCut] of [
  [bytesMax - 1, false],
  [bytesMax, false],
  [bytesMax + 1, true],
] as const) {
  test(`a body of ${bytes} bytes is ${isCut ? "cut" : "shown whole"}`, async (t) => {
    const server = createServer((_request, response) => response.end("x".repeat(bytes))).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const request = { method: "GET", url: `http://127.0.0.1:${port}/`, headers: [], body: undefined };
    const reply = await send(request, "", new AbortController().signal);
    const shown = Math.min(bytes, bytesMax);
    assert.deepEqual([reply.bytes, reply.body.length, reply.isCut], [shown, shown, isCut]);
  });
}
