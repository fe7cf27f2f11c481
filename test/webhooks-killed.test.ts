import assert from "node:assert/strict";
import { test } from "node:test";
import type { Delivery } from "../src/events/webhooks/webhooks.ts";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { addressOf, createAccount, spawnServer, type ServerProcess } from "./support/process.ts";
import { ask } from "./support/service.ts";
import { until } from "./support/until.ts";
import { requireEveryEventSent, startReceiver } from "./support/webhooks.ts";

const eachMax = 40;

test("every event is delivered at least once though the process is killed while messages are under way", async (t) => {
  const dataDir = temporaryFolder(t);
  const key = await createAccount(dataDir);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  let server: ServerProcess;
  let address = "";
  const start = async (): Promise<void> => {
    server = spawnServer(t, dataDir, { WEBHOOK_PRIVATE_ADDRESSES: "on", DNS_SERVERS: "127.0.0.1:9" });
    address = await addressOf(server);
  };
  const send = (path: string, body: unknown) => ask(`${address}/v1${path}`, "POST", { key, body });
  await start();
  assert.equal((await send("/webhooks", { url: receiver.url, types: ["category.created"] })).status, 201);
  const made = new Set<string>();
  for (let kill = 0; kill < runs(2, 50); kill++) {
    const dies = receiver.got.length + random(1, eachMax);
    receiver.answer = (_, response) => {
      if (receiver.got.length === dies) server.kill("SIGKILL");
      response.writeHead(204).end();
    };
    const create = async (name: string): Promise<void> => {
      const answered = await send("/categories", { name }).catch(() => undefined);
      if (answered?.status === 201) made.add(name);
    };
    await Promise.all(Array.from({ length: eachMax }, (_, i) => create(`${kill} ${i}`)));
    server!.kill("SIGKILL"); // unless too few messages came
    await server!.ended;
    receiver.answer = (_, response) => void response.writeHead(204).end();
    await start();
  }
  const delivered = () => new Set(receiver.got.map(({ body }) => body.data["name"]));
  await until(() => [...made].every((name) => delivered().has(name)));
  assert.ok(made.size > 0);
  await requireEveryEventSent(address, key, made, [receiver]);
  t.diagnostic(`${made.size} events, ${receiver.got.length} messages`);
});

test("a service that is asked to stop waits for the answer of a message under way, saves it, and does not send it again", async (t) => {
  const dataDir = temporaryFolder(t);
  const key = await createAccount(dataDir);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  receiver.answer = (_, response) => void answered.then(() => response.writeHead(204).end());
  const env = { WEBHOOK_PRIVATE_ADDRESSES: "on", DNS_SERVERS: "127.0.0.1:9" };
  const first = spawnServer(t, dataDir, env);
  const askOf = async (server: ServerProcess) => {
    const address = await addressOf(server);
    return <T>(method: string, path: string, body?: unknown) => ask<T>(`${address}/v1${path}`, method, { key, body });
  };
  const send = await askOf(first);
  await send("POST", "/webhooks", { url: receiver.url, types: ["category.created"] });
  await send("POST", "/categories", { name: "Cats" });
  await until(() => receiver.got.length === 1);
  await send("POST", "/categories", { name: "Dogs" });
  first.kill("SIGTERM");
  await first.logged(({ msg }) => msg === "stopping");
  answer();
  assert.equal(await first.ended, 0);
  assert.equal(receiver.got.length, 1, "it begins no further message");
  const again = await askOf(spawnServer(t, dataDir, env));
  const deliveries = async () => (await again<Delivery[]>("GET", "/webhooks/1/deliveries?status=delivered")).body;
  await until(async () => (await deliveries()).length === 2);
  assert.deepEqual(
    receiver.got.map(({ body }) => body.data["name"]),
    ["Cats", "Dogs"],
  );
  assert.deepEqual(
    (await deliveries()).map(({ attempts }) => attempts),
    [1, 1],
  );
});
