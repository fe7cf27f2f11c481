import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { prefixesOf } from "../src/callers/limits/redis.generation.ts";
import { runCommand } from "./support/commands.ts";
import { runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import {
  newAccount,
  openOrderShop,
  requireExact,
  startOrders,
  type Asking,
  type LimitedAnswer,
  type OrderLoad,
} from "./support/order-load.ts";
import { newDatabase, readRows } from "./support/postgres.ts";
import { addressOf, spawnServer, type Ending } from "./support/process.ts";
import { areComplete, askRedis, moveSlot, ownerOf, portOf, startCluster } from "./support/redis-groups.ts";
import type { RedisProcess } from "./support/redis-process.ts";
import { ask, secretsKey, unlimited } from "./support/service.ts";
import { until, when, whenAtEarliest } from "./support/until.ts";

const ordersPerSecond = 100;
const rounds = runs(1, 10);
/** What an account may ask in a day. It asks for more, before, during and after a fault. */
const [dayQuota, dayPerSecond] = [360, 40];
/** What another account may ask in a minute: three quarters of what it asks. It has several keys, so that none of them is banned. */
const [minuteQuota, minutePerSecond, minuteKeys] = [900, 20, 3];
/** A request whose answer a fault took may have been counted. */
const lostMax = 18;
const refusalsMin = 10;
const prefixes = prefixesOf("cluster");

type Cluster = Awaited<ReturnType<typeof startCluster>>;
type Env = { DATABASE_URL: string; REDIS_URL: string; SECRETS_KEY: string; DATA_DIR: string };
type Scene = { cluster: Cluster; nodes: string[]; env: Env; load: OrderLoad };
/** `wholeAt`: when (ms) the cluster had all keys again, at the earliest. `mend` brings back what the fault took away. */
type Broken = { wholeAt: number; mend?: () => Promise<void> };
type Fault = (scene: Scene, key: string, asking: Asking) => Promise<Broken>;

/** Faults that hit the server of a key. Only `npm run test:faults` makes the last two. */
const faults: Record<string, Fault> = {
  "a master dies": killMaster,
  "a slot moves slowly": moveSlowly,
  "many slots move": moveMany,
  "slots are dealt out again": dealOut,
};
const faultsOfRound = Object.entries(faults).slice(0, rounds > 1 ? undefined : 2);

test("three nodes on a Redis Cluster lose no order and admit exactly the quota while masters die and slots move", async (t) => {
  const ends = new AsyncDisposableStack();
  t.after(() => ends.disposeAsync());
  const scene = await openScene({
    after: (end) => (ends.disposed ? t.after(end) : ends.defer(async () => void (await end?.(t, () => undefined)))),
  });
  const { cluster, env, load } = scene;
  const minutes = load.ask(await openKeys(env), minutePerSecond);
  const [calms, took]: [Calm[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    await needFullCoverage(cluster, round % 2 === 0);
    for (const [name, fault] of faultsOfRound) {
      const { calm, ms } = await admitExactly(scene, fault);
      t.diagnostic(`${name}: counted together again ${ms} ms after the cluster was whole`);
      requireSoon(ms);
      calms.push(calm);
      took.push(ms);
    }
  }
  const { acknowledged, wrong } = await load.stop({ gracefully: true });
  assert.deepEqual(wrong, []);
  requireMinutes(t, minutes, calms);
  t.diagnostic(`${acknowledged.length} orders acknowledged; ${took.length} faults, at most ${Math.max(...took)} ms`);
  await requireExact((text) => readRows(env.DATABASE_URL, text), acknowledged);
});

/** A cluster, three nodes that are processes, and orders. */
async function openScene(t: Ending): Promise<Scene> {
  const database = await newDatabase(undefined, { migrated: true });
  t.after(database.drop);
  const cluster = await startCluster(t);
  const folders = [temporaryFolder(t), temporaryFolder(t), temporaryFolder(t)];
  const env = { DATABASE_URL: database.url, REDIS_URL: cluster.url, SECRETS_KEY: secretsKey, DATA_DIR: folders[0]! };
  const nodes = await Promise.all(folders.map((folder) => addressOf(spawnServer(t, folder, { ...env, DATA_DIR: folder }))));
  await until(() => areShared(nodes));
  const entrances = nodes.map((url) => ({ name: url, url }));
  const load = startOrders(entrances, await openOrderShop(env, nodes[0]!), { ordersPerSecond });
  t.after(async () => void (await load.stop({ gracefully: false })));
  return { cluster, nodes, env, load };
}

/** Makes an account that is limited by the minute, and returns its keys. */
async function openKeys(env: Env): Promise<string[]> {
  const { id, key } = await newAccount(env, { perMinute: minuteQuota, perDay: unlimited.perDay });
  const keys = [key];
  while (keys.length < minuteKeys) {
    const made = await runCommand(["keys", "create", "--account", `${id}`, "--json"], env);
    keys.push((JSON.parse(made.out) as { key: string }).key);
  }
  return keys;
}

/** A time (ms) in which all nodes counted together. */
type Calm = { from: number; to: number };

/** Makes a fault while an account uses up its quota, and waits until all is whole again. Fails if more or less than the quota was admitted. */
async function admitExactly({ cluster, nodes, env, load }: Scene, fault: Fault): Promise<{ calm: Calm; ms: number }> {
  const { id, key } = await newAccount(env, { perMinute: unlimited.perMinute, perDay: dayQuota });
  const asking = load.ask([key], dayPerSecond);
  const { answers } = asking;
  await until(() => passesIn(answers) >= dayQuota / 4);
  const { wholeAt, mend } = await fault({ cluster, nodes, env, load }, `${prefixes[id % prefixes.length]}account:${id}`, asking);
  const from = await when(() => areShared(nodes));
  await until(() => answers.filter(({ isPass, sentAt }) => !isPass && sentAt > from).length >= refusalsMin);
  await asking.stop();
  const to = Date.now();
  const firstRefused = answers.findIndex(({ isPass }) => !isPass);
  const share = Math.floor((dayQuota - dayQuota / 4) / nodes.length);
  assert.ok(passesIn(answers.slice(0, firstRefused)) >= dayQuota / 4 + share - lostMax, "a node refused before it had used its share");
  const windows = [...passesByWindow(answers).values()];
  assert.ok(
    windows.every((passes) => passes <= dayQuota) && windows.at(-1)! >= dayQuota - lostMax,
    `${windows.join(" and ")} of ${dayQuota}`,
  );
  await mend?.();
  await until(() => isWhole(cluster));
  return { calm: { from, to }, ms: from - wholeAt };
}

const passesIn = (answers: LimitedAnswer[]): number => answers.filter(({ isPass }) => isPass).length;

function passesByWindow(answers: LimitedAnswer[]): Map<number, number> {
  const passes = new Map<number, number>();
  for (const { isPass, window } of answers) if (isPass) passes.set(window, (passes.get(window) ?? 0) + 1);
  return passes;
}

/** Fails if a minute admitted more than its quota, or if a request was refused, while all nodes counted together, in a minute that had admitted less. */
function requireMinutes(t: TestContext, { answers }: Asking, calms: Calm[]): void {
  const passes = passesByWindow(answers);
  const isCalm = ({ sentAt, at }: LimitedAnswer): boolean => calms.some(({ from, to }) => from < sentAt && at < to);
  const full = new Set(answers.filter((answer) => !answer.isPass && isCalm(answer)).map(({ window }) => window));
  const counts = [...passes].map(([window, count]) => `${count}${full.has(window) ? " (full)" : ""}`);
  t.diagnostic(`of ${minuteQuota} requests a minute were admitted: ${counts.join(", ")}`);
  for (const [window, count] of passes) {
    assert.ok(count <= minuteQuota, `${count} in a minute`);
    assert.ok(!full.has(window) || count >= minuteQuota - lostMax, `${count} in a minute that was full`);
  }
}

/** Only `npm run test:faults` measures. */
function requireSoon(ms: number): void {
  if (rounds > 1) assert.ok(ms <= 2_000, `${ms} ms`);
}

async function areShared(nodes: string[]): Promise<boolean> {
  const metrics = await Promise.all(nodes.map((node) => ask<string>(`${node}/metrics`, "GET")));
  return metrics.every(({ body }) => body.includes('petstore_limiter_mode{mode="shared"} 1'));
}

/** With full coverage all servers refuse commands while one slot has no server. */
async function needFullCoverage({ servers }: Cluster, isNeeded: boolean): Promise<void> {
  for (const one of servers)
    await askRedis(one, (client) => client.config("SET", "cluster-require-full-coverage", isNeeded ? "yes" : "no"));
}

/** Whether all servers agree about the slots, and each master has a replica that follows it. */
async function isWhole({ servers }: Cluster): Promise<boolean> {
  const agree = await manage("check", servers[0]!).then(
    () => true,
    () => false,
  );
  const roles = await Promise.all(servers.map((one) => askRedis(one, (client) => client.info("replication"))));
  const masters = roles.filter((role) => role.includes("role:master"));
  return agree && masters.length === servers.length / 2 && masters.every((role) => role.includes("state=online"));
}

async function killMaster({ cluster: { servers }, nodes }: Scene, key: string): Promise<Broken> {
  const master = (await ownerOf(servers, key))!;
  const left = servers.filter((one) => one !== master);
  await master.stop();
  await until(async () => !(await areShared(nodes)));
  const wholeAt = await whenAtEarliest(async () => (await areComplete(left)) && (await ownerOf(left, key)) !== undefined);
  return { wholeAt, mend: () => master.start() };
}

/** Moves the slot of the key, and pauses halfway until the nodes have decided requests alone. */
async function moveSlowly({ cluster: { servers }, nodes }: Scene, key: string, { answers }: Asking): Promise<Broken> {
  const masters = await mastersOf(servers);
  const from = (await ownerOf(masters, key))!;
  const to = masters.find((one) => one !== from)!;
  const wholeAt = await moveSlot({ key, from, to, masters }, async () => {
    await until(async () => !(await areShared(nodes)));
    const before = answers.length;
    await until(() => answers.length > before + dayPerSecond);
  });
  return { wholeAt };
}

/** Moves all slots of the key's server up to that of the key to the master that has the fewest. */
async function moveMany({ cluster: { servers } }: Scene, key: string): Promise<Broken> {
  const from = (await ownerOf(servers, key))!;
  const slot = await askRedis(from, (client) => client.cluster("KEYSLOT", key));
  const ranges = await askRedis(from, (client) => client.cluster("SLOTS"));
  const slotsOf = (one: RedisProcess, last = Infinity): number =>
    ranges
      .filter(([, , master]) => master?.[1] === portOf(one))
      .reduce((sum, [first, end]) => sum + Math.max(0, Math.min(end, last) - first + 1), 0);
  const others = (await mastersOf(servers)).filter((one) => one !== from);
  const to = others.toSorted((a, b) => slotsOf(a) - slotsOf(b))[0]!;
  const [fromId, toId] = await Promise.all([from, to].map((one) => askRedis(one, (client) => client.cluster("MYID"))));
  const slots = ["--cluster-from", fromId!, "--cluster-to", toId!, "--cluster-slots", `${slotsOf(from, slot)}`];
  await manage("reshard", from, ...slots, "--cluster-yes");
  return { wholeAt: Date.now() };
}

async function dealOut({ cluster: { servers } }: Scene): Promise<Broken> {
  await manage("rebalance", servers[0]!, "--cluster-use-empty-masters");
  return { wholeAt: Date.now() };
}

async function mastersOf(servers: RedisProcess[]): Promise<RedisProcess[]> {
  const roles = await Promise.all(servers.map((one) => askRedis(one, (client) => client.role())));
  return servers.filter((_one, at) => roles[at]![0] === "master");
}

/** Runs a command of `redis-cli --cluster`. It prints a line for each slot. */
async function manage(command: string, { url }: RedisProcess, ...words: string[]): Promise<void> {
  await promisify(execFile)("redis-cli", ["--cluster", command, new URL(url).host, ...words], { maxBuffer: 2 ** 24 });
}
