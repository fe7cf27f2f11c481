import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inspect, promisify } from "node:util";
import pg from "pg";
import { programVersion } from "../src/platform/program-version.ts";
import { openBalancer, type Balancer } from "./support/balancer.ts";
import { runs, someOf } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { freePort } from "./support/ports.ts";
import { newDatabase, rowsOf } from "./support/postgres.ts";
import { checkOut, previousReleases, type Release } from "./support/previous-release.ts";
import { addressOf, inherited, keyIn, spawnServer, type ServerProcess } from "./support/process.ts";
import { startRedis } from "./support/redis-process.ts";
import { ask, secretsKey } from "./support/service.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

const here = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const clients = 4;
/** The pause between two requests of a client, which leaves CPU time for the nodes that start. */
const pauseMs = 250;
const units = 1_000_000;

/** How long a report holds its locks. */
const reportMs = runs(5_000, 60_000);
/** Far more than the tries of a migration delay a request, and less than a node of an earlier release waits for a lock. */
const longestMs = 1_500;

/** A node behind the balancer. */
type Node = { address: string; server: ServerProcess };

/** A shop of the previous release on PostgreSQL and Redis, nodes that come and go, and clients. */
async function openScene(t: TestContext, release: Release) {
  const previous = checkOut(release);
  const run = { isOn: true, isFast: false };
  t.after(() => (run.isOn = false)); // the clients of a failed test would otherwise go on, and its file never end
  const database = await newDatabase();
  t.after(database.drop);
  const redis = await startRedis();
  t.after(() => redis.remove());
  const shared = { DATABASE_URL: database.url, REDIS_URL: redis.url, SECRETS_KEY: secretsKey, DNS_SERVERS: "127.0.0.1:9" };
  const balancer = openBalancer();
  t.after(() => balancer.close());

  const unlimited = ["--plan", "enterprise", "--per-minute", "1000000000", "--per-day", "1000000000"];
  const words = [previous, "accounts", "create", "--name", "Shop", ...unlimited, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    env: { ...inherited(), ...shared, DATA_DIR: temporaryFolder(t) },
  });
  const { key } = JSON.parse(stdout) as { key: string };

  async function start(main: string, env: Record<string, string> = {}): Promise<Node> {
    const server = spawnServer(t, join(temporaryFolder(t), "data"), { ...shared, ...env }, [], main);
    const address = await addressOf(server);
    await balancer.add(address);
    return { address, server };
  }
  return { balancer, key, start, previous, url: database.url, load: () => startLoad(balancer, key, run) };
}

async function call<T>(balancer: Balancer, key: string, method: string, path: string, body?: object, headers = {}): Promise<T> {
  const sent = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }), ...headers };
  const reply = await balancer.send(`/v1${path}`, { method, headers: sent, ...(body && { body: JSON.stringify(body) }) });
  if (reply.status >= 300) throw new Error(`${method} ${path} at ${reply.from}: ${reply.status} ${reply.body}`);
  return (reply.body === "" ? undefined : JSON.parse(reply.body)) as T;
}

/** Clients that order, change and read until they are stopped. `stop` returns what was acknowledged and what failed. */
async function startLoad(balancer: Balancer, key: string, run: { isOn: boolean; isFast: boolean }) {
  let slowestMs = 0;
  async function send<T>(method: string, path: string, body?: object, headers?: object): Promise<T> {
    if (run.isOn && !run.isFast) await pause(pauseMs);
    const sentAt = performance.now();
    try {
      return await call<T>(balancer, key, method, path, body, headers);
    } finally {
      slowestMs = Math.max(slowestMs, performance.now() - sentAt);
    }
  }
  const category = await send<{ id: number }>("POST", "/categories", { name: "Dogs" });
  const pet = await send<{ id: number }>("POST", "/pets", { name: "Rex", categoryId: category.id });
  await send("PUT", `/store/inventory/${pet.id}`, { quantity: units });
  const failures: string[] = [];
  const orders = new Set<number>();

  async function work(client: number): Promise<void> {
    for (let round = 0; run.isOn; round++) {
      try {
        const order = { petId: pet.id, quantity: 1 };
        const { id } = await send<{ id: number }>("POST", "/store/orders", order, { "idempotency-key": `order-${client}-${round}` });
        orders.add(id);
        assert.equal((await send<{ quantity: number }>("GET", `/store/orders/${id}`)).quantity, 1);
        await send("PATCH", `/pets/${pet.id}`, { name: `Rex ${client}-${round}` }, { "content-type": "application/merge-patch+json" });
        assert.equal((await send<object[]>("GET", "/pets?limit=10")).length, 1);
      } catch (error) {
        failures.push(inspect(error));
      }
    }
  }
  const working = Array.from({ length: clients }, (_, client) => work(client));

  return {
    /** Resolves when a node has answered this many further requests, which the clients then send without a pause. */
    async through({ address }: Node, count = 20): Promise<void> {
      const from = balancer.answered.get(address) ?? 0;
      run.isFast = true;
      await until(() => (balancer.answered.get(address) ?? 0) >= from + count || failures.length > 0);
      run.isFast = false;
      assert.deepEqual(failures, []);
    },
    /** The time of the slowest request since the last call. */
    takeSlowestMs(): number {
      const ms = slowestMs;
      slowestMs = 0;
      return ms;
    },
    /** Fails unless every request succeeded, and each acknowledged order is there once and took its unit. */
    async stop(): Promise<void> {
      run.isOn = false;
      await Promise.all(working);
      assert.deepEqual(failures, []);
      const { quantity } = await send<{ quantity: number }>("GET", `/store/inventory/${pet.id}`);
      assert.equal(units - quantity, orders.size);
    },
  };
}

async function publish(balancer: Balancer, key: string, slug: string): Promise<void> {
  const { id } = await call<{ id: number }>(balancer, key, "POST", "/projects", { name: slug, slug });
  const body = (await packSite({ "index.html": `<h1>${slug}</h1>`, "petstore.json": "{}" })) as Uint8Array<ArrayBuffer>;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/gzip" };
  const reply = await balancer.send(`/v1/projects/${id}/deployments`, { method: "POST", headers, body });
  assert.equal(reply.status, 202, reply.body);
  const deployment = JSON.parse(reply.body) as { id: number };
  const path = `/projects/${id}/deployments/${deployment.id}`;
  await until(async () => (await call<{ status: string }>(balancer, key, "GET", path)).status === "ready");
}

for (const release of someOf(previousReleases, 2))
  test(`nodes of release ${release} are replaced, and then restarted, one by one under load, without one failed request`, async (t) => {
    const { balancer, key, start, previous, load } = await openScene(t, release);
    const old = [await start(previous), await start(previous)];
    const work = await load();
    await work.through(old[0]!);
    await publish(balancer, key, "before");

    const first = await start(here, { DRAIN_SECONDS: "1" });
    assert.equal(
      first.server.log().some(({ msg }) => msg?.startsWith("the database was upgraded")),
      true,
    );
    await work.through(first);
    for (const node of old) await work.through(node);
    await publish(balancer, key, "beside");

    const [leaving, staying] = old as [Node, Node];
    await balancer.remove(leaving.address); // 1.1.0 does not drain
    leaving.server.kill("SIGTERM");
    assert.equal(await leaving.server.ended, 0);
    const second = await start(here, { DRAIN_SECONDS: "1" });
    await work.through(second);
    await work.through(staying);
    await balancer.remove(staying.address);
    staying.server.kill("SIGTERM");
    assert.equal(await staying.server.ended, 0);
    await work.through(second);
    await publish(balancer, key, "after");

    for (const node of [first, second]) {
      node.server.kill("SIGTERM");
      await balancer.left(node.address);
      assert.equal(await node.server.ended, 0);
      await work.through(await start(here, { DRAIN_SECONDS: "1" }));
    }
    await work.stop();
  });

for (const release of someOf(previousReleases, 2))
  test(`a report that holds its locks while the first new node starts fails no request of the nodes of ${release}, and delays none for long`, async (t) => {
    const { balancer, start, previous, url, load } = await openScene(t, release);
    const old = await start(previous);
    const work = await load();
    await work.through(old);
    const report = new pg.Client({ connectionString: url, application_name: "report" });
    await report.connect();
    await report.query(`BEGIN; SELECT 1 FROM orders, pets, accounts, nodes ${release === "1.1.0" ? "" : ", own_challenges"} LIMIT 1`);

    const server = spawnServer(t, join(temporaryFolder(t), "data"), {
      DATABASE_URL: url,
      SECRETS_KEY: secretsKey,
      DNS_SERVERS: "127.0.0.1:9",
    });
    await server.logged(({ msg = "" }) => /waiting, because pid \d+ \(report\) has held the table/.test(msg));
    work.takeSlowestMs();
    const endsAt = performance.now() + reportMs;
    while (performance.now() < endsAt) await work.through(old);
    const slowestMs = work.takeSlowestMs();
    await report.end();
    const address = await addressOf(server);
    await balancer.add(address);
    await work.through({ address, server });
    await work.through(old);
    await work.stop();
    assert.ok(slowestMs < longestMs, `a request took ${slowestMs} ms`);
  });

test("nodes of release 1.0.0 that serve stop a new one, which names them, and changes nothing", async (t) => {
  const { url, drop } = await newDatabase();
  t.after(drop);
  const [port, env] = [await freePort(), { DATABASE_URL: url, SECRETS_KEY: secretsKey, DNS_SERVERS: "127.0.0.1:9" }];
  const old = spawnServer(t, join(temporaryFolder(t), "data"), { ...env, PORT: String(port) }, [], checkOut("1.0.0"));
  await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200);
  const lastOf = () => rowsOf(url, "migrations");
  const before = await lastOf();

  const refused = spawnServer(t, join(temporaryFolder(t), "data"), env);
  assert.equal(await refused.ended, 1);
  const [lease] = JSON.parse(await rowsOf(url, "nodes")) as { id: string }[];
  assert.ok(
    refused.err().includes(`a node of release 1.0.0 serves this database, and cannot run beside ${programVersion()}: ${lease?.id}`),
    refused.err(),
  );
  assert.match(refused.err(), /^[^\n]*stop them all, and start again\n$/);
  assert.equal(await lastOf(), before);
  assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);

  old.kill("SIGKILL");
  await old.ended;
  await addressOf(spawnServer(t, join(temporaryFolder(t), "data"), env));
});

for (const release of someOf(previousReleases, 2))
  test(`release ${release} starts on the copy of its data that an upgrade has made, by the commands that the documents give`, async (t) => {
    const dataDir = join(temporaryFolder(t), "data");
    const serve = async (main: string): Promise<Node> => {
      const server = spawnServer(t, dataDir, { DNS_SERVERS: "127.0.0.1:9" }, [], main);
      return { server, address: await addressOf(server) };
    };
    const end = async ({ server }: Node): Promise<void> => {
      server.kill("SIGTERM");
      assert.equal(await server.ended, 0);
    };
    const previous = checkOut(release);
    const first = await serve(previous);
    const key = keyIn(first.server.out());
    const names = async ({ address }: Node) => {
      const { body } = await ask<{ name: string }[]>(`${address}/v1/categories`, "GET", { key });
      return body.map(({ name }) => name);
    };
    const add = ({ address }: Node, name: string) => ask(`${address}/v1/categories`, "POST", { key, body: { name } });
    await add(first, "Old");
    await end(first);
    const upgraded = await serve(here);
    await add(upgraded, "New");
    assert.deepEqual(await names(upgraded), ["Old", "New"]);
    await end(upgraded);

    const refused = spawnServer(t, dataDir, {}, [], previous);
    assert.equal(await refused.ended, 1);
    assert.match(refused.err(), /newer version/);
    const copy = readdirSync(dataDir).find((name) => name.startsWith("before-upgrade-")) ?? "";
    execFileSync("sh", ["-c", `mkdir set-aside && mv petstore.db* set-aside/ && cp ${copy} petstore.db`], { cwd: dataDir });
    const again = await serve(previous);
    assert.deepEqual(await names(again), ["Old"]);
    await end(again);
    const forward = await serve(here);
    assert.deepEqual(await names(forward), ["Old"]);
  });
