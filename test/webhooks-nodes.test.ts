import assert from "node:assert/strict";
import { test } from "node:test";
import type { Delivery } from "../src/events/webhooks/webhooks.ts";
import { newSecretsKey } from "../src/platform/secrets.ts";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { newDatabase } from "./support/postgres.ts";
import { addressOf, createAccount, spawnServer, type ServerProcess } from "./support/process.ts";
import { ask } from "./support/service.ts";
import { until } from "./support/until.ts";
import { requireEveryEventSent, startReceiver, type Receiver } from "./support/webhooks.ts";

const nodesMax = 3;
const eachMax = 30;

test("three nodes deliver every event at least once, and to an ordered endpoint in order, though they are killed one after the other", async (t) => {
  const database = await newDatabase(undefined, { migrated: true });
  const folder = temporaryFolder(t);
  t.after(() => database.drop()); // runs after the nodes have ended
  const shared = { DATABASE_URL: database.url, SECRETS_KEY: newSecretsKey(), WEBHOOK_PRIVATE_ADDRESSES: "on", DNS_SERVERS: "127.0.0.1:9" };
  const key = await createAccount(folder, shared);
  const [ordered, other] = [await startReceiver(), await startReceiver()];
  t.after(() => Promise.all([ordered.close(), other.close()]));
  const nodes: { server: ServerProcess; address: string }[] = [];
  const start = async (i: number): Promise<void> => {
    const server = spawnServer(t, `${folder}/${i}`, shared);
    nodes[i] = { server, address: await addressOf(server) };
  };
  await Promise.all(Array.from({ length: nodesMax }, (_, i) => start(i)));
  const send = (i: number, path: string, body: unknown) => ask(`${nodes[i]!.address}/v1${path}`, "POST", { key, body });
  for (const [receiver, inOrder] of [
    [ordered, true],
    [other, false],
  ] as const)
    assert.equal((await send(0, "/webhooks", { url: receiver.url, types: ["category.created"], ordered: inOrder })).status, 201);

  const made = new Set<unknown>();
  for (let kill = 0; kill < runs(3, 50); kill++) {
    const killed = random(0, nodesMax);
    const { server } = nodes[killed]!; // a late message must not end the node that takes its place
    const dies = ordered.got.length + random(1, eachMax * 2);
    const watch: Receiver["answer"] = (_, response) => {
      if (ordered.got.length + other.got.length >= dies) server.kill("SIGKILL");
      response.writeHead(204).end();
    };
    ordered.answer = other.answer = watch;
    await Promise.all(
      Array.from({ length: eachMax }, async (_, i) => {
        const name = `${kill} ${i}`;
        const answered = await send(i % nodesMax, "/categories", { name }).catch(() => undefined);
        if (answered?.status === 201) made.add(name);
      }),
    );
    server.kill("SIGKILL"); // unless too few messages came
    await server.ended;
    await start(killed);
  }

  const namesOf = ({ got }: Receiver) => new Set(got.map(({ body }) => body.data["name"]));
  const isComplete = () => [ordered, other].every((receiver) => made.isSubsetOf(namesOf(receiver)));
  await until(isComplete);
  const positions = ordered.got.map(({ body }) => body.position);
  const firsts = [...new Set(positions)];
  assert.deepEqual(
    firsts,
    firsts.toSorted((a, b) => a - b),
    "each message comes first when all before it have come",
  );
  const waiting = async (id: number) =>
    (await ask<Delivery[]>(`${nodes[0]!.address}/v1/webhooks/${id}/deliveries?status=pending`, "GET", { key })).body;
  await until(async () => (await Promise.all([1, 2].map(waiting))).flat().length === 0);
  await requireEveryEventSent(nodes[0]!.address, key, made, [ordered, other]);
  t.diagnostic(`${made.size} events, ${ordered.got.length} messages in order, ${other.got.length} others`);
});
