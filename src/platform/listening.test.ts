import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { listeningError } from "./listening.ts";

/** The error of a server that cannot listen at an address. */
function failure(t: TestContext, host: string, port: number): Promise<unknown> {
  const server = createServer();
  t.after(() => server.close());
  return new Promise((resolve) => server.once("error", resolve).listen(port, host));
}

test("a host that is not an address of this machine is reported in one line that names HOST", async (t) => {
  for (const host of ["192.0.2.1", "nowhere.invalid"]) {
    const { message } = listeningError(await failure(t, host, 0), "PORT", { host, port: 0 }) as Error;
    assert.match(message, new RegExp(`^HOST=${host} PORT=0 cannot be listened on \\([A-Z_]+\\)$`));
  }
});

test("a port that is taken is reported in one line that names its setting", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { message } = listeningError(await failure(t, "127.0.0.1", port), "EDGE_HTTP_PORT", { host: "127.0.0.1", port }) as Error;
  assert.equal(message, `EDGE_HTTP_PORT=${port} is taken on 127.0.0.1: set EDGE_HTTP_PORT to a free one`);
});

test("any other error stays unchanged", () => {
  const error = new Error("something else");
  assert.equal(listeningError(error, "PORT", { host: "127.0.0.1", port: 80 }), error);
});
