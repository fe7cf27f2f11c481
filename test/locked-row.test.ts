import assert from "node:assert/strict";
import { request } from "node:http";
import { test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { Project } from "../src/publishing/projects/projects.ts";
import { read } from "./support/edge.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { InventoryItem } from "./support/models.ts";
import { freePort } from "./support/ports.ts";
import { newDatabase } from "./support/postgres.ts";
import { addressOf, spawnServer } from "./support/process.ts";
import { ask, secretsKey, startService, type Asked } from "./support/service.ts";
import { exampleSite, made, newCategory, newPet } from "./support/shop.ts";
import { until } from "./support/until.ts";

const lockedMs = 4_000;
/** Between two orders of the other account: each either waits for the lock or not, so a few show it. */
const pauseMs = 150;

/** A node of its own process on PostgreSQL, and two accounts of it, each with an animal in stock; the second has a published site. */
async function openScene(t: TestContext) {
  const { url, drop } = await newDatabase(undefined, { migrated: true });
  const blocker = new pg.Client(url);
  t.after(async () => {
    await blocker.end();
    await drop();
  });
  await blocker.connect();
  const setUp = await startService({ env: { DATABASE_URL: url } });
  const shopOf = async () => {
    const { id, key } = await setUp.newAccount();
    const pet = await newPet(setUp, (await newCategory(setUp, "Dogs", key)).id, {}, key);
    await made<InventoryItem>(setUp, "PUT", `/store/inventory/${pet.id}`, { quantity: 10_000 }, key);
    return { id, key, petId: pet.id };
  };
  const [locked, other] = [await shopOf(), await shopOf()];
  const project = await made<Project>(setUp, "POST", "/projects", { name: "Rex", slug: "rex" }, other.key);
  const upload = { body: await exampleSite(), headers: { "content-type": "application/gzip" }, key: other.key };
  assert.equal((await setUp.ask("POST", `/projects/${project.id}/deployments`, upload)).status, 202);
  await setUp.publishing.idle();
  await setUp.close();

  const edgePort = await freePort();
  // as a proxy the address may keep many quiet connections
  const many = { TRUSTED_PROXIES: "127.0.0.1" };
  const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey, EDGE_HTTP_PORT: String(edgePort), DNS_SERVERS: "127.0.0.1:9", ...many };
  const address = await addressOf(spawnServer(t, temporaryFolder(t), env));
  const visit = () => read(request({ host: "127.0.0.1", port: edgePort, headers: { host: "rex.petstore.localhost" }, agent: false }));
  const send = <T>(method: string, path: string, asked: Asked) => ask<T>(`${address}/v1${path}`, method, asked);
  const order = ({ key, petId }: typeof other) => send<unknown>("POST", "/store/orders", { key, body: { petId } });
  await until(async () => (await ask(`${address}/readyz`, "GET")).status === 200);
  return { blocker, address, locked, other, visit, send, order };
}

test("a row that is locked for four seconds delays only the orders for it: another account's site and orders get no 503", async (t) => {
  const { blocker, address, locked, other, visit, send, order } = await openScene(t);
  await blocker.query("BEGIN");
  await blocker.query("SELECT 1 FROM inventory WHERE account_id = $1 FOR UPDATE", [locked.id]);

  const stuck = Array.from({ length: 400 }, () => order(locked));
  const figure = async (name: string): Promise<number> => {
    const { body } = await ask<string>(`${address}/metrics`, "GET");
    return Number(
      body
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.split(" ")
        .at(-1),
    );
  };
  // Two groups of a hundred hold the connections that one account gets. On a slow machine the first are refused before the last wait.
  const held = async () =>
    (await figure('petstore_database_waiting{kind="writes"}')) + (await figure('petstore_database_refused_total{kind="writes"}'));
  await until(async () => (await held()) >= 200);
  const waits = "datname = current_database() AND wait_event_type = 'Lock'";
  const { length: waiting } = (await blocker.query(`SELECT 1 FROM pg_stat_activity WHERE ${waits}`)).rows;
  const max = await figure("petstore_database_connections_max");
  assert.ok(waiting <= max / 2, `${waiting} of ${max} connections wait for the row`);

  const since = performance.now();
  while (performance.now() - since < lockedMs) {
    assert.equal((await order(other)).status, 201);
    assert.equal((await visit()).status, 200);
    await pause(pauseMs);
  }
  await blocker.query("ROLLBACK");

  const replies = await Promise.all(stuck);
  for (const { status, headers } of replies) assert.ok(status === 201 || (status === 503 && headers.has("retry-after")), `${status}`);
  const refused = replies.filter(({ status }) => status === 503).length;
  assert.ok((await figure('petstore_database_refused_total{kind="writes"}')) <= refused);
  const { body } = await send<InventoryItem>("GET", `/store/inventory/${locked.petId}`, { key: locked.key });
  assert.equal(body.quantity, 10_000 - (replies.length - refused));
  assert.equal((await order(locked)).status, 201);
});
