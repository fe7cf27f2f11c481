import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ofPairs, type Figure } from "./figures.ts";
import { fillWithAnimals, makeFolder, openShop, type Shop } from "./shop.ts";

const entry = join(import.meta.dirname, "..", "bin", "petstore.mjs");
const animals = 1_000_000;
const ordersPerSecond = 100;
const rounds = 3;
/** The number of pets that orders are for; they have stock. */
const ordered = 1_000;

/** Compares the duration of a large shop's backup under orders and idle, and the latency of orders during a backup and without one. */
export async function* measureBackup(): AsyncGenerator<Figure> {
  const folder = makeFolder();
  fillWithAnimals(folder, animals);
  const shop = await openShop(folder);
  try {
    const idle: number[] = [];
    const loaded: number[] = [];
    const calm: number[] = [];
    const disturbed: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const idleSeconds = await backUp(folder.dataDir);
      const alone = await latenciesDuring(shop, () => sleep(Math.max(10_000, idleSeconds * 1_000)));
      let seconds = 0;
      const beside = await latenciesDuring(shop, async () => void (seconds = await backUp(folder.dataDir)));
      if (round === 0) continue;
      idle.push(idleSeconds);
      loaded.push(seconds);
      calm.push(alone);
      disturbed.push(beside);
    }
    const pairs = (ours: number[], against: number[]) => ofPairs(ours.map((value, at) => [value, against[at]!]));
    const of = `${animals.toLocaleString("en")} animals`;
    yield* [
      {
        id: "backup-loaded",
        what: `backup of ${of} under ${ordersPerSecond} orders a second / idle`,
        ...pairs(loaded, idle),
        unit: "s",
        goal: "≤ 3",
      },
      {
        id: "backup-orders-p99",
        what: `p99 of ${ordersPerSecond} orders a second during a backup of ${of} / without`,
        ...pairs(disturbed, calm),
        unit: "ms",
        goal: "≤ 2",
      },
    ];
  } finally {
    await shop.stop();
    folder.remove();
  }
}

/** Makes a backup with the `petstore backup` command, and returns how long it takes (s). */
async function backUp(dataDir: string): Promise<number> {
  const file = join(dataDir, "..", `petstore-bench-${process.pid}.backup`);
  const begun = performance.now();
  const child = spawn(process.execPath, [entry, "backup", file], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  const seconds = (performance.now() - begun) / 1_000;
  rmSync(file, { force: true });
  if (code !== 0) throw new Error("the backup failed");
  return seconds;
}

/** The 99th percentile (ms) of orders that are sent at a steady rate while something else runs. */
async function latenciesDuring(shop: Shop, work: () => Promise<void>): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const latencies: number[] = [];
  const sent: Promise<void>[] = [];
  const over = new AbortController();
  const begun = performance.now();
  const sending = (async () => {
    for (let number = 0; !over.signal.aborted; number++) {
      const dueAt = begun + (number * 1_000) / ordersPerSecond;
      await sleep(Math.max(0, dueAt - performance.now()));
      sent.push(order(shop, agent, (number % ordered) + 1).then(() => void latencies.push(performance.now() - dueAt)));
    }
  })();
  await work();
  over.abort();
  await sending;
  await Promise.all(sent);
  agent.destroy();
  const sorted = latencies.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)]!;
}

function order({ url, key }: Shop, agent: Agent, petId: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sending = request(`${url}/store/orders`, { method: "POST", agent, headers }, (response) => {
      response
        .resume()
        .on("end", () => (response.statusCode === 201 ? resolve() : reject(new Error(`an order got ${response.statusCode}`))));
    });
    sending.on("error", reject).end(JSON.stringify({ petId, quantity: 1 }));
  });
}
