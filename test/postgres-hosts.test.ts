import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import { openSession } from "../src/platform/db/postgres-sessions.ts";
import { runCommand } from "./support/commands.ts";
import { runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openLine } from "./support/line.ts";
import type { Order } from "./support/models.ts";
import { freePort } from "./support/ports.ts";
import { startPostgres, type PostgresProcess } from "./support/postgres-process.ts";
import { administer, columnOf, lockTable, newDatabase } from "./support/postgres.ts";
import { spawnServer } from "./support/process.ts";
import { ask, secretsKey, startService, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";
import { until } from "./support/until.ts";

let primary: PostgresProcess;
let standby: PostgresProcess;
before(async () => {
  primary = await startPostgres(["fsync=off"], { programs: "system" });
  standby = await primary.standby();
});
after(() => Promise.all([primary.remove(), standby.remove()]));

/** The URL of several servers: the user, password and database of the last one. */
function urlOf(...urls: string[]): string {
  const hosts = urls.map((url) => new URL(url).host).join(",");
  return urls.at(-1)!.replace(new URL(urls.at(-1)!).host, hosts);
}

/** The port of the server that a session is on. */
async function portOf(url: string): Promise<string> {
  const { client } = await openSession(url, "");
  try {
    return (await client.query<{ port: string }>("SELECT current_setting('port') AS port")).rows[0]!.port;
  } finally {
    await client.end();
  }
}

/** A server that accepts connections and never answers. */
async function silentServer(t: TestContext): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on("error", () => undefined))).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `postgres://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("the first server that answers and takes writes is used, wherever it is in the list", async (t) => {
  const { port } = new URL(primary.url);
  const gone = "postgres://127.0.0.1:9";
  const silent = await silentServer(t);
  for (const urls of [
    [primary.url, standby.url],
    [standby.url, primary.url],
    [gone, standby.url, silent, "postgres://[::1]:9", primary.url],
  ]) {
    for (const target of ["", "?target_session_attrs=any", "?target_session_attrs=primary", "?target_session_attrs=read-write"])
      assert.equal(await portOf(urlOf(...urls) + target), port, `${urls.join(" ")} ${target}`);
  }
});

test("if no server can be used, one line says why for each, without the password", async () => {
  const password = decodeURIComponent(new URL(primary.url).password);
  await assert.rejects(openSession(urlOf("postgres://127.0.0.1:9", standby.url), ""), ({ cause }: Error) => {
    const { message } = cause as Error;
    assert.match(
      message,
      /^PostgreSQL at 127\.0\.0\.1:9\/postgres does not answer: .*ECONNREFUSED.*; PostgreSQL at \S+ takes no writes: it is a standby or read-only$/,
    );
    assert.ok(!message.includes(password) && !message.includes(new URL(primary.url).password));
    return true;
  });
});

test("a server that never answers delays the first session by its time-out, and the next ones not at all", async (t) => {
  let accepted = 0;
  const line = await openLine(primary.url);
  t.after(() => line.close());
  const server = createServer((socket) => (accepted++, socket.on("error", () => undefined))).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = urlOf(`postgres://127.0.0.1:${(server.address() as AddressInfo).port}`, line.url);
  for (let i = 0; i < 3; i++) (await openSession(url, "")).socket.destroy();
  assert.equal(accepted, 1);
});

/** A node on these servers. */
async function nodeOn(t: TestContext, ...urls: string[]): Promise<TestService> {
  const node = await startService({ env: { DATABASE_URL: urlOf(...urls), SECRETS_KEY: secretsKey } });
  t.after(() => node.close());
  return node;
}

test("a primary that is cut off does not keep its sessions: all move to the promoted server, without a restart", async (t) => {
  const first = await startPostgres(["fsync=off"], { programs: "system" });
  t.after(() => first.remove());
  const second = await first.standby();
  t.after(() => second.remove());
  const line = await openLine(first.url);
  t.after(() => line.close());
  const node = await nodeOn(t, line.url, second.url);
  const { id } = await newCategory(node, "Dogs");
  await until(async () => (await columnOf(second.url, `SELECT id FROM categories WHERE name = 'Dogs'`)).length === 1);
  line.cut();
  const waiting = [node.ask("GET", "/categories"), node.ask("PATCH", `/categories/${id}`, { body: { name: "Cut off" } })];
  await second.promote();
  await until(async () => (await node.ask("PATCH", `/categories/${id}`, { body: { name: "Hounds" } })).status === 200);
  for (const { status } of await Promise.all(waiting)) assert.ok([200, 503].includes(status));
  await until(async () => (await ask(`${node.address}/readyz`, "GET")).status === 200);
  assert.deepEqual(await columnOf(second.url, `SELECT name FROM categories WHERE id = ${id}`), ["Hounds"]);
});

test("a node that finds only a standby answers 503 and says so, as does the doctor, and takes requests once it is promoted", async (t) => {
  const first = await startPostgres(["fsync=off"], { programs: "system" });
  t.after(() => first.remove());
  await (await startService({ env: { DATABASE_URL: first.url, SECRETS_KEY: secretsKey } })).close();
  const second = await first.standby();
  t.after(() => second.remove());
  const nodes = [second.url, urlOf("postgres://127.0.0.1:9", second.url)].map(async (url) => {
    const port = String(await freePort());
    const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey, PORT: port };
    const server = spawnServer(t, temporaryFolder(t), env);
    const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status;
    await server.logged(({ msg = "" }) => /(standby|during recovery).*trying again$/.test(msg));
    await until(async () => (await ready()) === 503);
    const { out } = await runCommand(["doctor"], { ...env, DATA_DIR: temporaryFolder(t) });
    assert.match(out, /^FAULT +database: .*takes no writes: it is a standby or read-only/m);
    return ready;
  });
  const started = await Promise.all(nodes);
  await second.promote();
  for (const ready of started) await until(async () => (await ready()) === 200);
});

test("one address that leads to a standby for a while gives no stale reads, and no session stays on the server that it led to before", async (t) => {
  const first = await startPostgres(["fsync=off"], { programs: "system" });
  t.after(() => first.remove());
  const second = await first.standby();
  t.after(() => second.remove());
  const line = await openLine(first.url);
  t.after(() => line.close());
  const node = await nodeOn(t, line.url);
  await newCategory(node, "Dogs");
  await until(async () => (await columnOf(second.url, "SELECT id FROM categories")).length === 1);
  const read = async (): Promise<number> => (await node.ask("GET", "/categories")).status;
  const ready = async (): Promise<number> => (await ask(`${node.address}/readyz`, "GET")).status;

  const reads = async (url: string): Promise<unknown[]> =>
    columnOf(url, "SELECT pid FROM pg_stat_activity WHERE application_name = 'petstore' AND query LIKE '%FROM categories%'");
  // a session shows its last statement, which may be another one by then
  const untilReadAt = (url: string) => until(async () => (await read()) === 200 && (await reads(url)).length > 0);
  await untilReadAt(first.url);
  line.leadTo(second.url);
  await columnOf(first.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petstore'`);
  for (let i = 0; i < 20; i++) assert.equal(await read(), 503);
  assert.deepEqual(await reads(second.url), []);
  await until(async () => (await ready()) === 503);

  await second.promote();
  await until(async () => (await read()) === 200);
  line.leadTo(first.url); // the second one is still there, and takes writes
  const others = "application_name = 'petstore' AND query NOT LIKE '%FROM categories%'";
  await columnOf(second.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
  await until(
    async () => (await columnOf(second.url, "SELECT pid FROM pg_stat_activity WHERE application_name = 'petstore'")).length === 0,
  );
  await untilReadAt(first.url);
});

test("a node opens 16 connections and no more, however much it is asked at once", async (t) => {
  const { url, drop } = await newDatabase(undefined, { migrated: true });
  t.after(drop);
  const node = await startService({ env: { DATABASE_URL: url, SECRETS_KEY: secretsKey } });
  t.after(() => node.close());
  const accounts = [node.key, (await node.newAccount()).key, (await node.newAccount()).key];
  const unlock = await lockTable(url, "categories", "ACCESS EXCLUSIVE");
  const asked = accounts.flatMap((key) =>
    Array.from({ length: 40 }, (_, i) => [
      node.ask("GET", "/categories", { key }),
      node.ask("POST", "/categories", { key, body: { name: `${i}` } }),
    ]),
  );
  const count = async (): Promise<number> =>
    Number(
      (
        await columnOf(url, "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'petstore' AND datname = current_database()")
      )[0],
    );
  await until(async () => (await count()) >= 16);
  await unlock();
  await Promise.all(asked.flat());
  assert.equal(await count(), 16);
});

for (let run = 0; run < runs(1, 10); run++) {
  test(`a failover to a synchronous standby under orders loses none of them, and refuses only with Retry-After: ${run}`, async (t) => {
    const [killed, promoted] = [primary, await primary.standby({ name: `sync_${run}` })];
    const nodes = [await nodeOn(t, killed.url, promoted.url), await nodeOn(t, killed.url, promoted.url)];
    const [first] = nodes as [TestService];
    const pet = await newPet(first, (await newCategory(first, `Dogs ${run}`)).id);
    await administer(killed.url, `ALTER SYSTEM SET synchronous_standby_names = 'sync_${run}'`);
    await administer(killed.url, "SELECT pg_reload_conf()");
    await until(async () => (await columnOf(killed.url, "SELECT sync_state FROM pg_stat_replication")).includes("sync"));

    const acknowledged: number[] = [];
    let goesOnAt = Infinity;
    const over = new AbortController();
    let isPromoted = false;
    const clients = Array.from({ length: 10 }, async (_, i) => {
      while (!over.signal.aborted) {
        const { status, body, headers } = await nodes[i % 2]!.ask<Order>("POST", "/store/orders", {
          key: first.key,
          body: { petId: pet.id, quantity: 1 },
        });
        assert.ok(status === 201 || (status === 503 && headers.has("retry-after")), `${status} ${JSON.stringify(body)}`);
        if (status === 201) acknowledged.push(body.id!);
        if (status === 201 && isPromoted) goesOnAt = Math.min(goesOnAt, performance.now());
      }
    });
    await until(() => acknowledged.length >= 200);
    await killed.kill();
    await promoted.promote();
    const promotedAt = performance.now();
    isPromoted = true;
    const wanted = acknowledged.length + 200;
    await until(() => acknowledged.length >= wanted);
    over.abort();
    await Promise.all(clients);
    t.diagnostic(`orders go on ${Math.round(goesOnAt - promotedAt)} ms after the standby takes writes`);

    const kept = new Set(
      await columnOf<number>(
        promoted.url,
        `SELECT CAST(id AS INTEGER) FROM orders WHERE pet_id = ${pet.id} AND account_id = ${first.accountId}`,
      ),
    );
    assert.deepEqual(
      acknowledged.filter((id) => !kept.has(id)),
      [],
      "acknowledged and lost",
    );
    const [repeated] = await columnOf<number>(
      promoted.url,
      `
      SELECT CAST(COUNT(*) - COUNT(DISTINCT resource) AS INTEGER) FROM events WHERE account_id = ${first.accountId} AND type = 'order.created'`,
    );
    assert.equal(repeated, 0);
    await until(async () => {
      const [events] = await columnOf<number>(
        promoted.url,
        `
        SELECT CAST(COUNT(*) AS INTEGER) FROM events WHERE account_id = ${first.accountId} AND type = 'order.created'`,
      );
      return events === kept.size;
    });
    await killed.remove();
    primary = promoted;
  });
}
