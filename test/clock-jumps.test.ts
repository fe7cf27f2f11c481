import assert from "node:assert/strict";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { dayMs, systemClock } from "../src/platform/clock.ts";
import { type Faulty, openFaultyShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { jumpingClock } from "./support/jumping-clock.ts";
import { startPostgres } from "./support/postgres-process.ts";
import { flags, newDatabase } from "./support/postgres.ts";
import { createAccount } from "./support/process.ts";
import { secretsKey } from "./support/service.ts";
import { until } from "./support/until.ts";

type Order = { id: number };
const order = ({ send }: Faulty) => send<Order>("POST", "/store/orders", {}, { "idempotency-key": "once" });
const events = async ({ send }: Faulty) => (await send<unknown[]>("GET", "/events?limit=100")).body.length;

/** Lets the sweeps run some times. */
async function letSweep({ ready }: Faulty): Promise<void> {
  let probes = 0;
  await until(async () => (await ready(), ++probes > 20));
}

/** Two nodes on a PostgreSQL. */
async function openPair(t: TestContext, url: string, envs: Record<string, string>[]): Promise<[Faulty, Faulty]> {
  const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey };
  const folders = [1, 2].map((number) => join(temporaryFolder(t), `node-${number}`));
  const key = await createAccount(folders[0]!, env);
  const [one, other] = [0, 1].map((i) => () => openFaultyShop(t, folders[i]!, { key, env: { ...env, ...envs[i] } }));
  return [await one!(), await other!()];
}

/** The clock of `shop` jumps by 40 days and back, twice; with `all`, that of `other` and of PostgreSQL too. `other` sees what is left. */
async function jumpAbout(shop: Faulty, other: Faulty, { jump }: ReturnType<typeof jumpingClock>, all = false): Promise<void> {
  const jumping = all ? [shop, other] : [shop];
  const whose = all ? "the clock of PostgreSQL" : "the clock";
  for (let i = 0; i < 5; i++) assert.equal(await shop.add(), 201);
  const first = await order(shop);
  const recorded = 7; // those of five categories, the order and the account's key
  await until(async () => (await events(other)) === recorded);
  for (const [offset, said] of [
    ["+40d", "(jumped 40\\.0 days ahead|is 40\\.0 days ahead of that of the database)"],
    ["-40d", "(jumped (40|80)\\.0 days back|is 40\\.0 days behind that of the database)"],
  ] as const) {
    jump(offset);
    for (const node of jumping) {
      await until(async () => {
        const { body, headers } = await node.ready();
        const hasJumped = Math.abs(Date.parse(headers.get("date")!) - systemClock()) > 39 * dayMs;
        return hasJumped && new RegExp(`^${whose} ${said}: nothing is deleted`).test(body.warnings?.[0] ?? "");
      });
    }
    await letSweep(shop);
    for (const node of jumping) assert.deepEqual([(await node.ready()).status, await node.fault("clock")], [200, 1]);
    assert.deepEqual([await events(shop), await events(other)], [recorded, recorded]);
    assert.equal((await order(shop)).body.id, first.body.id);
    assert.equal((await order(other)).body.id, first.body.id);
  }
  assert.equal(await shop.add(), 201);
  jump("+0");
  for (const node of jumping) await until(async () => (await node.fault("clock")) === 0);
  await letSweep(shop);
  await until(async () => (await events(other)) === recorded + 1);
  const { body } = await shop.send<{ at: string }[]>("GET", "/events?limit=100");
  for (const { at } of body) assert.ok(Math.abs(Date.parse(at) - systemClock()) < dayMs, at);
}

suite("a clock that jumps by 40 days while the service runs", { concurrency: 2 }, () => {
  test("on the embedded database nothing is deleted or expires, and what is written has the right time; a start with that clock waits a day", async (t) => {
    const dataDir = join(temporaryFolder(t), "data");
    const clock = jumpingClock(t);
    const shop = await openFaultyShop(t, dataDir, { env: clock.env });
    await jumpAbout(shop, shop, clock);
    const recorded = await events(shop);
    await shop.stop();

    clock.jump("+40d");
    const next = await openFaultyShop(t, dataDir, { key: shop.key, env: clock.env });
    await until(async () => (await next.fault("clock")) === 1);
    await letSweep(next);
    assert.match((await next.ready()).body.warnings?.[0] ?? "", /^the clock is 40\.0 days ahead of the last write of the database: /);
    assert.equal(await events(next), recorded);
    await next.stop();

    // the sweeps of this test do delete: after a write of that time, they take the clock for right
    const written = new Date(systemClock() + 40 * dayMs);
    utimesSync(join(dataDir, "petstore.db"), written, written);
    const last = await openFaultyShop(t, dataDir, { key: shop.key, env: clock.env });
    await until(async () => (await events(last)) === 1);
    assert.notEqual((await order(last)).headers.get("idempotent-replayed"), "true");
  });

  test("of two nodes on PostgreSQL: neither deletes anything, the one says so, and both go on", async (t) => {
    const { url, drop } = await newDatabase();
    t.after(drop);
    const clock = jumpingClock(t);
    const { NODE_OPTIONS } = clock.env;
    const [one, other] = await openPair(t, url, [clock.env, { NODE_OPTIONS }]);
    await jumpAbout(one, other, clock);
    assert.equal(await other.fault("clock"), 0);
    await Promise.all([one.stop(), other.stop()]);
  });

  test("of two nodes on the machine of PostgreSQL, in containers: neither deletes anything, and both say so", async (t) => {
    const clock = jumpingClock(t);
    const { NODE_OPTIONS: _, ...env } = clock.env;
    // as in containers, the server has another address than its clients, which have 127.0.0.1
    const server = await startPostgres([...flags, "listen_addresses=127.0.0.2"], { env });
    t.after(() => server.remove());
    const url = server.url.replace("127.0.0.1", "127.0.0.2");
    const [one, other] = await openPair(t, url, [clock.env, clock.env]);
    await jumpAbout(one, other, clock, true);
    await Promise.all([one.stop(), other.stop()]);
  });
});
