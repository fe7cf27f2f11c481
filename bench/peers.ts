import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePorts } from "../test/support/ports.ts";
import { measureAlternately, type Figure } from "./figures.ts";
import { requestsPerCpuSecond } from "./load.ts";
import { spawnServer, stop } from "./processes.ts";
import { fillWithAnimals, makeFolder, openShop } from "./shop.ts";

const version = "0.17.4";
/** Not in package.json or node_modules, because only a measurement needs it. */
const installed = fileURLToPath(new URL(`../.cache/bench/json-server-${version}`, import.meta.url));
const installMsMax = 300_000;
const rounds = 5;
const connections = 16;
const animals = 1_000;
const unit = "requests a second of CPU";

/** Compares reads, lists and new animals with json-server, which checks no key, counts no requests and keeps all data in memory. */
export async function* measurePeers(): AsyncGenerator<Figure> {
  installJsonServer();
  const folder = makeFolder();
  fillWithAnimals(folder, animals);
  const shop = await openShop(folder);
  const peer = await openJsonServer(folder.dataDir);
  const compare = (path: string, theirs: string, more: { script?: string; body?: string }) =>
    measureAlternately(
      rounds,
      () => requestsPerCpuSecond(shop.pid, { url: `${shop.url}${path}`, key: shop.key, connections, ...more }),
      () => requestsPerCpuSecond(peer.pid, { url: `${peer.url}${theirs}`, connections, ...more }),
    );
  const body = JSON.stringify({ name: "Rex", categoryId: 1, status: "available" });
  try {
    yield {
      id: "json-server-read",
      what: "`GET /pets/{id}` / json-server",
      ...(await compare("/pets/500", "/pets/500", {})),
      unit,
      goal: "≥ 3",
    };
    const lists = await compare("/pets?limit=20", "/pets?_limit=20", {});
    yield { id: "json-server-list", what: "`GET /pets?limit=20` / json-server", ...lists, unit, goal: "≥ 1.5" };
    yield {
      id: "json-server-create",
      what: "`POST /pets` / json-server",
      ...(await compare("/pets", "/pets", { body })),
      unit,
      goal: "≥ 10",
    };
  } finally {
    await peer.stop();
    await shop.stop();
    folder.remove();
  }
}

function installJsonServer(): void {
  if (existsSync(join(installed, "node_modules/json-server/package.json"))) return;
  mkdirSync(installed, { recursive: true });
  const args = ["install", "--prefix", installed, "--ignore-scripts", "--no-audit", "--no-fund", `json-server@${version}`];
  execFileSync("npm", args, { stdio: ["ignore", "ignore", "inherit"], timeout: installMsMax });
}

async function openJsonServer(dataDir: string): Promise<{ url: string; pid: number; stop(): Promise<void> }> {
  const [port] = await freePorts(1);
  const file = join(dataDir, "json-server.json");
  const pets = Array.from({ length: animals }, (_, i) => ({ id: i + 1, name: `Animal ${i + 1}`, categoryId: 1, status: "available" }));
  writeFileSync(file, JSON.stringify({ pets }));
  const program = join(installed, "node_modules/json-server/lib/cli/bin.js");
  const child = spawnServer([process.execPath, program, "--quiet", "--host", "127.0.0.1", "--port", String(port), file], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 200; tries++) {
    const isReady = await fetch(`${url}/pets/1`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return { url, pid: child.pid ?? 0, stop: () => stop(child) };
    await sleep(50);
  }
  await stop(child);
  throw new Error("json-server does not answer");
}
