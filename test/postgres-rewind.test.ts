import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { runCommand } from "./support/commands.ts";
import { openFaultyShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startPostgres, type PostgresProcess } from "./support/postgres-process.ts";
import { administer, columnOf } from "./support/postgres.ts";
import { createAccount } from "./support/process.ts";
import { ask, secretsKey } from "./support/service.ts";
import { until } from "./support/until.ts";

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
  const { status, body } = await shop.ready();
  assert.equal(status, 503);
  assert.match(body.reason ?? "", reason);
  const written = await shop.send("POST", "/categories", { name: "Refused" });
  assert.deepEqual([written.status, written.headers.has("retry-after")], [503, true]);
  assert.ok(!(await shop.names()).includes("Refused"));
}

const goesOn = (shop: Shop): Promise<void> =>
  until(async () => (await shop.ready()).status === 200 && (await shop.add(`After ${shop.address}`)) === 201);

test("after a failover to a standby that lacks writes, no node writes, after a restart neither, until an operator accepts the loss", async (t) => {
  const standby = await server.standby();
  t.after(() => standby.remove());
  const hosts = `${new URL(server.url).host},${new URL(standby.url).host}`;
  const env = { DATABASE_URL: server.url.replace(new URL(server.url).host, hosts), SECRETS_KEY: secretsKey };
  const folders = [temporaryFolder(t), temporaryFolder(t)] as const;
  const key = await createAccount(folders[0], env);
  const nodes = [await openFaultyShop(t, folders[0], { key, env }), await openFaultyShop(t, folders[1], { key, env })] as const;
  assert.equal(await nodes[0].add("Kept"), 201);
  const words = ["keys", "create", "--account", "1", "--name", "Till", "--json"];
  const created = JSON.parse((await runCommand(words, { DATA_DIR: folders[0], ...env })).out) as { key: string; id: number };
  await until(async () => (await columnOf(standby.url, `SELECT id FROM keys WHERE id = ${created.id}`)).length === 1);

  await administer(standby.url, "ALTER SYSTEM SET primary_conninfo = ''");
  await administer(standby.url, "SELECT pg_reload_conf()");
  await until(async () => (await columnOf(server.url, "SELECT pid FROM pg_stat_replication")).length === 0);
  const revoked = await runCommand(["keys", "revoke", `${created.id}`], { DATA_DIR: folders[0], ...env });
  assert.equal(revoked.code, 0, revoked.error);
  for (let i = 0; i < 30; i++) assert.equal(await nodes[i % 2 === 0 ? 0 : 1].add(`Lost at ${i % 2}`), 201);
  await server.kill();
  await standby.promote();
  t.after(() => server.start());

  for (const node of nodes) await refuses(node);
  const count = (): Promise<string[]> => columnOf(standby.url, "SELECT name FROM categories");
  assert.deepEqual(
    (await count()).filter((name) => !name.startsWith("Kept")),
    [],
  );
  await nodes[1].stop();
  const again = await openFaultyShop(t, folders[1], { key, env });
  await refuses(again);

  const verified = await runCommand(["verify"], { DATA_DIR: folders[0], ...env });
  assert.equal(verified.code, 0, verified.error);
  assert.match(verified.out, /went back in time: what was written from \S+ to \S+ is gone\./);
  assert.match(verified.out, new RegExp(`a revoked key works again: .*key ${created.id}`));
  assert.equal((await ask(`${again.address}/v1/categories`, "GET", { key: created.key })).status, 200);
  assert.equal((await runCommand(["accept-state"], { DATA_DIR: folders[0], ...env })).code, 2);
  for (const node of [nodes[0], again]) await refuses(node);
  assert.equal((await runCommand(["accept-state", "--yes"], { DATA_DIR: folders[0], ...env })).code, 0);
  for (const node of [nodes[0], again]) await goesOn(node);
  assert.equal(await nodes[0].fault("database_rewound"), 0);
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
  assert.equal((await runCommand(["accept-state", "--yes"], { DATA_DIR: dataDir, ...env })).code, 0);
  await goesOn(third);
  assert.equal((await columnOf(url, "SELECT 1 FROM categories WHERE name LIKE 'Lost%'")).length, 0);
});

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
