import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../test/support/ports.ts";
import { anonymousMiBOf, cpuMsOf } from "./cpu.ts";
import { publish } from "./custom-domains.ts";
import { atMost, type Figure } from "./figures.ts";
import { requestsPerCpuSecond } from "./load.ts";
import { stop } from "./processes.ts";
import { createAccount, fillWithAnimals, makeFolder, openShop, type Shop, type ShopFolder } from "./shop.ts";

const root = join(import.meta.dirname, "..");
const rounds = 5;
const animals = 100_000;
const connections = 64;
const settleMs = 30_000;
/** Loads of three seconds: a minute. */
const loads = 20;
const installMsMax = 15 * 60_000;
const pollMs = 20;

const startMs = 600;
const idleMiB = 70;
const loadedMiB = 170;
const diskMiB = 300;

/** Measures a service with 100,000 animals: the CPU of a restart, the memory of all its processes, and the disk of a clean installation. */
export async function* measureLight(): AsyncGenerator<Figure> {
  const folder = makeFolder();
  try {
    fillWithAnimals(folder, animals);
    const serve = await startsOf(folder, [process.execPath, "bin/petstore.mjs", "serve"]);
    yield atMost("light-start", "restart of `petstore serve` until the first 200, CPU", serve, startMs, "ms");
    const npm = await startsOf(folder, ["npm", "start"]);
    yield atMost("light-npm-start", "the same by `npm start`, with npm's own processes", npm, startMs, "ms");
    yield* await measureMemory(folder);
    yield atMost("light-disk", "a clean clone after `npm start`, on disk", await diskAfterStart(), diskMiB, "MiB");
  } finally {
    folder.remove();
  }
}

/** CPU ms of each restart by a command, in all processes that it starts. The first start only fills the compile cache. */
async function startsOf(folder: ShopFolder, command: string[]): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const ms = await start(folder, command, root, (pid) => cpuMsOf(pid));
    if (round > 0) found.push(ms);
  }
  return found;
}

/** Starts a service, measures its process once it has answered a request with the key, and stops it. */
async function start<T>({ dataDir, key }: ShopFolder, [program = "", ...args]: string[], cwd: string, measure: (pid: number) => T) {
  const [port] = await freePorts(1);
  const env = { ...process.env, DATA_DIR: dataDir, PORT: String(port), EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" };
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit").then(() => Promise.reject(new Error("the service did not start")));
  try {
    await Promise.race([firstAnswer(`http://127.0.0.1:${port}/v1/pets`, key), ended]);
    return measure(child.pid ?? 0);
  } finally {
    ended.catch(() => undefined);
    await stop(child);
  }
}

async function firstAnswer(url: string, key: string): Promise<void> {
  for (const until = Date.now() + installMsMax; Date.now() < until; await sleep(pollMs)) {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
  }
  throw new Error(`${url} does not answer`);
}

async function measureMemory(folder: ShopFolder): Promise<Figure[]> {
  const [edgePort] = await freePorts(1);
  const shop = await openShop(folder, { EDGE_HTTP_PORT: String(edgePort) });
  try {
    await sleep(settleMs);
    const idle = anonymousMiBOf(shop.pid);
    await publish(shop);
    const { key: refused } = createAccount(shop.dataDir, { perDay: 1 });
    await shop.ask("GET", "/pets", undefined, refused);
    for (let load = 0; load < loads; load++) await sendMixed(shop, `http://127.0.0.1:${edgePort}/`, refused);
    const loaded = anonymousMiBOf(shop.pid);
    return [
      atMost("light-idle", `anonymous memory of all processes, ${settleMs / 1_000} s after the start`, idle, idleMiB, "MiB"),
      atMost(
        "light-loaded",
        "the same after 60 s of reads, lists, orders, batches, pages and 429s at saturation",
        loaded,
        loadedMiB,
        "MiB",
      ),
    ];
  } finally {
    await shop.stop();
  }
}

async function sendMixed({ url, key, pid }: Pick<Shop, "url" | "key" | "pid">, site: string, refused: string): Promise<void> {
  await Promise.all([
    requestsPerCpuSecond(pid, { url, key, connections, script: mixed }),
    requestsPerCpuSecond(pid, { url: `${url}/pets/1`, key: refused, isRefused: true, connections: 8 }),
    requestsPerCpuSecond(pid, { url: site, host: "bench.petstore.localhost", connections: 8 }),
  ]);
}

/** For wrk: of 100 requests 50 reads, 20 pages of lists, 20 orders, 9 searches and a batch of 100 animals. */
const mixed = `
  local key = wrk.headers["Authorization"]
  local written = { ["Authorization"] = key, ["Content-Type"] = "application/json" }
  local pets = {}
  for i = 1, 100 do pets[i] = '{"name":"New ' .. i .. '","categoryId":1}' end
  local batch = "[" .. table.concat(pets, ",") .. "]"
  request = function()
    local kind = math.random(100)
    local id = math.random(${animals})
    if kind <= 50 then return wrk.format(nil, "/v1/pets/" .. id) end
    if kind <= 70 then return wrk.format(nil, "/v1/pets?limit=20&sort=" .. (id % 2 == 0 and "name" or "-id")) end
    if kind <= 90 then return wrk.format("POST", "/v1/store/orders", written, '{"petId":' .. id .. ',"quantity":1}') end
    if kind <= 99 then return wrk.format(nil, "/v1/pets?q=Animal%20" .. id) end
    return wrk.format("POST", "/v1/pets/batch", written, batch)
  end`;

/** MiB of a clean clone of this commit after its first \`npm start\`, which installs and builds. */
async function diskAfterStart(): Promise<number> {
  const clone = mkdtempSync(join(tmpdir(), "petstore-clone-"));
  const folder = makeFolder();
  try {
    execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, clone]);
    return await start(folder, ["npm", "start"], clone, () => {
      const [kib] = execFileSync("du", ["--summarize", "--block-size=1K", clone], { encoding: "utf8" }).split("\t");
      return Number(kib) / 1_024;
    });
  } finally {
    folder.remove();
    rmSync(clone, { recursive: true });
  }
}
