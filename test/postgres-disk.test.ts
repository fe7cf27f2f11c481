import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { runs } from "./support/fault-runs.ts";
import { type Faulty, openFaultyShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openOrderShop, type OrderAnswer, type OrderLoad, requireExact, startOrders } from "./support/order-load.ts";
import { type PostgresProcess, startPostgres } from "./support/postgres-process.ts";
import { readRows } from "./support/postgres.ts";
import { createAccount } from "./support/process.ts";
import { secretsKey } from "./support/service.ts";
import { mountSmallDisk, type SmallDisk } from "./support/small-disk.ts";
import { until } from "./support/until.ts";

const nodeCount = 3;
const rounds = runs(1, 5);
const ordersPerSecond = runs(15, 100);
/** So many refusals of a node, one after the other, show that its writes are refused. */
const refusalsMin = 20;
/** How long (ms) orders may take to go on once there is room. */
const soonMs = 2_000;

test("a full disk of PostgreSQL: the first write that it refuses makes /readyz 503 with the reason; with room again writes succeed", async (t) => {
  const disk = diskOfPostgres(t, 192 << 20);
  const flags = ["fsync=off", "min_wal_size=32MB", "max_wal_size=48MB"];
  const server = await startPostgres(flags, { programs: "system", within: disk.path });
  t.after(() => server.remove());
  const dataDir = temporaryFolder(t);
  const env = { DATABASE_URL: server.url, SECRETS_KEY: secretsKey };
  const shop = await openFaultyShop(t, dataDir, { key: await createAccount(dataDir, env), env });
  assert.equal(await shop.add(), 201);
  assert.equal((await shop.ready()).status, 200);
  disk.fill();
  let last = await shop.send("POST", "/categories", { name: "First" });
  for (let i = 0; i < 5_000 && last.status === 201; i++) last = await shop.send("POST", "/categories", { name: `Until it is full ${i}` });
  assert.equal(last.status, 503);
  assert.ok(last.headers.has("retry-after"));
  const { status, body } = await shop.ready();
  assert.equal(status, 503);
  assert.match(body.reason ?? "", /^the database takes no writes: .*No space left on device/);
  assert.equal(await shop.fault("database_writes"), 1);
  assert.ok((await shop.names()).includes("Category 0"));

  disk.empty();
  await until(async () => (await shop.ready()).status === 200);
  assert.equal(await shop.add(), 201);
  assert.equal(await shop.fault("database_writes"), 0);
  await shop.stop();
});

type Scene = { t: TestContext; server: PostgresProcess; nodes: Faulty[]; load: OrderLoad; answers: Map<string, OrderAnswer[]> };

test("the disk of PostgreSQL's data, then that of its log, full under orders on three nodes: only 503 with Retry-After, no order is lost or doubled, and no node is restarted", async (t) => {
  const disks = { data: diskOfPostgres(t, 128 << 20), log: diskOfPostgres(t, 96 << 20) };
  // without checkpoints between, the log needs new files
  const flags = ["fsync=off", "max_wal_size=2GB", "checkpoint_timeout=1h"];
  const server = await startPostgres(flags, { programs: "system", within: disks.data.path, logWithin: disks.log.path });
  t.after(() => server.remove());
  const env = { DATABASE_URL: server.url, SECRETS_KEY: secretsKey };
  const folder = temporaryFolder(t);
  const key = await createAccount(folder, env);
  const nodes = await Promise.all(Array.from({ length: nodeCount }, () => openFaultyShop(t, temporaryFolder(t), { key, env })));
  const entrances = nodes.map(({ address }) => ({ name: address, url: address }));
  const shop = await openOrderShop({ ...env, DATA_DIR: folder }, entrances[0]!.url);
  const answers: Scene["answers"] = new Map(nodes.map(({ address }) => [address, []]));
  const load = startOrders(entrances, shop, { ordersPerSecond, onOrderAnswer: (one) => void answers.get(one.entrance)!.push(one) });
  t.after(() => load.stop({ gracefully: false }));
  const scene = { t, server, nodes, load, answers };
  await until(() => nodes.every(({ address }) => isAcknowledging(scene, address)));
  for (let round = 0; round < rounds; round++) {
    await fillAndWait(scene, disks.data, "data");
    await fillAndWait(scene, disks.log, "log");
  }
  const { acknowledged, wrong } = await load.stop({ gracefully: true });
  assert.deepEqual(wrong, []);
  t.diagnostic(`${acknowledged.length} orders acknowledged`);
  await requireExact((text) => readRows(server.url, text), acknowledged);
  for (const node of nodes) await node.stop();
});

/** A disk that PostgreSQL, which does not run as root, can use. */
function diskOfPostgres(t: TestContext, bytes: number): SmallDisk {
  const disk = mountSmallDisk(t, bytes);
  chmodSync(disk.path, 0o755);
  return disk;
}

const isAcknowledging = ({ answers }: Scene, address: string): boolean => answers.get(address)!.some(({ status }) => status === 201);

function isRefusing({ answers }: Scene, address: string): boolean {
  const last = answers.get(address)!.slice(-refusalsMin);
  return last.length === refusalsMin && last.every(({ status }) => status === 503);
}

/** Fills a disk until every node refuses orders, checks what the nodes say and answer, and waits until every node takes orders again. */
async function fillAndWait(scene: Scene, disk: SmallDisk, holds: "data" | "log"): Promise<void> {
  const { t, server, nodes, load, answers } = scene;
  disk.fill();
  await until(() => nodes.every(({ address }) => isRefusing(scene, address)));
  for (const node of nodes) {
    await until(async () => (await node.ready()).body.faults?.includes("database_writes") === true);
    const { status, body } = await node.ready();
    assert.equal(status, 503);
    const read = await node.send("GET", "/categories");
    if (holds === "data") {
      assert.match(body.reason ?? "", /^the database takes no writes: .*No space left on device/);
      assert.equal(read.status, 200);
    } else assert.ok([200, 503].includes(read.status), `${read.status}`); // without its log PostgreSQL ends
  }
  const slowest = Math.round(Math.max(...[...answers.values()].flatMap((all) => all.slice(-refusalsMin)).map(({ ms }) => ms)));
  answers.forEach((all) => all.splice(0));

  disk.empty();
  if (server.hasFailed()) await server.start();
  const emptiedAt = Date.now();
  await until(() => load.lastAt() > emptiedAt);
  const goOnMs = load.lastAt() - emptiedAt;
  await until(() => nodes.every(({ address }) => isAcknowledging(scene, address)));
  const atAllMs = Date.now() - emptiedAt;
  t.diagnostic(
    `${holds}: the last refusals took ${slowest} ms at most; orders went on after ${goOnMs} ms, at every node after ${atAllMs} ms`,
  );
  if (rounds > 1) assert.ok(goOnMs <= soonMs, `${goOnMs} ms`); // in `npm test` other tests have the processors
  for (const node of nodes) await until(async () => (await node.ready()).status === 200);
}
