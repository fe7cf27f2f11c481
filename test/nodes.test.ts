import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { openPostgresHeartbeat, type Heartbeat } from "../src/platform/db/postgres-heartbeat.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { type Change, type Node, openAnnouncer, openNode, openRowLeases } from "../src/platform/nodes/nodes.ts";
import { newSecretsKey } from "../src/platform/secrets.ts";
import { temporaryFolder } from "./support/folder.ts";
import { administer, newDatabase } from "./support/postgres.ts";
import { addressOf, keyIn, spawnServer } from "./support/process.ts";
import { ask, startService, type TestService } from "./support/service.ts";
import { until } from "./support/until.ts";

const start = Date.UTC(2026, 5, 15, 12);
const quiet = { info: () => undefined, warn: () => undefined };

/** Nodes on one PostgreSQL. Tests move their clock with `time.now`; each function in `pauses` runs in one pause while a change waits. */
async function openScene(t: TestContext) {
  const database = await newDatabase(undefined, { migrated: true });
  const time = { now: start };
  const now = () => sql`CAST(${time.now} AS BIGINT)`;
  const pauses: (() => Promise<void> | void)[] = [];
  const db = openPostgres(database.url, { onError: () => undefined });
  const open = new Set<Heartbeat>([db]);
  t.after(async () => {
    await Promise.all([...open].map((one) => one.close()));
    await database.drop();
  });
  const pause = async (ms: number) => {
    time.now += ms;
    await pauses.shift()?.();
  };
  const announcer = openAnnouncer(db, undefined, now, pause);
  const newNode = (id: string) => {
    const own = openPostgresHeartbeat(database.url, { onError: () => undefined });
    open.add(own);
    const forgotten: (Change | undefined)[] = [];
    const broken = { is: false };
    const applyChange = async (change: Change | undefined): Promise<void> => {
      if (broken.is) throw new Error("the change cannot be read");
      forgotten.push(change);
    };
    const node = openNode({ db: own, id, now, timer: () => time.now, log: quiet, applyChange });
    const loseDatabase = () => (open.delete(own), own.close());
    return Object.assign(node, { forgotten, broken, loseDatabase });
  };
  const revoke = (subject: number) => db.write((tx) => announcer.publish(tx, { kind: "key", subject: String(subject) }));
  const url = database.url;
  return { time, pauses, announcer, newNode, revoke, db, url };
}

const heartbeatAll = async (nodes: Node[]): Promise<void> => void (await Promise.all(nodes.map((node) => node.heartbeat())));

test("a change is acknowledged only when every live node has applied it", async (t) => {
  const { pauses, announcer, newNode, revoke } = await openScene(t);
  const nodes = ["a", "b", "c"].map(newNode);
  const [a, b, c] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
  await heartbeatAll(nodes);
  const change = await revoke(7);
  const steps: string[] = [];
  for (const [name, node] of Object.entries({ a, b, c })) pauses.push(async () => (await node.heartbeat(), void steps.push(name)));
  await announcer.waitForAck(change);
  assert.deepEqual(steps, ["a", "b", "c"]);
  for (const node of nodes) assert.deepEqual(node.forgotten.at(-1), { number: change, kind: "key", subject: "7" });
});

test("a node knows how many nodes are live, and stops counting one once its lease has ended", async (t) => {
  const { time, newNode } = await openScene(t);
  const nodes = ["a", "b", "c"].map(newNode);
  const [a, b, c] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
  assert.equal(a.liveNodes(), 1);
  await heartbeatAll(nodes);
  await heartbeatAll(nodes);
  const counts = () => nodes.map((node) => node.liveNodes());
  assert.deepEqual(counts(), [3, 3, 3]);
  await c.leave();
  await heartbeatAll([a, b]);
  assert.deepEqual([a.liveNodes(), b.liveNodes()], [2, 2]);
  time.now += 600;
  await a.heartbeat();
  time.now += 600;
  await a.heartbeat();
  assert.equal(a.liveNodes(), 1);
});

test("a node without heartbeats stops using its caches before the wait for its acknowledgement ends, within a second", async (t) => {
  const { time, announcer, newNode, revoke } = await openScene(t);
  const silent = newNode("silent");
  await silent.heartbeat();
  assert.ok(silent.isLive());
  await announcer.waitForAck(await revoke(7));
  assert.ok(!silent.isLive());
  assert.ok(time.now - start <= 1_000);
});

test("a node that cannot apply a change does not acknowledge it, and stops using its caches before the wait ends", async (t) => {
  const { time, pauses, announcer, newNode, revoke } = await openScene(t);
  const node = newNode("a");
  await node.heartbeat();
  const change = await revoke(7);
  node.broken.is = true;
  let waited = 0;
  for (let i = 0; i < 60; i++) pauses.push(async () => (await node.heartbeat(), void waited++));
  await announcer.waitForAck(change);
  assert.ok(waited > 0);
  assert.ok(!node.isLive());
  assert.ok(time.now - start <= 1_000);
  node.broken.is = false;
  await node.heartbeat();
  assert.deepEqual(node.forgotten.at(-1), undefined);
  assert.ok(node.isLive());
});

test("a node that loses the connection for heartbeats opens another one and keeps its lease", async (t) => {
  const { time, newNode, url } = await openScene(t);
  const node = newNode("a");
  await node.heartbeat();
  const leaseId = node.leaseId();
  await administer(
    url,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  time.now += 500;
  await node.heartbeat(); // may find that the connection is gone
  await node.heartbeat();
  time.now += 500;
  assert.ok(node.isLive());
  assert.equal(node.leaseId(), leaseId);
});

test("a node that lost its lease rebuilds its caches, and is live again", async (t) => {
  const { time, newNode, revoke, announcer } = await openScene(t);
  const node = newNode("a");
  await node.heartbeat();
  await announcer.waitForAck(await revoke(7));
  node.forgotten.length = 0;
  time.now += 5_000;
  await node.heartbeat();
  assert.deepEqual(node.forgotten, [undefined]);
  assert.ok(node.isLive());
});

test("rows that a node leased are free when its lease has ended, not before, and its next lease does not include them", async (t) => {
  const { time, db, newNode } = await openScene(t);
  const [one, other] = [newNode("one"), newNode("other")];
  await heartbeatAll([one, other]);
  const leases = openRowLeases(one, () => time.now);
  const { lease } = (await leases.begin(60_000))!;
  const isFree = async () => {
    const { isFree: free } = (await openRowLeases(other, () => time.now).begin(60_000))!;
    const rows = await db.query(sql`SELECT 1 WHERE ${free(sql`CAST(${lease.until} AS BIGINT)`, sql`CAST(${lease.leaseId} AS TEXT)`)}`);
    return rows.length > 0;
  };
  time.now += 800;
  assert.deepEqual([leases.isHeld(lease), await isFree()], [true, false]);
  time.now += 100;
  assert.deepEqual([leases.isHeld(lease), await isFree()], [false, false], "the node stops before others can lease the row");
  time.now += 100;
  assert.equal(await isFree(), true);
  await one.heartbeat();
  assert.ok(one.isLive());
  assert.deepEqual([leases.isHeld(lease), await isFree()], [false, true]);
});

test("rows leased by a node that hangs but still sends heartbeats are free when the row's lease ends", async (t) => {
  const { time, newNode } = await openScene(t);
  const node = newNode("a");
  const leases = openRowLeases(node, () => time.now);
  const { lease } = (await leases.begin(5_000))!;
  for (; time.now < lease.until; time.now += 500) {
    assert.ok(leases.isHeld(lease));
    await node.heartbeat();
  }
  assert.ok(node.isLive());
  assert.ok(!leases.isHeld(lease));
});

test("a lease renewed so late that other nodes may have seen it ended is lost", async (t) => {
  const { time, db, newNode } = await openScene(t);
  const node = newNode("a");
  await node.heartbeat();
  const leaseId = node.leaseId();
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const slow = db.write(async (tx) => {
    await tx.query(sql`SELECT 1 FROM nodes FOR UPDATE`);
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  time.now += 500;
  const heartbeat = node.heartbeat();
  const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await until(async () => (await db.query(waiting)).length > 0);
  time.now += 600;
  held.resolve();
  await Promise.all([slow, heartbeat]);
  assert.ok(!node.isLive());
  await node.heartbeat();
  assert.ok(node.isLive());
  assert.notEqual(node.leaseId(), leaseId);
});

test("a node whose database is away loses its lease and does not fail", async (t) => {
  const { time, newNode } = await openScene(t);
  const node = newNode("a");
  await node.heartbeat();
  await node.loseDatabase();
  time.now += 900;
  await node.heartbeat();
  assert.ok(!node.isLive());
});

test("changes made at once are numbered without gaps, and each node applies all of them", async (t) => {
  const { newNode, revoke, announcer, pauses } = await openScene(t);
  const nodes = ["a", "b", "c"].map(newNode);
  await heartbeatAll(nodes);
  const numbers = await Promise.all(Array.from({ length: 20 }, (_, i) => revoke(i)));
  assert.deepEqual(
    numbers.toSorted((x, y) => x - y),
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
  pauses.push(() => heartbeatAll(nodes));
  await announcer.waitForAck(20);
  for (const { forgotten } of nodes) {
    const subjects = forgotten.flatMap((change) => (change === undefined ? [] : [Number(change.subject)]));
    assert.deepEqual(
      subjects.toSorted((x, y) => x - y),
      Array.from({ length: 20 }, (_, i) => i),
    );
  }
});

test("no change waits for a node that has left", async (t) => {
  const { time, newNode, revoke, announcer } = await openScene(t);
  const node = newNode("a");
  await node.heartbeat();
  await node.leave();
  await announcer.waitForAck(await revoke(7));
  assert.equal(time.now, start);
});

test("on three nodes of one PostgreSQL a revoked key works on no node and a new plan holds on every node once the command has returned", async (t) => {
  const database = await newDatabase(undefined, { migrated: true });
  const services: TestService[] = [];
  for (let i = 0; i < 3; i++) services.push(await startService({ clock: () => start, env: { DATABASE_URL: database.url } }));
  t.after(async () => {
    await Promise.all(services.map((service) => service.close()));
    await database.drop();
  });
  const [first] = services as [TestService];
  const { id, key } = await first.newAccount("pro");
  const { id: keyId, key: other } = await first.administration["keys.create"]({ account: id });
  const everywhere = (which: string) => Promise.all(services.map(({ address }) => ask(`${address}/v1/pets`, "GET", { key: which })));
  for (const reply of [...(await everywhere(key)), ...(await everywhere(other))]) assert.equal(reply.status, 200);

  await first.administration["keys.revoke"]({ id: keyId });
  for (const reply of await everywhere(other)) assert.equal(reply.status, 401);
  const { key: manager } = await first.administration["keys.create"]({ account: id, scopes: ["catalogue:read", "keys:write"] });
  const { body: made } = await first.ask<{ id: number; key: string }>("POST", "/keys", { key: manager, body: {} });
  for (const reply of await everywhere(made.key)) assert.equal(reply.status, 200);
  assert.equal((await first.ask("DELETE", `/keys/${made.id}`, { key: manager })).status, 204);
  for (const reply of await everywhere(made.key)) assert.equal(reply.status, 401);
  await first.administration["accounts.setPlan"]({ id, plan: "business" });
  for (const reply of await everywhere(key)) assert.match(reply.headers.get("ratelimit-policy") ?? "", /q=1000;/);
});

test("nodes that start for the first time at the same moment create one first account together", async (t) => {
  const database = await newDatabase();
  t.after(() => database.drop());
  const parent = temporaryFolder(t);
  const env = { DATABASE_URL: database.url, SECRETS_KEY: newSecretsKey() };
  const nodes = ["a", "b", "c"].map((name) => spawnServer(t, join(parent, name), env));
  await Promise.all(nodes.map(addressOf));
  assert.equal(nodes.filter((node) => keyIn(node.out()) !== "").length, 1);
  for (const node of nodes) node.kill("SIGKILL");
  await Promise.all(nodes.map(({ ended }) => ended));
});
