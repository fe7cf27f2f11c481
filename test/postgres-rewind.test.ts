import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { openPostgresHeartbeat } from "../src/platform/db/postgres-heartbeat.ts";
import { acceptState, openRewinds } from "../src/platform/nodes/rewinds.ts";
import { runCommand } from "./support/commands.ts";
import { runs } from "./support/fault-runs.ts";
import { openFaultyShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startPostgres, type PostgresProcess } from "./support/postgres-process.ts";
import { administer, columnOf } from "./support/postgres.ts";
import { createAccount } from "./support/process.ts";
import { ask, secretsKey } from "./support/service.ts";
import { until } from "./support/until.ts";

/** Failovers in a row. */
const rounds = runs(1, 10);

let server: PostgresProcess;
before(async () => {
  server = await startPostgres(["fsync=off"], { programs: "system" });
});
after(() => server.remove());

/** A new database of the server, and a data folder with a shop in it. */
async function shopIn(t: TestContext, name: string) {
  await administer(server.url, `CREATE DATABASE ${name}`);
  const url = server.url.replace(/\/postgres$/, `/${name}`);
  const dataDir = temporaryFolder(t);
  const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey };
  return { url, dataDir, env, key: await createAccount(dataDir, env) };
}

const reason = /^the database went back in time: it lacks .*run `petstore verify`, then `petstore accept-state --yes` to go on with it$/;

type Shop = Awaited<ReturnType<typeof openFaultyShop>>;

/** The node answers reads, refuses writes, and says why. */
async function refuses(shop: Shop): Promise<void> {
  await until(async () => (await shop.fault("database_rewound")) === 1);
  await until(async () => reason.test((await shop.ready()).body.reason ?? "")); // before, it has no lease for a moment
  assert.equal((await shop.ready()).status, 503);
  const written = await shop.send("POST", "/categories", { name: "Refused" });
  assert.deepEqual([written.status, written.headers.has("retry-after")], [503, true]);
  assert.ok(!(await shop.names()).includes("Refused"));
}

const goesOn = (shop: Shop): Promise<void> =>
  until(async () => (await shop.ready()).status === 200 && (await shop.add(`After ${shop.address}`)) === 201);

test("after each failover to a standby that lacks writes, no node writes, after a restart or with an empty folder neither, until an operator accepts the loss", async (t) => {
  let primary = await startPostgres(["fsync=off"], { programs: "system" });
  let standby = await primary.standby();
  t.after(() => Promise.all([primary.remove(), standby.remove()]));
  const hosts = `${new URL(primary.url).host},${new URL(standby.url).host}`;
  const env = { DATABASE_URL: primary.url.replace(new URL(primary.url).host, hosts), SECRETS_KEY: secretsKey };
  const folders: Folders = [temporaryFolder(t), temporaryFolder(t)];
  const key = await createAccount(folders[0], env);
  const open = (folder: string): Promise<Shop> => openFaultyShop(t, folder, { key, env });
  let nodes: Nodes = [await open(folders[0]), await open(folders[1])];
  for (let round = 0; round < rounds; round++) {
    if (round > 0) {
      const port = Number(new URL(primary.url).port);
      await primary.remove();
      [primary, standby] = [standby, await standby.standby({ port })];
    }
    const revoked = await loseWrites(nodes, { DATA_DIR: folders[0], ...env }, primary, standby);
    const promotedAt = Date.now();
    for (const node of nodes) await refuses(node);
    t.diagnostic(`all nodes had noticed ${Date.now() - promotedAt} ms after the standby took writes`);
    // the node of an empty folder of the round before knows as much as the others
    await until(async () => (await columnOf(standby.url, "SELECT node FROM database_losses")).length === nodes.length * (round + 1));
    for (const node of nodes) await node.stop();
    nodes = [await open(temporaryFolder(t)), await open(folders[1])];
    for (const node of nodes) await refuses(node);
    assert.deepEqual(await columnOf(standby.url, "SELECT name FROM categories WHERE name LIKE 'Lost%' OR name LIKE 'Refused%'"), []);
    await acceptLoss(t, nodes, { DATA_DIR: temporaryFolder(t), ...env }, revoked);
  }
});

type Nodes = readonly [Shop, Shop];
type Folders = readonly [string, string];
type Env = { DATA_DIR: string; DATABASE_URL: string; SECRETS_KEY: string };

/** Kills a primary that has acknowledged what its standby lacks, and promotes that. Returns a key whose revocation is lost. */
async function loseWrites(
  nodes: Nodes,
  env: Env,
  primary: PostgresProcess,
  standby: PostgresProcess,
): Promise<{ key: string; id: number }> {
  assert.equal(await nodes[0].add("Kept"), 201);
  const created = await runCommand(["keys", "create", "--account", "1", "--name", "Till", "--json"], env);
  const { key, id } = JSON.parse(created.out) as { key: string; id: number };
  await until(async () => (await columnOf(standby.url, `SELECT id FROM keys WHERE id = ${id}`)).length === 1);
  await administer(standby.url, "ALTER SYSTEM SET primary_conninfo = ''");
  await administer(standby.url, "SELECT pg_reload_conf()");
  await until(async () => (await columnOf(primary.url, "SELECT pid FROM pg_stat_replication")).length === 0);
  const revoked = await runCommand(["keys", "revoke", `${id}`], env);
  assert.equal(revoked.code, 0, revoked.error);
  for (let i = 0; i < 30; i++) assert.equal(await nodes[i % 2 === 0 ? 0 : 1].add(`Lost at ${i % 2}`), 201);
  await primary.kill();
  await standby.promote();
  return { key, id };
}

/** Finds out what was lost, accepts it, and waits until all nodes go on. */
async function acceptLoss(t: TestContext, nodes: Nodes, env: Env, revoked: { key: string; id: number }): Promise<void> {
  const verified = await runCommand(["verify"], env);
  assert.equal(verified.code, 0, verified.error);
  const found = verified.out.match(/a node found that the database went back in time: what was written from \S+ to \S+ is gone\./g) ?? [];
  assert.ok(found.length >= nodes.length, verified.out);
  assert.match(verified.out, new RegExp(`a revoked key works again: .*key ${revoked.id}`));
  assert.equal((await ask(`${nodes[1].address}/v1/categories`, "GET", { key: revoked.key })).status, 200);
  assert.equal((await runCommand(["accept-state"], env)).code, 2);
  for (const node of nodes) await refuses(node);
  assert.equal((await runCommand(["accept-state", "--yes"], env)).code, 0);
  const acceptedAt = Date.now();
  for (const node of nodes) await goesOn(node);
  t.diagnostic(`all nodes took writes ${Date.now() - acceptedAt} ms after the state was accepted`);
  assert.equal(await nodes[0].fault("database_rewound"), 0);
}

/** A standby of the server that has what the database has now, and lacks what is written to it later. */
async function standbyWithout(database: string): Promise<PostgresProcess> {
  const standby = await server.standby();
  await administer(standby.url, "ALTER SYSTEM SET primary_conninfo = ''");
  await administer(standby.url, "SELECT pg_reload_conf()");
  await until(async () => (await columnOf(server.url, "SELECT pid FROM pg_stat_replication")).length === 0);
  assert.equal((await columnOf(standby.url.replace(/\/postgres$/, `/${database}`), "SELECT 1 FROM node_beats")).length, 1);
  return standby;
}

test("a standby that lacks writes is noticed at another address too, and an empty database there is no alarm", async (t) => {
  const { dataDir, env, key } = await shopIn(t, "elsewhere");
  const first = await openFaultyShop(t, dataDir, { key, env });
  assert.equal(await first.add("Kept"), 201);
  const standby = await standbyWithout("elsewhere");
  t.after(() => standby.remove());
  assert.equal(await first.add("Lost"), 201);
  await first.stop();
  await standby.promote();
  const there = { ...env, DATABASE_URL: standby.url.replace(/\/postgres$/, "/elsewhere") };
  const second = await openFaultyShop(t, dataDir, { key, env: there });
  await refuses(second);
  await second.stop();
  const empty = await shopIn(t, "unrelated");
  const third = await openFaultyShop(t, dataDir, empty);
  await goesOn(third);
});

test("a loss that a node stores while its state is accepted needs no second acceptance", async (t) => {
  const { url } = await shopIn(t, "accepted");
  const heartbeat = openPostgresHeartbeat(url, { onError: (error) => assert.ifError(error) });
  t.after(() => heartbeat.close());
  const reasons: (string | undefined)[] = [];
  const open = () => openRewinds(temporaryFolder(t), url, (given) => reasons.push(given));
  const [finder, other] = [open(), open()];
  const beat = async (node: typeof finder, meanwhile?: () => Promise<void>): Promise<void> => {
    const remember = await heartbeat.write(async (tx) => {
      const counted = await node.count(tx);
      await meanwhile?.();
      return counted;
    });
    remember();
  };
  for (let i = 0; i < 2; i++) await beat(finder);
  await administer(url, "UPDATE node_beats SET beats = 1");
  await beat(finder, () => acceptState(url));
  assert.equal((await columnOf(url, "SELECT node FROM database_losses")).length, 1);
  assert.match(reasons[0] ?? "", reason);
  for (const node of [finder, other]) await beat(node);
  assert.deepEqual(reasons.slice(1), [undefined]);
});

test("an older copy at the same address is noticed at the next start", async (t) => {
  const { url, dataDir, env, key } = await shopIn(t, "copied");
  const first = await openFaultyShop(t, dataDir, { key, env });
  assert.equal(await first.add(), 201);
  await first.stop();
  await administer(server.url, "CREATE DATABASE older TEMPLATE copied");
  const second = await openFaultyShop(t, dataDir, { key, env });
  assert.equal(await second.add("Lost"), 201);
  await second.stop();
  await administer(server.url, "ALTER DATABASE copied RENAME TO newer");
  await administer(server.url, "ALTER DATABASE older RENAME TO copied");
  const third = await openFaultyShop(t, dataDir, { key, env });
  await refuses(third);
  await goesOnFromBackup(t, { DATA_DIR: dataDir, ...env }, key);
  assert.equal((await runCommand(["accept-state", "--yes"], { DATA_DIR: dataDir, ...env })).code, 0);
  await goesOn(third);
  assert.equal((await columnOf(url, "SELECT 1 FROM categories WHERE name LIKE 'Lost%'")).length, 0);
});

/** A backup of a database whose loss is pending is one without it, in any other database. */
async function goesOnFromBackup(t: TestContext, env: Env, key: string): Promise<void> {
  const file = join(temporaryFolder(t), "pending.backup");
  const made = await runCommand(["backup", file], env);
  assert.equal(made.code, 0, made.error);
  await administer(server.url, "CREATE DATABASE from_backup");
  const there = { ...env, DATA_DIR: temporaryFolder(t), DATABASE_URL: server.url.replace(/\/postgres$/, "/from_backup") };
  const restored = await runCommand(["restore", file], there);
  assert.equal(restored.code, 0, restored.error);
  await goesOn(await openFaultyShop(t, there.DATA_DIR, { key, env: there }));
}

test("restores, restarts, crashes without a loss, and those that synchronous_commit=off allows, are no alarm", async (t) => {
  const { url, dataDir, env, key } = await shopIn(t, "steady");
  const first = await openFaultyShop(t, dataDir, { key, env });
  const file = join(temporaryFolder(t), "steady.backup");
  const made = await runCommand(["backup", file], { DATA_DIR: dataDir, ...env });
  assert.equal(made.code, 0, made.error);
  for (const commit of ["on", "off"]) {
    await administer(server.url, `ALTER DATABASE steady SET synchronous_commit = ${commit}`);
    await server.stop();
    await server.start();
    await goesOn(first);
  }
  await first.stop();
  const second = await openFaultyShop(t, dataDir, { key, env });
  await goesOn(second);
  await second.stop();
  await until(
    async () => (await columnOf(url, "SELECT 1 FROM nodes WHERE lease_until > EXTRACT(EPOCH FROM clock_timestamp()) * 1000")).length === 0,
  );
  const restored = await runCommand(["restore", file, "--replace"], { DATA_DIR: dataDir, ...env });
  assert.equal(restored.code, 0, restored.error);
  const third = await openFaultyShop(t, dataDir, { key, env });
  await goesOn(third);
});
