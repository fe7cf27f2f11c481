import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { suite, test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "./support/folder.ts";
import { freePort } from "./support/ports.ts";
import { addressOf, keyIn, spawnServer } from "./support/process.ts";
import { ask } from "./support/service.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

/** A started server with a published site at `site.petstore.localhost`. */
async function startPublished(t: TestContext, env: Record<string, string>) {
  const edgePort = await freePort();
  const server = spawnServer(t, temporaryFolder(t), { EDGE_HTTP_PORT: String(edgePort), ...env });
  const address = await addressOf(server);
  const key = keyIn(server.out());
  const { body } = await ask<{ id: number }>(`${address}/v1/projects`, "POST", { key, body: { name: "Site", slug: "site" } });
  const archive = await packSite({ "index.html": "hello", "petstore.json": "{}" });
  const headers = { "content-type": "application/gzip" };
  await ask(`${address}/v1/projects/${body.id}/deployments`, "POST", { key, body: archive, headers });
  const edge = `http://127.0.0.1:${edgePort}`;
  const visit = () => get(`${edge}/`, { headers: { host: "site.petstore.localhost" } });
  await until(async () => (await visit()) === 200);
  return { server, address, key, edge };
}

/** The status of one request; rejects if the connection fails. */
async function get(
  url: string,
  { agent = false, headers = {} }: { agent?: Agent | false; headers?: Record<string, string> },
): Promise<number> {
  const asked = request(url, { agent, headers }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode ?? 0;
}

const readiness = (address: string) => get(`${address}/readyz`, {});

suite("stopping", { concurrency: 2 }, () => {
  test("after SIGTERM a node is not ready but still serves, without one failed request", async (t) => {
    const { server, address, key, edge } = await startPublished(t, { DRAIN_SECONDS: "6" });
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const calls: [url: string, headers: Record<string, string>][] = [
      [`${address}/v1/account`, { authorization: `Bearer ${key}` }],
      [`${edge}/`, { host: "site.petstore.localhost" }],
    ];
    const load = { isOn: true, answers: 0, drained: 0, failures: [] as unknown[] };
    const clients = [agent, agent, false as const].flatMap((by) =>
      calls.map(async ([url, headers]) => {
        for (; load.isOn; await pause(100)) {
          const status = await get(url, { agent: by, headers }).catch((error: unknown) => error);
          if (status === 200) load.answers += 1;
          else load.failures.push(status);
        }
      }),
    );
    await until(() => load.answers > 20);
    const sentAt = performance.now();
    server.kill("SIGTERM");
    await server.logged(({ msg }) => msg === "draining");
    assert.equal(await readiness(address), 503);
    assert.equal(await get(`${address}/healthz`, {}), 200);
    const soFar = load.answers;
    // a balancer may take as long to notice, past the half of the drain
    while (performance.now() - sentAt < 3_600 || load.answers - soFar <= 20) await pause(20);
    load.isOn = false;
    await Promise.all(clients);
    assert.deepEqual(load.failures, []);
    assert.deepEqual(Object.keys(agent.freeSockets), [], "no client keeps a connection that is about to close");
    assert.equal(await server.ended, 0);
    assert.ok(performance.now() - sentAt >= 6_000);
  });

  test("SIGINT skips the drain", async (t) => {
    const server = spawnServer(t, temporaryFolder(t), { DRAIN_SECONDS: "3600" });
    await addressOf(server);
    server.kill("SIGINT");
    assert.equal(await server.ended, 0);
  });

  test("a second signal ends the drain at once, except one that npm or a terminal sends with the first", async (t) => {
    for (const second of ["SIGTERM", "SIGINT"] as const) {
      const server = spawnServer(t, temporaryFolder(t), { DRAIN_SECONDS: "3600" });
      const address = await addressOf(server);
      server.kill("SIGTERM");
      server.kill("SIGTERM");
      await until(async () => (await readiness(address)) === 503);
      await pause(600);
      assert.equal(await readiness(address), 503, "it still drains");
      server.kill(second);
      assert.equal(await server.ended, 1);
    }
  });

  test("a signal that comes before the service is loaded stops it in order or reloads it, and does not end it; by default a node does not drain", async (t) => {
    // Says when the process begins to catch signals, and whether it has loaded the database's engine by then.
    const watch = `const { writeSync } = process.getBuiltinModule('node:fs');
      process.on('newListener', (name) => name === 'SIGHUP' && writeSync(1, JSON.stringify({
        msg: 'catching', isLoaded: process.moduleLoadList.includes('NativeModule sqlite') }) + '\\n'))`;
    const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(watch)}` };
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const server = spawnServer(t, temporaryFolder(t), { ...env, DRAIN_SECONDS: "3600" });
      const line = await server.logged(({ msg }) => msg === "catching");
      assert.equal((line as { isLoaded?: boolean }).isLoaded, false);
      server.kill(signal);
      assert.equal(await server.ended, 0);
      assert.equal(server.err(), "");
    }
    const server = spawnServer(t, temporaryFolder(t), env);
    await server.logged(({ msg }) => msg === "catching");
    server.kill("SIGHUP");
    await server.logged(({ msg }) => msg === "reloaded");
    await addressOf(server);
    server.kill("SIGTERM");
    assert.equal(await server.ended, 0);
    assert.ok(!server.out().includes("draining"));
  });
});
