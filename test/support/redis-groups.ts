import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Redis } from "iovalkey";
import { temporaryFolder } from "./folder.ts";
import { freePort } from "./ports.ts";
import type { Ending } from "./process.ts";
import { type RedisProcess, startRedis } from "./redis-process.ts";
import { until } from "./until.ts";

export const portOf = ({ url }: RedisProcess): number => Number(new URL(url).port);

async function started(t: Ending, settings: string[] = []): Promise<RedisProcess> {
  const redis = await startRedis({ settings: ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", ...settings] });
  t.after(() => redis.remove());
  return redis;
}

/** Asks a server one thing. */
export async function askRedis<T>({ url }: { url: string }, ask: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { retryStrategy: () => null });
  client.on("error", () => undefined);
  try {
    return await ask(client);
  } finally {
    client.disconnect();
  }
}

/** A master, a replica, and three sentinels that make the replica the master half a second after the master fell silent. */
export async function startSentinels(t: Ending) {
  const [master, replica] = await Promise.all([started(t), started(t)]);
  await askRedis(replica, (client) => client.replicaof("127.0.0.1", portOf(master)));
  await until(async () => (await askRedis(master, (client) => client.info("replication"))).includes("state=online"));
  const ports = await Promise.all([1, 2, 3].map(() => startSentinel(t, portOf(master))));
  for (const port of ports)
    await until(
      async () => (await sentinelOf(port)).includes("num-other-sentinels,2,") && (await sentinelOf(port)).includes("num-slaves,1,"),
    );
  return { master, replica, ports, url: `redis+sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(",")}/shop` };
}

/** What a sentinel knows of the master, as text. */
export async function sentinelOf(port: number): Promise<string> {
  return `${String(await askRedis({ url: `redis://127.0.0.1:${port}` }, (client) => client.call("SENTINEL", "MASTER", "shop")))},`;
}

async function startSentinel(t: Ending, masterPort: number): Promise<number> {
  const port = await freePort();
  const folder = temporaryFolder(t);
  const file = join(folder, "sentinel.conf");
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder}`,
    "sentinel resolve-hostnames no",
    `sentinel monitor shop 127.0.0.1 ${masterPort} 2`,
    "sentinel down-after-milliseconds shop 500",
    "sentinel failover-timeout shop 3000",
  ];
  writeFileSync(file, lines.join("\n"));
  const sentinel = spawn("redis-sentinel", [file], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(async () => {
    const ended = once(sentinel, "exit");
    sentinel.kill("SIGKILL");
    await ended;
  });
  for await (const text of sentinel.stdout.iterator({ destroyOnReturn: false })) if (String(text).includes("Sentinel ID")) break;
  sentinel.stdout.resume();
  return port;
}

/** A cluster of three masters with a replica each, which takes over about a second after its master fell silent. */
export async function startCluster(t: Ending) {
  // a master without slots must not become a replica: the other two could not elect a successor of a third
  const members = ["--cluster-enabled", "yes", "--cluster-allow-replica-migration", "no"];
  const settings = [...members, "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0"];
  const servers = await Promise.all(
    Array.from({ length: 6 }, async () => {
      // by default members talk at a port 10,000 higher, where another program may listen, or which may be too high
      return started(t, [...settings, "--cluster-port", String(await freePort())]);
    }),
  );
  const hosts = servers.map((server) => `127.0.0.1:${portOf(server)}`);
  await promisify(execFile)("redis-cli", ["--cluster", "create", ...hosts, "--cluster-replicas", "1", "--cluster-yes"]);
  await until(() => areComplete(servers));
  const roles = await Promise.all(servers.map(async (one) => ({ one, info: await askRedis(one, (client) => client.info("replication")) })));
  const masters = roles.filter(({ info }) => info.includes("role:master")).map(({ one }) => one);
  return { servers, masters, hosts, url: `redis+cluster://${hosts[0]},${hosts[1]}` };
}

const isComplete = (info: string): boolean => info.includes("cluster_state:ok") && info.includes("cluster_slots_ok:16384");

/** Whether each of these servers says that the cluster works, with all slots. */
export async function areComplete(servers: RedisProcess[]): Promise<boolean> {
  return (await Promise.all(servers.map((one) => askRedis(one, (client) => client.cluster("INFO"))))).every(isComplete);
}

/** The server that answers for a key as its master. */
export async function ownerOf(servers: RedisProcess[], key: string): Promise<RedisProcess | undefined> {
  for (const one of servers) {
    const isOwner = await askRedis(one, (client) => client.get(key).then(() => client.role())).then(
      ([role]) => role === "master",
      () => false,
    );
    if (isOwner) return one;
  }
  return undefined;
}

/** A slot to move, by one of its keys. `masters`: all of the cluster. */
type Move = { key: string; from: RedisProcess; to: RedisProcess; masters: RedisProcess[] };

/**
 * Moves a slot as `redis-cli --cluster reshard` does: key by key. `meanwhile` runs when some of the keys have moved. Returns when (ms) all keys had, and the
 * masters began to learn that the slot is another's.
 */
export async function moveSlot({ key, from, to, masters }: Move, meanwhile: () => Promise<void>): Promise<number> {
  const [source, target] = [new Redis(from.url), new Redis(to.url)];
  try {
    const [sourceId, targetId] = await Promise.all([source.cluster("MYID"), target.cluster("MYID")]);
    const slot = await source.cluster("KEYSLOT", key);
    await target.cluster("SETSLOT", slot, "IMPORTING", sourceId);
    await source.cluster("SETSLOT", slot, "MIGRATING", targetId);
    for (let moved = 0; ; moved++) {
      const [one] = await source.cluster("GETKEYSINSLOT", slot, 1);
      if (one === undefined) break;
      await source.migrate("127.0.0.1", portOf(to), one, 0, 5_000);
      if (moved === 2) await meanwhile();
    }
    const movedAt = Date.now();
    for (const one of [to, ...masters]) await askRedis(one, (client) => client.cluster("SETSLOT", slot, "NODE", targetId));
    return movedAt;
  } finally {
    source.disconnect();
    target.disconnect();
  }
}
