import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { pino } from "pino";
import sql from "sql-template-tag";
import { openService, type Service } from "../src/app/service.ts";
import { loadSettings } from "../src/app/settings.ts";
import { makeKey } from "../src/callers/keys/keys.ts";
import { systemClock } from "../src/platform/clock.ts";
import { migrate, migrationsFor } from "../src/platform/db/migrate.ts";
import { AccessError } from "../src/platform/db/postgres-errors.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openLine } from "./support/line.ts";
import type { Failure } from "./support/models.ts";
import { freePort } from "./support/ports.ts";
import { startPostgres, type PostgresProcess } from "./support/postgres-process.ts";
import { administer, lockTable, newDatabase } from "./support/postgres.ts";
import { spawnServer } from "./support/process.ts";
import { refusedStarts } from "./support/refusals.ts";
import { ask, edgeOfItsOwn, secretsKey, startService, type Asked } from "./support/service.ts";
import { until } from "./support/until.ts";

const limits = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/** This file's own server, which it stops and starts: confirmed data survives that. */
let server: PostgresProcess;
before(async () => {
  server = await startPostgres(["fsync=off"]);
});
after(() => server.remove());

const ends = new WeakMap<TestContext, (() => unknown)[]>();

/** Runs this when the test ends, the last registered first. */
function atEnd(t: TestContext, work: () => unknown): void {
  const list = ends.get(t) ?? [];
  if (!ends.has(t)) {
    ends.set(t, list);
    t.after(async () => {
      for (const end of list.toReversed()) await end();
    });
  }
  list.push(work);
}

/** The URL of a new database on the server that the run shares, which has the tables. */
async function databaseFor(t: TestContext, options?: { mayDeadlock?: boolean; migrated?: boolean }): Promise<string> {
  const { url, drop } = await newDatabase(undefined, { migrated: true, ...options });
  atEnd(t, drop);
  return url;
}

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-test-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A node on a database, with a data folder of its own, and its log. */
async function openNode(t: TestContext, url: string): Promise<Service & { lines: string[] }> {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  const settings = loadSettings({ PORT: "0", DATA_DIR: folderFor(t), DATABASE_URL: url, SECRETS_KEY: secretsKey, ...edgeOfItsOwn });
  const service = await openService(settings, { clock: systemClock, log });
  atEnd(t, () => service.close());
  return { ...service, lines };
}

async function shopOn({ administration, address, ready }: Service) {
  await ready;
  const { key } = await administration["accounts.create"]({ name: "A", plan: "business" });
  return (method: string, path: string, asked: Asked = {}, at = address) =>
    ask<Failure & { id: number }>(`${at}/v1${path}`, method, { key, ...asked });
}

test("a service whose database is not there yet listens, says unavailable, and takes requests when it comes", async (t) => {
  await server.stop();
  const node = await openNode(t, server.url);
  const status = async (path: string) => (await ask(node.address + path, "GET")).status;
  assert.deepEqual([await status("/healthz"), await status("/readyz")], [200, 503]);
  const reply = await ask<Failure>(`${node.address}/v1/pets`, "GET", { key: makeKey(false) });
  assert.deepEqual([reply.status, reply.body.code], [503, "unavailable"]);
  for (const name of [...limits, "retry-after"]) assert.ok(reply.headers.has(name), name);
  assert.match(node.lines[0] ?? "", /PostgreSQL at 127\.0\.0\.1:\d+\/postgres does not answer: .*ECONNREFUSED.*; trying again/);

  await server.start();
  await node.ready;
  await until(async () => (await status("/readyz")) === 200); // it asks the database, whose connections may still be opening
  const shop = await shopOn(node);
  assert.equal((await shop("GET", "/pets")).status, 200);
});

test("a database that is lost in the middle of a start does not end it", async (t) => {
  const url = await databaseFor(t);
  const release = await lockTable(url, "webhooks", "ACCESS EXCLUSIVE"); // the start reads it after the migrations
  const node = await openNode(t, url);
  await until(() => node.lines.some((line) => line.includes("trying again")));
  assert.equal((await ask(`${node.address}/readyz`, "GET")).status, 503);
  await release();
  await node.ready;
  const shop = await shopOn(node);
  assert.equal((await shop("GET", "/pets")).status, 200);
});

test("while the database is away requests get unavailable, and it is used again when it is back", async (t) => {
  const node = await openNode(t, server.url);
  const shop = await shopOn(node);
  assert.equal((await shop("POST", "/categories", { body: { name: "Dogs" } })).status, 201);
  await server.stop();
  const lost = await Promise.all([shop("GET", "/categories"), shop("POST", "/categories", { body: { name: "Cats" } })]);
  for (const { status, headers, body } of lost) {
    assert.deepEqual([status, body.code], [503, "unavailable"]);
    for (const name of [...limits, "retry-after"]) assert.ok(headers.has(name), name);
  }
  assert.equal((await ask(`${node.address}/readyz`, "GET")).status, 503);

  await server.start();
  const back = await shop("POST", "/categories", { body: { name: "Cats" } });
  assert.equal(back.status, 201, node.lines.at(-1) ?? "");
  assert.equal((await shop("GET", "/categories")).status, 200);
});

test("connections that the server ends are opened again, and no request meets an internal error", async (t) => {
  const url = await databaseFor(t);
  const node = await openNode(t, url);
  const shop = await shopOn(node);
  for (let round = 0; round < 5; round++) {
    const asked = Array.from({ length: 40 }, (_, i) =>
      i % 2 === 0 ? shop("GET", "/pets") : shop("POST", "/categories", { body: { name: `${round}-${i}` } }),
    );
    await administer(
      url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    for (const { status } of await Promise.all(asked)) assert.ok([200, 201, 503].includes(status), `${status}`);
  }
  assert.equal((await shop("GET", "/pets")).status, 200);
  assert.equal((await shop("POST", "/categories", { body: { name: "after" } })).status, 201);
  assert.match(node.lines.join(""), /a connection to the database broke/);
  for (const line of node.lines) assert.ok(!line.includes(decodeURIComponent(new URL(url).password)) && line.length < 5_000, line);
});

test("wrong credentials, and a database that does not exist, end the start with one line without the password", async (t) => {
  const url = await databaseFor(t);
  const wrong = new URL(url);
  wrong.password = "hush-hush";
  const absent = url.replace(/\/\w+$/, "/nowhere");
  await assert.rejects(openNode(t, wrong.href), (error) => {
    assert.ok(error instanceof AccessError);
    assert.match(error.message, /^PostgreSQL at \S+ refuses: password authentication failed for user "postgres"$/);
    return true;
  });
  await assert.rejects(openNode(t, absent), /refuses: database "nowhere" does not exist/);

  const started = spawnServer(t, temporaryFolder(t), { DATABASE_URL: wrong.href, SECRETS_KEY: secretsKey });
  assert.equal(await started.ended, 1);
  assert.match(started.err(), /^petstore: PostgreSQL at \S+ refuses: password authentication failed[^\n]*\n$/);
  assert.doesNotMatch(started.out() + started.err(), /hush/);
});

test("a URL names the folder of the server's socket, and a + in its parameters is a plus sign", async (t) => {
  const folder = folderFor(t);
  chmodSync(folder, 0o777);
  const own = await startPostgres(["fsync=off", `unix_socket_directories=${folder}`]);
  atEnd(t, () => own.remove());
  await administer(own.url, "CREATE ROLE shop SUPERUSER LOGIN PASSWORD 'hush+ %2F'");
  const urlWith = (password: string) => `postgres://shop@/postgres?host=${folder}&port=${new URL(own.url).port}&password=${password}`;
  const service = await startService({ env: { DATABASE_URL: urlWith("hush+ %252F"), SECRETS_KEY: secretsKey } });
  atEnd(t, () => service.close());
  assert.equal((await service.ask("POST", "/categories", { body: { name: "Dogs" } })).status, 201);
  const connections = await service.db.query<{ address: string | null; name: string }>(
    sql`SELECT client_addr AS address, usename AS name FROM pg_stat_activity WHERE application_name = 'petstore'`,
  );
  assert.ok(connections.length > 2 && connections.every(({ address, name }) => address === null && name === "shop"));
  const [line = ""] = await refusedStarts([
    { DATA_DIR: temporaryFolder(t), DATABASE_URL: urlWith("hush%2B+%252F"), SECRETS_KEY: secretsKey },
  ]);
  assert.match(line, /^petstore: PostgreSQL at \/\S+:\d+\/postgres refuses: password authentication failed for user "shop"\n$/);
});

test("a server that waits for its database stops when it is asked to", async (t) => {
  const port = await freePort();
  const started = spawnServer(t, temporaryFolder(t), { DATABASE_URL: `postgres://a:hush@127.0.0.1:${port}/shop`, SECRETS_KEY: secretsKey });
  await started.logged(({ msg }) => msg?.includes("trying again") ?? false);
  started.kill("SIGTERM");
  assert.equal(await started.ended, 0);
  assert.doesNotMatch(started.out() + started.err(), /hush/);
});

test("many nodes that start at once on an empty database migrate it once", async (t) => {
  const url = await databaseFor(t, { migrated: false });
  const nodes = Array.from({ length: 5 }, () => openPostgres(url, { onError: () => undefined }));
  const applied = await Promise.all(nodes.map((db) => migrate(db, 1)));
  await Promise.all(nodes.map((db) => db.close()));
  assert.deepEqual(
    applied.flat().toSorted(),
    migrationsFor("postgres")
      .map(({ name }) => name)
      .toSorted(),
  );
});

test("of requests with one Idempotency-Key on two nodes at once, one is run", async (t) => {
  const url = await databaseFor(t);
  const [one, two] = [await openNode(t, url), await openNode(t, url)];
  const shop = await shopOn(one);
  for (let round = 0; round < 20; round++) {
    const headers = { "idempotency-key": `round ${round}` };
    const sent = [one, two, one, two].map(({ address }) => shop("POST", "/store/orders", { headers, body: { quantity: 2 } }, address));
    const replies = await Promise.all(sent);
    const ids = new Set(replies.filter(({ status }) => status === 201).map(({ body }) => body.id));
    assert.equal(ids.size, 1);
    for (const { status, body } of replies) assert.ok(status === 201 || body.code === "idempotency_key_in_use", JSON.stringify(body));
  }
  const { body } = await shop("GET", "/store/orders?limit=100");
  assert.equal((body as unknown as unknown[]).length, 20);
});

test("a request waits for another node that holds its Idempotency-Key: a node that is gone costs a moment, one that goes on a 409", async (t) => {
  const url = await databaseFor(t);
  const shop = await shopOn(await openNode(t, url));
  const other = new pg.Client(url);
  await other.connect();
  atEnd(t, () => other.end());
  const order = (key: string) => shop("POST", "/store/orders", { headers: { "idempotency-key": key }, body: { quantity: 2 } });
  const hold = async (key: string): Promise<void> => {
    const name = `json_build_array(MIN(id), 'POST /v1/store/orders', '${key}')`;
    await other.query(`SELECT pg_advisory_lock(hashtextextended(replace(${name}::text, ', ', ','), 0)) FROM accounts`);
  };
  await hold("stays");
  assert.deepEqual([(await order("stays")).body.code], ["idempotency_key_in_use"]);
  await hold("goes");
  const asked = order("goes");
  await Promise.race([asked, pause(150)]);
  await other.query("SELECT pg_advisory_unlock_all()");
  assert.equal((await asked).status, 201);
});

test("a finished Idempotency-Key that 60 clients ask for at once on three nodes always returns its stored answer", async (t) => {
  const url = await databaseFor(t);
  const nodes = [await openNode(t, url), await openNode(t, url), await openNode(t, url)];
  const shop = await shopOn(nodes[0]!);
  const ask60 = (path: string, body: object, headers: Record<string, string>) =>
    Promise.all(Array.from({ length: 60 }, (_, i) => shop("POST", path, { headers, body }, nodes[i % nodes.length]?.address)));
  for (let round = 0; round < 5; round++) {
    for (const [path, body] of [
      ["/store/orders", { quantity: 2 }],
      ["/store/orders", { petId: 999_999 }],
    ] as const) {
      const headers = { "idempotency-key": `${JSON.stringify(body)} ${round}` };
      const first = await shop("POST", path, { headers, body });
      for (const { status, body: again, headers: said } of await ask60(path, body, headers)) {
        assert.deepEqual([status, again], [first.status, first.body]);
        assert.equal(said.get("idempotent-replayed"), "true");
      }
    }
  }
});

test("two transactions that deadlock both succeed", async (t) => {
  const url = await databaseFor(t, { mayDeadlock: true });
  const db = openPostgres(url, { onError: () => undefined });
  atEnd(t, () => db.close());
  await db.write((tx) =>
    tx.script("CREATE TABLE boxes (id BIGINT PRIMARY KEY, n BIGINT NOT NULL); INSERT INTO boxes VALUES (1, 0), (2, 0)"),
  );
  const met = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const both = (order: number[], mine: number) =>
    db.write(async (tx) => {
      for (const id of order) {
        await tx.query(sql`UPDATE boxes SET n = n + 1 WHERE id = ${id}`);
        met[mine]?.resolve();
        await Promise.all(met.map(({ promise }) => promise));
      }
    });
  await Promise.all([both([1, 2], 0), both([2, 1], 1)]);
  assert.deepEqual(
    (await db.query<{ n: number }>(sql`SELECT n FROM boxes ORDER BY id`)).map(({ n }) => n),
    [2, 2],
  );
});

test("while every connection waits for a lock, further writes are refused, and pass when the lock is gone", async (t) => {
  const url = await databaseFor(t);
  const shop = await shopOn(await openNode(t, url));
  const { body: category } = await shop("POST", "/categories", { body: { name: "Dogs" } });
  const blocker = new pg.Client(url);
  await blocker.connect();
  await blocker.query("BEGIN; SELECT 1 FROM categories FOR UPDATE");
  const rename = () => shop("PUT", `/categories/${category.id}`, { body: { name: "Hounds" } });
  for (const { status, headers, body } of await Promise.all(Array.from({ length: 30 }, rename))) {
    assert.deepEqual([status, body.code], [503, "unavailable"]);
    assert.ok(headers.has("retry-after"));
  }
  await blocker.query("ROLLBACK");
  await blocker.end();
  assert.equal((await rename()).status, 200);
});

test("while the database server does not answer requests get unavailable, and it is used again when it answers", async (t) => {
  const url = await databaseFor(t);
  const line = await openLine(url);
  atEnd(t, () => line.close());
  const shop = await shopOn(await openNode(t, line.url));
  assert.equal((await shop("GET", "/pets")).status, 200);
  line.cut();
  for (const { status } of await Promise.all([shop("GET", "/pets"), shop("POST", "/categories", { body: { name: "Dogs" } })]))
    assert.equal(status, 503);
  line.mend();
  assert.equal((await shop("GET", "/pets")).status, 200);
  assert.equal((await shop("POST", "/categories", { body: { name: "Cats" } })).status, 201);
});

test("reads and transactions keep working when a migration adds a column to a table", async (t) => {
  const { url, drop } = await newDatabase();
  const db = openPostgres(url, { onError: () => undefined });
  atEnd(t, async () => {
    await db.close();
    await drop();
  });
  await db.write((tx) => tx.script("CREATE TABLE boxes (id BIGINT PRIMARY KEY); INSERT INTO boxes VALUES (7)"));
  const all = () => db.query(sql`SELECT * FROM boxes`);
  const locked = () => db.write((tx) => tx.query(sql`SELECT * FROM boxes WHERE id = ${7} FOR UPDATE`));
  for (const read of [all, locked]) for (let i = 0; i < 3; i++) assert.deepEqual(await read(), [{ id: 7 }]);
  await administer(url, "ALTER TABLE boxes ADD COLUMN label TEXT");
  for (const read of [all, locked]) for (let i = 0; i < 3; i++) assert.deepEqual(await read(), [{ id: 7, label: null }]);
});
