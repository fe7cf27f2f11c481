import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { lockFolder } from "../src/platform/lock.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startService } from "./support/service.ts";

test("a service that is closed while it still starts leaves no port open", async () => {
  const ports = () => process.getActiveResourcesInfo().filter((resource) => resource === "TCPServerWrap").length;
  const before = ports();
  const service = await startService();
  const ready = service.ready.catch(() => undefined);
  await service.close();
  await ready;
  assert.equal(ports(), before);
});

test("a service whose counters cannot be saved still releases its folder", async (t) => {
  const dataDir = temporaryFolder(t);
  const service = await startService({ dataDir });
  mkdirSync(join(dataDir, "limits.state.new"));
  assert.equal((await service.ask("GET", "/pets")).status, 200);
  await service.close();
  lockFolder(dataDir, "test", 0).release();
});

test("a start that fails releases its folder", async (t) => {
  const dataDir = temporaryFolder(t);
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await assert.rejects(startService({ dataDir, env: { PORT: String(port) } }), new RegExp(`PORT=${port} is taken`));
  lockFolder(dataDir, "test", 0).release();
});
